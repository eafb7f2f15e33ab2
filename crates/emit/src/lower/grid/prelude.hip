# 1 "<ferry>" 3
/* In C a value in a list is converted as everywhere. */
#pragma clang diagnostic ignored "-Wc++11-narrowing"
#if defined(__HIPCC_RTC__)
/* The runtime's compiler knows all words. */
#elif __has_include(<hip/hip_runtime.h>)
#include <hip/hip_runtime.h>
#else
/* The compiler alone, without AMD's headers. */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
/* Kernels are asked for this number when they are loaded: it says how they want to be run. */
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
struct __ferry_index { unsigned x; };
#define threadIdx (__ferry_index{ __builtin_amdgcn_workitem_id_x() })
#define blockIdx (__ferry_index{ __builtin_amdgcn_workgroup_id_x() })
#define blockDim (__ferry_index{ __builtin_amdgcn_workgroup_size_x() })
#define gridDim (__ferry_index{ __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x() })
static __device__ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
static __device__ void __syncthreads()
{
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
template <class T> static __device__ T atomicCAS(T *at, T old, T now)
{
  __hip_atomic_compare_exchange_strong(at, &old, now, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return old;
}
#define __ferry_atomic(name, does) \
  template <class T> static __device__ T name(T *at, T value) \
  { \
    return does(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }
__ferry_atomic(atomicExch, __hip_atomic_exchange)
__ferry_atomic(atomicAdd, __hip_atomic_fetch_add)
__ferry_atomic(atomicMin, __hip_atomic_fetch_min)
__ferry_atomic(atomicMax, __hip_atomic_fetch_max)
__ferry_atomic(atomicAnd, __hip_atomic_fetch_and)
__ferry_atomic(atomicOr, __hip_atomic_fetch_or)
__ferry_atomic(atomicXor, __hip_atomic_fetch_xor)
static __device__ double __longlong_as_double(long value) { return __builtin_bit_cast(double, value); }
static __device__ void *__ferry_memcpy(void *to, const void *from, unsigned long size)
{
  return __builtin_memcpy(to, from, size);
}
static __device__ void *__ferry_memset(void *to, int byte, unsigned long size)
{
  return __builtin_memset(to, byte, size);
}
#define __trap() __builtin_trap()
#define memcpy __ferry_memcpy
#define memset __ferry_memset
#define printf __builtin_printf
extern "C" __device__ void *malloc(unsigned long) __asm__("__ockl_dm_alloc");
extern "C" __device__ void free(void *) __asm__("__ockl_dm_dealloc");
/* What the processor computes exactly, and so the compiler by itself. */
#define __ferry_own(name) \
  static __device__ double name(double x) { return __builtin_##name(x); } \
  static __device__ float name##f(float x) { return __builtin_##name##f(x); }
#define __ferry_own_two(name) \
  static __device__ double name(double x, double y) { return __builtin_##name(x, y); } \
  static __device__ float name##f(float x, float y) { return __builtin_##name##f(x, y); }
__ferry_own(ceil) __ferry_own(fabs) __ferry_own(floor) __ferry_own(rint) __ferry_own(round) __ferry_own(sqrt)
__ferry_own(trunc)
__ferry_own_two(copysign) __ferry_own_two(fmax) __ferry_own_two(fmin)
static __device__ double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static __device__ float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static __device__ double ldexp(double x, int power) { return __builtin_amdgcn_ldexp(x, power); }
static __device__ float ldexpf(float x, int power) { return __builtin_amdgcn_ldexpf(x, power); }
static __device__ double frexp(double x, int *power)
{
  *power = __builtin_amdgcn_frexp_exp(x);
  return __builtin_amdgcn_frexp_mant(x);
}
static __device__ float frexpf(float x, int *power)
{
  *power = __builtin_amdgcn_frexp_expf(x);
  return __builtin_amdgcn_frexp_mantf(x);
}
static __device__ double modf(double x, double *whole)
{
  *whole = trunc(x);
  return copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
static __device__ float modff(float x, float *whole)
{
  *whole = truncf(x);
  return copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
static __device__ double nan(const char *) { return __builtin_nan(""); }
static __device__ float nanf(const char *) { return __builtin_nanf(""); }
/* What AMD's library has for devices. */
#define __ferry_one(name) \
  extern "C" __device__ double name(double) __asm__("__ocml_" #name "_f64"); \
  extern "C" __device__ float name##f(float) __asm__("__ocml_" #name "_f32");
#define __ferry_two(name) \
  extern "C" __device__ double name(double, double) __asm__("__ocml_" #name "_f64"); \
  extern "C" __device__ float name##f(float, float) __asm__("__ocml_" #name "_f32");
__ferry_one(acos) __ferry_one(acosh) __ferry_one(asin) __ferry_one(asinh) __ferry_one(atan) __ferry_one(atanh)
__ferry_one(cbrt) __ferry_one(cos) __ferry_one(cosh) __ferry_one(erf) __ferry_one(erfc)
__ferry_one(exp) __ferry_one(exp2) __ferry_one(expm1) __ferry_one(lgamma)
__ferry_one(log) __ferry_one(log10) __ferry_one(log1p) __ferry_one(log2) __ferry_one(logb)
__ferry_one(sin) __ferry_one(sinh) __ferry_one(tan) __ferry_one(tanh) __ferry_one(tgamma)
__ferry_two(atan2) __ferry_two(fdim) __ferry_two(fmod) __ferry_two(hypot) __ferry_two(nextafter) __ferry_two(pow)
__ferry_two(remainder)
extern "C" __device__ int ilogb(double) __asm__("__ocml_ilogb_f64");
extern "C" __device__ int ilogbf(float) __asm__("__ocml_ilogb_f32");
#endif
/* The clock counts at 100 MHz. */
#ifndef __ferry_globaltimer
#if __has_builtin(__builtin_readsteadycounter)
#define __ferry_globaltimer() (__builtin_readsteadycounter() * 10ul)
#else
#define __ferry_globaltimer() (__builtin_amdgcn_s_memrealtime() * 10ul)
#endif
#define __nanosleep(time) __builtin_amdgcn_s_sleep(1)
#endif
/* Whether an address is in memory of one thread. */
#define __isLocal(at) __builtin_amdgcn_is_private((const void *)(at))
/* The value of the thread so many places behind, among those that run in step. */
static __device__ int __ferry_lane(void)
{
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
template <class T> static __device__ T __ferry_from(T own, int lane)
{
  int words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &own, sizeof(T));
  for (int &word : words)
    word = __builtin_amdgcn_ds_bpermute(lane * 4, word);
  memcpy(&own, words, sizeof(T));
  return own;
}
#define __shfl_down_sync(mask, own, far) __ferry_from(own, __ferry_lane() + (far))
/* The first of 32 that are a part of those in step. */
#define __ferry_from_first(own) __ferry_from(own, __ferry_lane() & ~31)
/* Memory of the device has one kind of address. */
#define __cvta_global_to_generic(word) ((void *)(word))
