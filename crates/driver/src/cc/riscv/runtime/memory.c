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

/* Copies. From FOR_ENGINE bytes on the engine does them, if it reaches all addresses; below that, where both addresses have the same
 * place within a word, words are moved. */
#define FOR_ENGINE 64
#define AT_ONCE (1u << 30)

static void *by_words(char *to, const char *from, size_t bytes) {
  char *t = to;
  if ((((u32)(u64)t ^ (u32)(u64)from) & 3) == 0) {
    for (; bytes && ((u32)(u64)t & 3); bytes--) *t++ = *from++;
    for (; bytes >= 4; bytes -= 4, t += 4, from += 4)
      *(u32 __attribute__((may_alias)) *)t = *(const u32 __attribute__((may_alias)) *)from;
  }
  for (; bytes; bytes--) *t++ = *from++;
  return to;
}
/* Lower addresses first: right where `to` lies before what it overlaps. */
static void by_engine(char *to, const char *from, size_t bytes) {
  for (size_t done = 0, part; done < bytes; done += part) {
    part = bytes - done < AT_ONCE ? bytes - done : AT_ONCE;
    ferry_dma_wait(ferry_dma(to + done, from + done, part));
  }
}
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  if (DMA_BITS < 64 || bytes < FOR_ENGINE) return by_words(to, from, bytes);
  by_engine(to, from, bytes);
  return to;
}
void *memmove(void *to, const void *from, size_t bytes) {
  char *t = to;
  const char *f = from;
  u64 apart = (u64)t - (u64)f;
  if (apart >= bytes) return memcpy(to, from, bytes);
  /* It begins inside of what it overwrites: the last bytes go first. */
  if (DMA_BITS < 64 || bytes < FOR_ENGINE) {
    for (; bytes; bytes--) t[bytes - 1] = f[bytes - 1];
    return to;
  }
  char room[256];
  for (size_t part, most = apart > sizeof room ? apart : sizeof room; bytes; bytes -= part) {
    part = bytes < most ? bytes : most;
    char *last = t + bytes - part;
    const char *first = f + bytes - part;
    if (apart > sizeof room) {
      by_engine(last, first, part);
    } else {
      by_engine(room, first, part);
      by_engine(last, room, part);
    }
  }
  return to;
}
void *memset(void *to, int byte, size_t bytes) {
  char *t = to;
  u32 word = (u32)(unsigned char)byte * 0x01010101u;
  if (DMA_BITS >= 64 && bytes >= 4 * FOR_ENGINE) {
    /* One row, again and again. */
    u32 row[FOR_ENGINE];
    for (u32 i = 0; i < FOR_ENGINE; i++) row[i] = word;
    for (size_t left = bytes, part; left; left -= part, t += part) {
      part = left < sizeof row ? left : left < AT_ONCE ? left / sizeof row * sizeof row : AT_ONCE;
      u32 rows = (u32)(part / sizeof row);
      ferry_dma_wait(rows ? ferry_dma_2d(t, row, sizeof row, rows, sizeof row, 0) : ferry_dma(t, row, part));
    }
    return to;
  }
  for (; bytes && ((u32)(u64)t & 3); bytes--) *t++ = (char)byte;
  for (; bytes >= 4; bytes -= 4, t += 4) *(u32 __attribute__((may_alias)) *)t = word;
  for (; bytes; bytes--) *t++ = (char)byte;
  return to;
}
