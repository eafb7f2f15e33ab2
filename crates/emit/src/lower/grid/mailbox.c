/* Regions that go back to the host: put into a page that both sides see, one at a time. The host answers with what it
   wants of the memory that this thread sees, and at last that it is done. */
#if defined(__CUDACC_RTC__) || defined(__CUDA_ARCH__) || defined(__HIP__)
#define __ferry_mail ((volatile unsigned long *)__ferry_mailbox)
#define __ferry_mail_far
#define __ferry_flat(at) ((void *)(at))
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define __ferry_mail_rest() __nanosleep(200)
#else
#define __ferry_mail_rest()
#endif
__ferry_fn int __ferry_mail_try(void)
{
  if (atomicCAS((unsigned int *)(__ferry_mailbox + 8), 0u, 1u) != 0)
    return 0;
  __threadfence();
  return 1;
}
__ferry_fn void __ferry_mail_give(void)
{
  __threadfence();
  atomicExch((unsigned int *)(__ferry_mailbox + 8), 0u);
}
__ferry_fn void __ferry_mail_pass(void)
{
  __threadfence_system();
  *(volatile unsigned int *)__ferry_mailbox = 1u;
  while (*(volatile unsigned int *)__ferry_mailbox != 0)
    __ferry_mail_rest();
  __threadfence_system();
}
__ferry_fn unsigned long __ferry_bits(float x) { return __float_as_uint(x); }
__ferry_fn unsigned long __ferry_bits(double x) { return __double_as_longlong(x); }
#else
#define __ferry_mail ((volatile __global unsigned long *)__ferry_mailbox)
#define __ferry_mail_far __global
#define __ferry_mail_try() __ferry_took((volatile __global int *)(__ferry_mailbox + 8))
#define __ferry_mail_give() __ferry_gave((volatile __global int *)(__ferry_mailbox + 8))
static void __ferry_mail_pass(void)
{
#ifdef __FERRY_ONE_MEMORY
  volatile __global int *turn = (volatile __global int *)__ferry_mailbox;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(turn, 1);
  while (atomic_or(turn, 0) != 0)
    ;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#else
  volatile __global atomic_int *turn = (volatile __global atomic_int *)__ferry_mailbox;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_all_svm_devices);
  atomic_store_explicit(turn, 1, memory_order_release, memory_scope_all_svm_devices);
  while (atomic_load_explicit(turn, memory_order_acquire, memory_scope_all_svm_devices) != 0)
    ;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_all_svm_devices);
#endif
}
static __attribute__((overloadable)) unsigned long __ferry_bits(float x) { return as_uint(x); }
static __attribute__((overloadable)) unsigned long __ferry_bits(double x) { return as_ulong(x); }
#endif
#define __ferry_low(a, b) ((unsigned long)(a) < (unsigned long)(b) ? (unsigned long)(a) : (unsigned long)(b))
#define __ferry_high(a, b) ((unsigned long)(a) > (unsigned long)(b) ? (unsigned long)(a) : (unsigned long)(b))
#define __ferry_bytes(n, each) ((__ferry_i64)(n) * (__ferry_i64)(each))
#define __ferry_extent(n, each) ((__ferry_i64)(n) > 0 ? __ferry_bytes(n, each) : 0)
#define __ferry_member(of) ((__ferry_i64)((unsigned long)((of) < __FERRY_MOST_PARENT ? (of) : __FERRY_MOST_PARENT) << __FERRY_PARENT_SHIFT))
#define __ferry_storage(asked) ((asked) & ~__FERRY_SPOKEN)
#define __ferry_decay(own, asked) \
  (((own) & ~__FERRY_COPIES) | ((own) & (asked) & __FERRY_COPIES) | ((asked) & __FERRY_KEPT))
/* Between the page and what this thread sees at an address, in words where both are at multiples of eight. */
__ferry_fn void __ferry_mail_read(unsigned long at, unsigned long size)
{
  const unsigned long whole = at % 8 == 0 ? size / 8 : 0;
  for (unsigned long i = 0; i < whole; i++)
    __ferry_mail[8 + i] = ((unsigned long *)__ferry_flat(at))[i];
  for (unsigned long i = 8 * whole; i < size; i++)
    ((volatile __ferry_mail_far unsigned char *)(__ferry_mail + 8))[i] = ((unsigned char *)__ferry_flat(at))[i];
}
__ferry_fn void __ferry_mail_write(unsigned long at, unsigned long size)
{
  const unsigned long whole = at % 8 == 0 ? size / 8 : 0;
  for (unsigned long i = 0; i < whole; i++)
    ((unsigned long *)__ferry_flat(at))[i] = __ferry_mail[8 + i];
  for (unsigned long i = 8 * whole; i < size; i++)
    ((unsigned char *)__ferry_flat(at))[i] = ((volatile __ferry_mail_far unsigned char *)(__ferry_mail + 8))[i];
}
/* What mappers push. */
__ferry_fn __ferry_i64 __tgt_mapper_num_components(void) { return (__ferry_i64)__ferry_mail[3]; }
__ferry_fn void __tgt_push_mapper_component(unsigned long base, unsigned long begin, __ferry_i64 size, __ferry_i64 type)
{
  const unsigned long count = __ferry_mail[3], at = 8 + 4 * count;
  __ferry_mail[3] = count + 1;
  if (32 * (count + 1) > __FERRY_PIECE)
    return;
  __ferry_mail[at] = base;
  __ferry_mail[at + 1] = begin;
  __ferry_mail[at + 2] = (unsigned long)size;
  __ferry_mail[at + 3] = (unsigned long)type;
}
__ferry_fn void __ferry_expand(unsigned long mapper, unsigned long base, unsigned long begin, __ferry_i64 size,
                               __ferry_i64 type);
__ferry_fn void __ferry_hand_back(const unsigned long *frame, unsigned long size)
{
  for (int done = 0; !done; )
    if (__ferry_mail_try()) {
      for (unsigned long i = 0; 8 * i < size; i++)
        __ferry_mail[8 + i] = frame[i];
      __ferry_mail[2] = __FERRY_REGION;
      __ferry_mail[3] = size;
      for (;;) {
        __ferry_mail_pass();
        const unsigned long kind = __ferry_mail[2], a = __ferry_mail[3], b = __ferry_mail[4];
        if (kind == __FERRY_READ)
          __ferry_mail_read(a, b);
        else if (kind == __FERRY_WRITE)
          __ferry_mail_write(a, b);
        else if (kind == __FERRY_MAPPER) {
          const unsigned long begin = __ferry_mail[5];
          const __ferry_i64 bytes = (__ferry_i64)__ferry_mail[6], type = (__ferry_i64)__ferry_mail[7];
          __ferry_mail[3] = 0;
          __ferry_expand(a, b, begin, bytes, type);
        } else
          break;
      }
      __ferry_mail_give();
      done = 1;
    }
}
