# 1 "<ferry>" 3
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
/* OpenCL C 1.2: a pointer leads to the memory of the device, and says so. */
#if defined(__FERRY_STACK)
#define __ferry_far __global
#define __ferry_flat(x) ((__global void *)(x))
#define __ferry_generic __global
#elif defined(__FERRY_ONE_MEMORY)
#define __ferry_far
#define __ferry_flat(x) ((void *)(unsigned long)(x))
#define __ferry_generic
#else
#define __ferry_far
#define __ferry_flat(x) ((void *)(__global void *)(x))
#define __ferry_generic __generic
#endif
#define __ferry_fn static
typedef long __ferry_i64;
typedef unsigned long __ferry_u64, __ferry_word, __ferry_size;
/* Long divisions are slow, and most numbers are short. */
static unsigned long __ferry_quotient(unsigned long a, unsigned long b)
{
  return (a | b) >> 32 == 0 ? (unsigned)a / (unsigned)b : a / b;
}
#define __ferry_thread() get_global_id(0)
/* Kernels that are there twice: groups of a processor are one thread. */
#if defined(__FERRY_ONE_MEMORY) && !defined(__FERRY_GROUPS)
#define __FERRY_LONE
#define __ferry_threads_each(count)
#else
#define __ferry_threads_each(count) __attribute__((reqd_work_group_size(count, 1, 1)))
#endif
/* Lanes may share the next loop. */
#ifdef __FERRY_ONE_MEMORY
#define __ferry_lanes _Pragma("clang loop vectorize(assume_safety)")
#else
#define __ferry_lanes
#endif
#ifndef __clang__
#define __builtin_inf() ((double)INFINITY)
#endif
#ifdef __FERRY_STACK
/* What a thread knows, and functions that it calls are told: where the variables are, its stack, the lock, and the
   team that it stands for if it is the one thread of a kernel. */
struct __ferry_thread {
  unsigned long __vars;
  __global char *__stack;
  volatile __global int *__lock;
  unsigned long __team, __teams;
};
#define __ferry_of_thread struct __ferry_thread *__ferry_me,
#define __ferry_mine_and __ferry_me,
#define __ferry_vars __ferry_me->__vars
#define __ferry_here (*__ferry_me)
#define __ferry_shared static
#define __ferry_enter(at) __ferry_vars = (at)
/* Pointers in data are addresses in these buffers. If one is elsewhere than it was, the kernel says so in the first
   word of the table, and does nothing. */
#define __ferry_memories \
  __global char *__ferry_m0, unsigned long __ferry_b0, __global char *__ferry_m1, unsigned long __ferry_b1, \
      __global char *__ferry_m2, unsigned long __ferry_b2, __global char *__ferry_m3, unsigned long __ferry_b3, \
      volatile __global unsigned long *__ferry_table, unsigned long __ferry_stacks
#define __ferry_start() \
  if ((unsigned long)__ferry_m0 != __ferry_b0 || (unsigned long)__ferry_m1 != __ferry_b1 \
      || (unsigned long)__ferry_m2 != __ferry_b2 || (unsigned long)__ferry_m3 != __ferry_b3) { \
    __ferry_table[0] = 1; \
    return; \
  } \
  struct __ferry_thread __ferry_own_thread = { 0, \
    (__global char *)(__ferry_stacks + get_global_id(0) * __FERRY_STACK), \
    (volatile __global int *)(__ferry_table + 1), 0, 0 }; \
  struct __ferry_thread *__ferry_me = &__ferry_own_thread
#else
#define __ferry_of_thread
#define __ferry_mine_and
static __global unsigned long __ferry_vars = 0;
/* Where texts are linked, functions may be for others, the lock is one, and a kernel tells all of them where their
   variables are. */
#ifdef __FERRY_LINKED
#define __ferry_shared
extern __global int __ferry_lock;
void __ferry_enter(unsigned long all);
#else
#define __ferry_shared static
static __global int __ferry_lock = 0;
#define __ferry_enter(at) __ferry_vars = (at)
#endif
/* The team that the one thread of a kernel stands for, for functions that it calls. */
static __global struct { unsigned long __team, __teams; } __ferry_here;
#endif
/* What other groups have written is seen, and what was written is seen by them. Version 1.2 promises that within a
   group only; makers whose fence is no more than that have another. */
#if defined(__FERRY_STACK) && defined(__NV_CL_C_VERSION)
#define __ferry_fence() __asm__ volatile("membar.gl;" : : : "memory")
#elif defined(__FERRY_STACK) && defined(__AMDGCN__)
#define __ferry_fence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#elif defined(__FERRY_ONE_MEMORY) || defined(__FERRY_STACK)
#define __ferry_fence() mem_fence(CLK_GLOBAL_MEM_FENCE)
#else
#define __ferry_fence() \
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)
#endif
static int __ferry_took(volatile __global int *lock)
{
  if (atomic_cmpxchg(lock, 0, 1) != 0)
    return 0;
  __ferry_fence();
  return 1;
}
static void __ferry_gave(volatile __global int *lock)
{
  __ferry_fence();
  atomic_xchg(lock, 0);
}
/* The lock of the device: its owner may take it again, which is counted in the lowest bits. */
static __attribute__((always_inline)) int __ferry_took_again(volatile __global int *lock, unsigned long thread)
{
  const int owner = (int)((unsigned)(thread + 1) << 4), old = atomic_cmpxchg(lock, 0, owner);
  if ((old & ~15) == owner)
    atomic_xchg(lock, old + 1);
  else if (old != 0)
    return 0;
  __ferry_fence();
  return 1;
}
static __attribute__((always_inline)) void __ferry_gave_again(volatile __global int *lock)
{
  const int old = *lock;
  __ferry_fence();
  atomic_xchg(lock, (old & 15) != 0 ? old - 1 : 0);
}
#ifdef __FERRY_STACK
#define __ferry_try() __ferry_took_again(__ferry_me->__lock, get_global_id(0))
#define __ferry_give() __ferry_gave_again(__ferry_me->__lock)
#else
#define __ferry_try() __ferry_took_again(&__ferry_lock, get_global_id(0))
#define __ferry_give() __ferry_gave_again(&__ferry_lock)
#endif
/* A fault that a kernel has found in itself, which is told when it is done. */
#ifdef __FERRY_STACK
#define __ferry_failed() (((volatile __global unsigned long *)__ferry_me->__lock)[-1])
#else
#define __ferry_failed() (*(volatile __ferry_far unsigned long *)&__ferry_fault)
#endif
#define __ferry_fail(what) (__ferry_failed() = (what))
/* What groups have summed up: a word that counts those who are done, and a word for each. */
#define __ferry_part(type, parts, group) (*(volatile __global type *)((parts) + 8 + 8 * (group)))
/* Whether a group that leaves its part is the last, and all parts are there. The next launch counts anew. */
static int __ferry_is_last(unsigned long parts)
{
  volatile __global unsigned *done = (volatile __global unsigned *)parts;
  __ferry_fence();
  if (atomic_inc(done) + 1 != get_num_groups(0))
    return 0;
  __ferry_fence();
  atomic_xchg(done, 0);
  return 1;
}
static __ferry_far void *__ferry_copy(__ferry_far void *to, const __ferry_far void *from, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++)
    ((__ferry_far char *)to)[at] = ((const __ferry_far char *)from)[at];
  return to;
}
/* What a thread has, to the memory of the device. */
#ifdef __FERRY_STACK
static void __ferry_put(__global void *to, const void *from, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++)
    ((__global char *)to)[at] = ((const char *)from)[at];
}
#else
#define __ferry_put __ferry_copy
#endif
static int __ferry_c_abs(int value) { return value < 0 ? -value : value; }
static long __ferry_c_labs(long value) { return value < 0 ? -value : value; }
#define __ferry_c_llabs __ferry_c_labs
#define __ferry_c_memcpy __ferry_copy
/* What headers make of calls where the user asks for checks of sizes: there is nobody to tell. */
#define __builtin_object_size(at, kind) (~0ul)
#define __builtin_dynamic_object_size(at, kind) (~0ul)
#define __builtin___memset_chk(to, byte, size, room) __ferry_c_memset(to, byte, size)
#define __builtin___memcpy_chk(to, from, size, room) __ferry_c_memcpy(to, from, size)
#define __builtin___memmove_chk(to, from, size, room) __ferry_c_memmove(to, from, size)
#define __builtin___strcpy_chk(to, from, room) __ferry_c_strcpy(to, from)
#define __builtin___strncpy_chk(to, from, size, room) __ferry_x_strncpy(to, from, size)
#define __builtin___strcat_chk(to, from, room) __ferry_x_strcat(to, from)
#define __builtin___strncat_chk(to, from, size, room) __ferry_x_strncat(to, from, size)
#define __builtin_memset __ferry_c_memset
#define __builtin_memcpy __ferry_copy
static __ferry_far void *__ferry_c_memmove(__ferry_far void *to, const __ferry_far void *from, __ferry_size size)
{
  if ((__ferry_word)to < (__ferry_word)from)
    return __ferry_copy(to, from, size);
  while (size-- > 0)
    ((__ferry_far char *)to)[size] = ((const __ferry_far char *)from)[size];
  return to;
}
static __ferry_far void *__ferry_c_memset(__ferry_far void *to, int byte, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++)
    ((__ferry_far unsigned char *)to)[at] = (unsigned char)byte;
  return to;
}
static int __ferry_c_memcmp(const __ferry_far void *left, const __ferry_far void *right, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++) {
    const int difference = ((const __ferry_far unsigned char *)left)[at] - ((const __ferry_far unsigned char *)right)[at];
    if (difference != 0)
      return difference;
  }
  return 0;
}
static __ferry_size __ferry_c_strlen(const __ferry_far char *text)
{
  __ferry_size size = 0;
  while (text[size])
    size++;
  return size;
}
static int __ferry_c_strcmp(const __ferry_far char *left, const __ferry_far char *right)
{
  while (*left && *left == *right)
    left++, right++;
  return (unsigned char)*left - (unsigned char)*right;
}
static __ferry_far char *__ferry_c_strcpy(__ferry_far char *to, const __ferry_far char *from)
{
  for (__ferry_size at = 0; (to[at] = from[at]); at++)
    ;
  return to;
}
static int __ferry_c_strncmp(const __ferry_far char *left, const __ferry_far char *right, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++) {
    const int difference = (unsigned char)left[at] - (unsigned char)right[at];
    if (difference != 0 || !left[at])
      return difference;
  }
  return 0;
}
static __ferry_far char *__ferry_c_strrchr(const __ferry_far char *text, int wanted)
{
  __ferry_far char *found = 0;
  for (;; text++) {
    if (*text == (char)wanted)
      found = (__ferry_far char *)text;
    if (!*text)
      return found;
  }
}
static __ferry_far char *__ferry_c_strchr(const __ferry_far char *text, int wanted)
{
  for (;; text++) {
    if (*text == (char)wanted)
      return (__ferry_far char *)text;
    if (!*text)
      return 0;
  }
}
/* Allocators that a kernel makes have numbers that tell how their memory is aligned. */
static unsigned long __ferry_alignment(unsigned long allocator)
{
  return allocator >> 48 == 0x4655 ? allocator & 0xffffffffffff : 16;
}
static unsigned long __ferry_make_allocator(__ferry_word space, int count, const __ferry_far void *traits)
{
  unsigned long align = 16;
  for (int at = 0; at < count; at++) {
    const __ferry_far unsigned long *pair = (const __ferry_far unsigned long *)traits + 2 * at;
    if ((unsigned)pair[0] == 2 && pair[1] > align)
      align = pair[1];
  }
  return 0x4655ul << 48 | align;
}
static void __ferry_end_allocator(__ferry_word allocator) {}
/* What kernels of teams and threads use: all threads of all groups run them. */
/* They are small: PoCL (3.1, at least) loses what a loop computes that goes by a product of numbers it knows nothing of. */
#define __ferry_kernel_thread() ((unsigned)get_local_id(0))
#define __ferry_kernel_threads() ((unsigned)get_local_size(0))
#define __ferry_kernel_group() ((unsigned)get_group_id(0))
#define __ferry_kernel_groups() ((unsigned)get_num_groups(0))
#ifdef POCL_DEVICE_ADDRESS_BITS
/* PoCL 3.1 takes a branch that follows at once for one that all threads take alike: behind a barrier, and behind a branch
   in which there is one. */
#define __ferry_kernel_branch() __asm__ volatile("")
#define __ferry_kernel_barrier() do { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); __asm__ volatile(""); } while (0)
#else
#define __ferry_kernel_branch() ((void)0)
#define __ferry_kernel_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#define __ferry_kernel_copy __ferry_copy
#define __ferry_kernel_load_lines __ferry_copy
#define __ferry_kernel_store_lines __ferry_copy
#define __ferry_kernel_infinity() ((double)INFINITY)
#define __ferry_kernel_is_sound() (__ferry_failed() == 0)
#define __ferry_kernel_fail(what) ((void)__ferry_fail(what))
#define __ferry_kernel_quotient __ferry_quotient
#define __ferry_kernel_try_lock __ferry_try
#define __ferry_kernel_unlock __ferry_give
/* What groups leave in memory of the launch: each word has a place of its own, in which groups are side by side. */
static void __ferry_leave_part(const unsigned long *parts, const __ferry_far void *from, unsigned size, unsigned long group)
{
  for (unsigned at = 0; at < size; at++)
    ((volatile __global char *)&__ferry_part(unsigned long, parts[at / 8], group))[at % 8] = ((const __ferry_far char *)from)[at];
}
static void __ferry_take_part(const unsigned long *parts, __ferry_far void *to, unsigned size, unsigned long group)
{
  for (unsigned at = 0; at < size; at++)
    ((__ferry_far char *)to)[at] = ((volatile __global char *)&__ferry_part(unsigned long, parts[at / 8], group))[at % 8];
}
#define __ferry_kernel_leave(word, from, size, place) __ferry_leave_part(__ferry_all_parts + (word), from, size, place)
#define __ferry_kernel_take(word, to, size, place) __ferry_take_part(__ferry_all_parts + (word), to, size, place)
#define __ferry_kernel_is_last(question) __ferry_is_last(__ferry_all_parts[question])
#ifdef __FERRY_STACK
#define __ferry_kernel_begin() \
  __global char *__ferry_kernel_stack \
    = (__global char *)(__ferry_stacks + get_group_id(0) * get_local_size(0) * __FERRY_STACK)
#elif defined(__FERRY_ONE_MEMORY)
#define __ferry_kernel_flat(at) ((void *)(unsigned long)(at))
#else
#define __ferry_kernel_flat(at) ((void *)(at))
#endif
static unsigned long __ferry_wider(unsigned long a, unsigned long b) { return a < b ? b : a; }
