/* Copies. Where both addresses have the same place within a word, words are moved. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  char *t = to;
  const char *f = from;
  if ((((u32)(u64)t ^ (u32)(u64)f) & 3) == 0) {
    for (; bytes && ((u32)(u64)t & 3); bytes--) *t++ = *f++;
    for (; bytes >= 4; bytes -= 4, t += 4, f += 4) *(u32 __attribute__((may_alias)) *)t = *(const u32 __attribute__((may_alias)) *)f;
  }
  for (; bytes; bytes--) *t++ = *f++;
  return to;
}
void *memmove(void *to, const void *from, size_t bytes) {
  char *t = to;
  const char *f = from;
  if ((u64)t - (u64)f >= bytes) return memcpy(to, from, bytes);
  for (; bytes; bytes--) t[bytes - 1] = f[bytes - 1];
  return to;
}
void *memset(void *to, int byte, size_t bytes) {
  char *t = to;
  u32 word = (u32)(unsigned char)byte * 0x01010101u;
  for (; bytes && ((u32)(u64)t & 3); bytes--) *t++ = (char)byte;
  for (; bytes >= 4; bytes -= 4, t += 4) *(u32 __attribute__((may_alias)) *)t = word;
  for (; bytes; bytes--) *t++ = (char)byte;
  return to;
}

/* The scratchpad as a heap: blocks in the order of their addresses, the first that fits. */
typedef struct Block {
  u32 bytes; /* without this head */
  u32 is_used;
} Block;
extern char __heap_begin[], __heap_end[];
static int heap_lock;
static u32 heap_is_ready;
#define AT(address) ((Block __device *)(u64)(address))

static u32 heap_take(u32 bytes) {
  u32 begin = low(__heap_begin), end = low(__heap_end);
  bytes = (bytes + 7) & ~7u;
  if (!bytes) bytes = 8;
  acquire(&heap_lock);
  if (!heap_is_ready) {
    AT(begin)->bytes = end - begin - 8;
    AT(begin)->is_used = 0;
    heap_is_ready = 1;
  }
  u32 found = 0;
  for (u32 at = begin; at < end && !found; at += 8 + AT(at)->bytes) {
    if (AT(at)->is_used) continue;
    while (at + 8 + AT(at)->bytes < end && !AT(at + 8 + AT(at)->bytes)->is_used)
      AT(at)->bytes += 8 + AT(at + 8 + AT(at)->bytes)->bytes;
    u32 room = AT(at)->bytes;
    if (room < bytes) continue;
    if (room - bytes >= 16) {
      AT(at + 8 + bytes)->bytes = room - bytes - 8;
      AT(at + 8 + bytes)->is_used = 0;
      AT(at)->bytes = bytes;
    }
    AT(at)->is_used = 1;
    found = at + 8;
  }
  release(&heap_lock);
  return found;
}

/* NULL if the scratchpad has no such room. */
DEVICE void *ferry_l1_malloc(size_t bytes) {
  if (bytes > 1u << 30) return NULL;
  return (void *)(u64)heap_take((u32)bytes);
}
static void ferry_crash(const char *why);
void ferry_l1_free(void *memory) {
  u64 it = (u64)memory;
  u32 begin = low(__heap_begin), end = low(__heap_end);
  if (!it) return;
  if (it >> 32 || (u32)it < begin + 8 || (u32)it >= end) ferry_crash("ferry_l1_free of what is not in the scratchpad");
  acquire(&heap_lock);
  Block __device *block = AT((u32)it - 8);
  if (!block->is_used) ferry_crash("ferry_l1_free of what is free");
  block->is_used = 0;
  release(&heap_lock);
}

/* The engine that copies. */
u32 ferry_dma(void *to, const void *from, size_t bytes) {
  if (!bytes) return 0;
  if ((u64)bytes >> 32) ferry_crash("ferry_dma of 4 GiB or more");
  DMA_FROM = (u32)(u64)from;
  DMA_FROM_HIGH = (u32)((u64)from >> 32);
  DMA_TO = (u32)(u64)to;
  DMA_TO_HIGH = (u32)((u64)to >> 32);
  DMA_BYTES = (u32)bytes;
  return DMA_START;
}
u32 ferry_dma_2d(void *to, const void *from, size_t bytes, size_t rows, size_t to_step, size_t from_step) {
  if (!bytes || !rows) return 0;
  if ((u64)(rows | to_step | from_step) >> 32) ferry_crash("ferry_dma_2d of 4 GiB or more");
  DMA_FROM_STEP = (u32)from_step;
  DMA_TO_STEP = (u32)to_step;
  DMA_ROWS = (u32)rows;
  return ferry_dma(to, from, bytes);
}
void ferry_dma_wait(u32 transfer) {
  if (!transfer) return;
  DMA_CHOSEN = transfer;
  (void)DMA_WAIT;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
