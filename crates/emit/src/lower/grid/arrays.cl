/* Memory for an array whose length is computed: what it had, if that is enough. */
static __ferry_far void *__ferry_heap_array(__ferry_of_thread __ferry_far void *had, unsigned long bytes_had,
                                            unsigned long align, unsigned long bytes)
{
  if (had != 0 && bytes <= bytes_had)
    return had;
  if (!__ferry_failed()) {
    __ferry_leave(had);
    __ferry_far void *memory = __ferry_room(align, bytes == 0 ? 1 : bytes);
    if (memory != 0)
      return memory;
    __ferry_fail(3ul);
  }
  /* The program ends when the kernel is done: until then any memory will do that is large enough. */
  return bytes <= __FERRY_HEAP ? __ferry_flat(__ferry_vars + __ferry_e___ferry_heap) : (__ferry_far void *)0;
}
