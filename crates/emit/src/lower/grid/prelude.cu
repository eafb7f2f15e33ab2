# 1 "<ferry>" 3
#define __ferry_fn static __device__
#define __ferry_far
#define __ferry_of_thread
#define __ferry_mine_and
typedef long __ferry_i64;
typedef unsigned long __ferry_u64, __ferry_word, __ferry_size;
#define _Bool bool
#define __auto_type auto
#define __ferry_generic
/* What other files may use, where they are linked. */
#ifdef __FERRY_LINKED
#define __ferry_shared extern "C"
#define __ferry_shared_in extern
#else
#define __ferry_shared static
#define __ferry_shared_in
#endif
static __device__ unsigned long __ferry_thread(void)
{
  return (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;
}
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000)
template <class T> using __ferry_make = T;
template <class T> struct __ferry_plain { typedef T type; };
template <class T> struct __ferry_plain<T &> { typedef typename __ferry_plain<T>::type type; };
template <class T> struct __ferry_plain<const T> { typedef T type; };
#define __typeof__(...) __ferry_plain<decltype(__VA_ARGS__)>::type
/* A compound literal that pointers lead to, in room that its function has for it. */
template <class T> struct __ferry_box { T value; };
template <class T> static __device__ T &__ferry_keep(void *room, const __ferry_box<T> &box)
{
  memcpy(room, &box, sizeof(T));
  return *(T *)room;
}
/* Steps of truth values. */
static __device__ bool __ferry_stepped(bool &at, int by) { return at = at + by != 0; }
static __device__ bool __ferry_step(bool &at, int by)
{
  const bool old = at;
  at = at + by != 0;
  return old;
}
/* Long divisions are slow, and most numbers are short. */
static __device__ unsigned long __ferry_quotient(unsigned long a, unsigned long b)
{
  return (a | b) >> 32 == 0 ? (unsigned)a / (unsigned)b : a / b;
}
/* An argument of a kernel: an address, or a value of at most eight bytes. */
struct __ferry_slot {
  unsigned long word;
  /* Arguments are in memory of the device, which compilers load from in a better way if they know. */
  template <class T> __device__ operator T *() const { return (T *)__cvta_global_to_generic(word); }
  __device__ operator unsigned long() const { return word; }
};
template <class T> static __device__ T __ferry_value(__ferry_slot slot)
{
  T value;
  memcpy(&value, &slot.word, sizeof(T));
  return value;
}
/* The type of a variable that the host may ask for: one that is constant could not be found. */
template <class T> struct __ferry_open { typedef T type; };
template <class T> struct __ferry_open<const T> { typedef T type; };
template <class T, unsigned long N> struct __ferry_open<T[N]> {
  typedef typename __ferry_open<T>::type type[N];
};
template <class T, unsigned long N> struct __ferry_open<const T[N]> {
  typedef typename __ferry_open<T>::type type[N];
};
/* The team that the one thread of a kernel stands for, for functions that it calls. */
static __device__ struct { unsigned long __team, __teams; } __ferry_here;
/* One for all critical sections; linked files have it in common. */
#ifdef __FERRY_LINKED
inline __device__ int __ferry_lock = 0;
#else
static __device__ int __ferry_lock = 0;
#endif
/* What other groups have written is seen, and what was written is seen by them. The owner may take the lock again, which
   is counted in its lowest bits. */
static __device__ int __ferry_try(void)
{
  const int owner = (int)((unsigned)(__ferry_thread() + 1) << 4), old = atomicCAS(&__ferry_lock, 0, owner);
  if ((old & ~15) == owner)
    atomicExch(&__ferry_lock, old + 1);
  else if (old != 0)
    return 0;
  __threadfence();
  return 1;
}
static __device__ void __ferry_give(void)
{
  const int old = *(volatile int *)&__ferry_lock;
  __threadfence();
  atomicExch(&__ferry_lock, (old & 15) != 0 ? old - 1 : 0);
}
/* A value as the bits that can be exchanged in one step. */
template <unsigned long N> struct __ferry_exchanged { typedef unsigned int type; };
template <> struct __ferry_exchanged<8> { typedef unsigned long long type; };
/* Changes what is at an address in one step; answers what was there. */
template <class T, class F> static __device__ T __ferry_change(T *at, F next)
{
  /* Memory of one thread has no such instructions, and needs none. */
  if (__isLocal(at)) {
    const T old = *at;
    *at = next(old);
    return old;
  }
  typedef typename __ferry_exchanged<sizeof(T)>::type bits;
  const unsigned long shift = (unsigned long)at % sizeof(bits) * 8;
  bits *word = (bits *)((unsigned long)at - shift / 8);
  const bits mask = (sizeof(T) == sizeof(bits) ? ~(bits)0 : ((bits)1 << sizeof(T) * 8 % 64) - 1) << shift;
  bits seen = *(volatile bits *)word;
  for (;;) {
    T old, now;
    const bits part = (seen & mask) >> shift;
    memcpy(&old, &part, sizeof(T));
    now = next(old);
    bits put = 0;
    memcpy(&put, &now, sizeof(T));
    put = (seen & ~mask) | (put << shift & mask);
    const bits found = put == seen ? *(volatile bits *)word : atomicCAS(word, seen, put);
    if (found == seen)
      return old;
    seen = found;
  }
}
/* What an integer of four or eight bytes is to the instructions that compare, and to those that look at bits. */
template <unsigned long N, bool S> struct __ferry_compared { typedef unsigned int type; };
template <> struct __ferry_compared<4, true> { typedef int type; };
template <> struct __ferry_compared<8, false> { typedef unsigned long long type; };
template <> struct __ferry_compared<8, true> { typedef long long type; };
/* One instruction each; they answer what was there. */
#define __ferry_instruction(name, as, instruction, next) \
  template <class T> static __device__ T name(T *at, T value) \
  { \
    if (__isLocal(at)) { \
      const T old = *at; \
      *at = next; \
      return old; \
    } \
    typedef typename as::type bits; \
    return (T)instruction((bits *)at, (bits)value); \
  }
#define __ferry_as_number __ferry_compared<sizeof(T), ((T)-1 < (T)0)>
#define __ferry_as_bits __ferry_exchanged<sizeof(T)>
__ferry_instruction(__ferry_least, __ferry_as_number, atomicMin, value < old ? value : old)
__ferry_instruction(__ferry_most, __ferry_as_number, atomicMax, value > old ? value : old)
__ferry_instruction(__ferry_and, __ferry_as_bits, atomicAnd, old & value)
__ferry_instruction(__ferry_or, __ferry_as_bits, atomicOr, old | value)
__ferry_instruction(__ferry_xor, __ferry_as_bits, atomicXor, old ^ value)
template <class T> static __device__ T __ferry_swap(T *at, T seen, T put)
{
  if (__isLocal(at)) {
    const T old = *at;
    *at = old == seen ? put : old;
    return old;
  }
  typedef typename __ferry_exchanged<sizeof(T)>::type bits;
  return (T)atomicCAS((bits *)at, (bits)seen, (bits)put);
}
/* What is at an address, in one step. */
template <class T> static __device__ T __ferry_read(const T *at) { return *(const volatile T *)at; }
/* The same for what is put there. */
template <class T> static __device__ void __ferry_write(T *at, T value) { *(volatile T *)at = value; }
/* The same for sums, where there is an instruction. */
template <class T> struct __ferry_sum {
  static __device__ T add(T *at, T value)
  {
    return __ferry_change(at, [=](T old) { return (T)(old + value); });
  }
};
#define __ferry_sums(T, as) \
  template <> struct __ferry_sum<T> { \
    static __device__ T add(T *at, T value) { return (T)atomicAdd((as *)at, (as)value); } \
  };
__ferry_sums(int, int)
__ferry_sums(unsigned, unsigned)
__ferry_sums(float, float)
__ferry_sums(double, double)
__ferry_sums(long, unsigned long long)
__ferry_sums(unsigned long, unsigned long long)
__ferry_sums(long long, unsigned long long)
__ferry_sums(unsigned long long, unsigned long long)
template <class T> static __device__ T __ferry_add(T *at, T value)
{
  if (__isLocal(at)) {
    const T old = *at;
    *at = (T)(old + value);
    return old;
  }
  return __ferry_sum<T>::add(at, value);
}
/* What a group has of a sum, in memory of the launch. */
#define __ferry_part(type, parts, group) (*(volatile type *)((parts) + 4168 + 8 * (group)))
/* Whether a group that leaves its part is the last, and all parts are there. The next launch counts anew. */
static __device__ int __ferry_is_last(unsigned long parts)
{
  __threadfence();
  if (atomicAdd((unsigned *)parts, 1u) + 1 != gridDim.x)
    return 0;
  __threadfence();
  atomicExch((int *)parts, 0);
  return 1;
}
#define __ferry_copy __ferry_c_memcpy
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
#define __builtin_memcpy __ferry_c_memcpy
static __device__ void *__ferry_c_memcpy(void *to, const void *from, __ferry_size size)
{
  return memcpy(to, from, size);
}
static __device__ int __ferry_c_abs(int value) { return value < 0 ? -value : value; }
static __device__ long __ferry_c_labs(long value) { return value < 0 ? -value : value; }
#define __ferry_c_llabs __ferry_c_labs
static __device__ void *__ferry_c_memmove(void *to, const void *from, __ferry_size size)
{
  if ((__ferry_word)to < (__ferry_word)from) {
    for (__ferry_size at = 0; at < size; at++)
      ((char *)to)[at] = ((const char *)from)[at];
    return to;
  }
  while (size-- > 0)
    ((char *)to)[size] = ((const char *)from)[size];
  return to;
}
static __device__ void *__ferry_c_memset(void *to, int byte, __ferry_size size)
{
  return memset(to, byte, size);
}
static __device__ int __ferry_c_memcmp(const void *left, const void *right, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++) {
    const int difference = ((const unsigned char *)left)[at] - ((const unsigned char *)right)[at];
    if (difference != 0)
      return difference;
  }
  return 0;
}
static __device__ __ferry_size __ferry_c_strlen(const char *text)
{
  __ferry_size size = 0;
  while (text[size])
    size++;
  return size;
}
static __device__ int __ferry_c_strcmp(const char *left, const char *right)
{
  while (*left && *left == *right)
    left++, right++;
  return (unsigned char)*left - (unsigned char)*right;
}
static __device__ char *__ferry_c_strcpy(char *to, const char *from)
{
  for (__ferry_size at = 0; (to[at] = from[at]); at++)
    ;
  return to;
}
static __device__ int __ferry_c_strncmp(const char *left, const char *right, __ferry_size size)
{
  for (__ferry_size at = 0; at < size; at++) {
    const int difference = (unsigned char)left[at] - (unsigned char)right[at];
    if (difference != 0 || !left[at])
      return difference;
  }
  return 0;
}
static __device__ char *__ferry_c_strrchr(const char *text, int wanted)
{
  char *found = 0;
  for (;; text++) {
    if (*text == (char)wanted)
      found = (char *)text;
    if (!*text)
      return found;
  }
}
static __device__ char *__ferry_c_strchr(const char *text, int wanted)
{
  for (;; text++) {
    if (*text == (char)wanted)
      return (char *)text;
    if (!*text)
      return 0;
  }
}
#define __builtin_malloc __ferry_c_malloc
#define __builtin_free __ferry_c_free
static __device__ void *__ferry_c_malloc(__ferry_size size) { return malloc(size); }
static __device__ void __ferry_c_free(void *memory) { free(memory); }
static __device__ void *__ferry_c_calloc(__ferry_size count, __ferry_size size)
{
  if (size != 0 && count > ~0ul / size)
    return 0;
  void *memory = malloc(count * size);
  return memory == 0 ? memory : memset(memory, 0, count * size);
}
static __device__ void *__ferry_room(unsigned long align, __ferry_size size)
{
  align = align < 16 ? 16 : align;
  char *all = size == 0 || size + align < size ? (char *)0 : (char *)malloc(size + align);
  if (all == 0)
    return 0;
  char *at = all + (align - (unsigned long)all % align);
  ((char **)at)[-1] = all;
  return at;
}
static __device__ void *__ferry_cleared(unsigned long align, __ferry_size count, __ferry_size size)
{
  if (size != 0 && count > ~0ul / size)
    return 0;
  void *memory = __ferry_room(align, count * size);
  return memory == 0 ? memory : memset(memory, 0, count * size);
}
static __device__ void __ferry_leave(void *memory)
{
  if (memory != 0)
    free(((char **)memory)[-1]);
}
/* Memory for an array whose length is computed: what it had, if that is enough. */
static __device__ void *__ferry_array_room(void *had, unsigned long bytes_had, unsigned long align, unsigned long bytes)
{
  if (had != 0 && bytes <= bytes_had)
    return had;
  __ferry_leave(had);
  void *memory = __ferry_room(align, bytes == 0 ? 1 : bytes);
  if (memory == 0) {
    printf("ferry: a kernel has no memory left for an array whose length is computed\n");
    __trap();
  }
  return memory;
}
#define __ferry_array(room, align, bytes) \
  (room = __ferry_array_room(room, room##_bytes, align, bytes), room##_bytes = (bytes))
/* Allocators that a kernel makes have numbers that tell how their memory is aligned. */
static __device__ unsigned long __ferry_alignment(unsigned long allocator)
{
  return allocator >> 48 == 0x4655 ? allocator & 0xffffffffffff : 16;
}
static __device__ unsigned long __ferry_make_allocator(__ferry_word, int count, const void *traits)
{
  unsigned long align = 16;
  for (int at = 0; at < count; at++) {
    const unsigned long *pair = (const unsigned long *)traits + 2 * at;
    if ((unsigned)pair[0] == 2 && pair[1] > align)
      align = pair[1];
  }
  return 0x4655ul << 48 | align;
}
static __device__ void __ferry_end_allocator(__ferry_word) {}
/* What kernels of teams and threads use: all threads of all groups run them. */
static __device__ unsigned long __ferry_kernel_thread(void) { return threadIdx.x; }
static __device__ unsigned long __ferry_kernel_threads(void) { return blockDim.x; }
static __device__ unsigned long __ferry_kernel_group(void) { return blockIdx.x; }
static __device__ unsigned long __ferry_kernel_groups(void) { return gridDim.x; }
#define __ferry_kernel_barrier __syncthreads
/* What the thread so many places behind gives, among 32 that run in step; its own if there is none. */
static __device__ void __ferry_kernel_shuffle(void *to, const void *from, unsigned long size, unsigned long far)
{
  for (unsigned long at = 0; at < size; at += 4) {
    int word = 0;
    memcpy(&word, (const char *)from + at, size - at < 4 ? size - at : 4);
    word = __shfl_down_sync(0xffffffff, word, (unsigned)far);
    memcpy((char *)to + at, &word, size - at < 4 ? size - at : 4);
  }
}
/* What the first of them gives. */
#ifndef __ferry_from_first
#define __ferry_from_first(word) __shfl_sync(0xffffffff, word, 0)
#endif
static __device__ void __ferry_kernel_first(void *to, const void *from, unsigned long size)
{
  for (unsigned long at = 0; at < size; at += 4) {
    int word = 0;
    memcpy(&word, (const char *)from + at, size - at < 4 ? size - at : 4);
    word = __ferry_from_first(word);
    memcpy((char *)to + at, &word, size - at < 4 ? size - at : 4);
  }
}
#define __ferry_kernel_copy __ferry_c_memcpy
/* Lines of 16 bytes, each loaded and stored at once. */
struct __attribute__((aligned(16))) __ferry_line { unsigned long low, high; };
static __device__ __inline__ __attribute__((always_inline)) void __ferry_kernel_load_lines(void *to, const void *from, unsigned long size)
{
#pragma unroll
  for (unsigned long at = 0; at < size; at += 16) {
    const __ferry_line line = *(const __ferry_line *)((const char *)from + at);
    memcpy((char *)to + at, &line, 16);
  }
}
static __device__ __inline__ __attribute__((always_inline)) void __ferry_kernel_store_lines(void *to, const void *from, unsigned long size)
{
#pragma unroll
  for (unsigned long at = 0; at < size; at += 16) {
    __ferry_line line;
    memcpy(&line, (const char *)from + at, 16);
    *(__ferry_line *)((char *)to + at) = line;
  }
}
#define __ferry_kernel_infinity() __builtin_inf()
#define __ferry_kernel_is_sound() 1
#define __ferry_kernel_fail(what) __trap()
#define __ferry_kernel_quotient __ferry_quotient
#define __ferry_kernel_try_lock __ferry_try
#define __ferry_kernel_unlock __ferry_give
/* What groups leave in memory of the launch, word by word: those of all groups are side by side. */
static __device__ void __ferry_leave_part(unsigned long parts, unsigned long word, const void *from, unsigned long size, unsigned long place)
{
  for (unsigned long at = 0; at < size; at += 8) {
    unsigned long bits = 0;
    memcpy(&bits, (const char *)from + at, size - at < 8 ? size - at : 8);
    __ferry_part(unsigned long, parts, (word + at / 8) * gridDim.x + place) = bits;
  }
}
static __device__ void __ferry_take_part(unsigned long parts, unsigned long word, void *to, unsigned long size, unsigned long group)
{
  for (unsigned long at = 0; at < size; at += 8) {
    const unsigned long bits = __ferry_part(unsigned long, parts, (word + at / 8) * gridDim.x + group);
    memcpy((char *)to + at, &bits, size - at < 8 ? size - at : 8);
  }
}
#define __ferry_kernel_leave(word, from, size, place) __ferry_leave_part(__ferry_parts0, word, from, size, place)
#define __ferry_kernel_take(word, to, size, place) __ferry_take_part(__ferry_parts0, word, to, size, place)
#define __ferry_kernel_is_last(question) __ferry_is_last(__ferry_parts0 + 8 * (question))
/* How many groups have begun before; the last leaves none for the next launch. */
#define __ferry_kernel_ticket() ((unsigned long)atomicInc((unsigned *)(__ferry_parts0 + 64), gridDim.x - 1))
/* Whether a group has told that what it left is there. */
#define __ferry_posted(parts, place) ((unsigned *)((parts) + 72) + (place))
static __device__ void __ferry_post(unsigned *posted)
{
  __threadfence();
  atomicExch((int *)posted, 1);
}
static __device__ void __ferry_await(volatile unsigned *posted)
{
  while (!*posted)
    ;
  __threadfence();
}
#define __ferry_kernel_post(place) __ferry_post(__ferry_posted(__ferry_parts0, place))
#define __ferry_kernel_await(place) __ferry_await(__ferry_posted(__ferry_parts0, place))
#define __ferry_kernel_forget(place) (*__ferry_posted(__ferry_parts0, place) = 0)
static __device__ unsigned long __ferry_wider(unsigned long a, unsigned long b) { return a < b ? b : a; }
