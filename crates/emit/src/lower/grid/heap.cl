/* Memory behind the variables of the image, in blocks: two words that tell how long a block is and which
   free one comes after it, then what is handed out. */
#define __ferry_heap_lock ((volatile __global int *)(__ferry_vars + __ferry_o___ferry_heap))
#define __ferry_block(at) ((__ferry_far unsigned long *)__ferry_flat(at))
#define __ferry_heap_try() __ferry_took(__ferry_heap_lock)
#define __ferry_heap_give() __ferry_gave(__ferry_heap_lock)
static __ferry_far void *__ferry_heap_malloc(__ferry_of_thread __ferry_size size)
{
  if (size > __FERRY_HEAP)
    return 0;
  const unsigned long bytes = (size + 31) / 16 * 16;
  unsigned long found = 0;
  for (int done = 0; !done; )
    if (__ferry_heap_try()) {
      __ferry_far unsigned long *link = &__ferry_heap[2];
      while (*link != 0 && __ferry_block(*link)[0] < bytes)
        link = &__ferry_block(*link)[1];
      if (*link != 0) {
        found = *link;
        *link = __ferry_block(found)[1];
      } else if (bytes <= __FERRY_HEAP - __ferry_heap[1]) {
        found = __ferry_vars + __ferry_e___ferry_heap + __ferry_heap[1];
        __ferry_block(found)[0] = bytes;
        __ferry_heap[1] += bytes;
      }
      __ferry_heap_give();
      done = 1;
    }
  return found == 0 ? (__ferry_far void *)0 : __ferry_flat(found + 16);
}
static void __ferry_heap_free(__ferry_of_thread __ferry_far void *memory)
{
  if (memory == 0)
    return;
  __ferry_far unsigned long *block = (__ferry_far unsigned long *)memory - 2;
  for (int done = 0; !done; )
    if (__ferry_heap_try()) {
      block[1] = __ferry_heap[2];
      __ferry_heap[2] = (unsigned long)block;
      __ferry_heap_give();
      done = 1;
    }
}
static __ferry_far void *__ferry_heap_calloc(__ferry_of_thread __ferry_size count, __ferry_size size)
{
  if (size != 0 && count > __FERRY_HEAP / size)
    return 0;
  __ferry_far void *memory = __ferry_c_malloc(count * size);
  return memory == 0 ? memory : __ferry_c_memset(memory, 0, count * size);
}
static __ferry_far void *__ferry_heap_room(__ferry_of_thread unsigned long align, __ferry_size size)
{
  align = align < 16 ? 16 : align;
  __ferry_far char *all = size == 0 || size + align < size ? (__ferry_far char *)0 : (__ferry_far char *)__ferry_c_malloc(size + align);
  if (all == 0)
    return 0;
  __ferry_far char *at = all + (align - (unsigned long)all % align);
  ((__ferry_far char *__ferry_far *)at)[-1] = all;
  return at;
}
static __ferry_far void *__ferry_heap_cleared(__ferry_of_thread unsigned long align, __ferry_size count, __ferry_size size)
{
  if (size != 0 && count > ~0ul / size)
    return 0;
  __ferry_far void *memory = __ferry_room(align, count * size);
  return memory == 0 ? memory : __ferry_c_memset(memory, 0, count * size);
}
static void __ferry_heap_leave(__ferry_of_thread __ferry_far void *memory)
{
  if (memory != 0)
    __ferry_c_free(((__ferry_far char *__ferry_far *)memory)[-1]);
}
