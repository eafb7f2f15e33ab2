/* What kernels in CUDA C++ ask of their language, with a thread of the host for each thread of a block: blocks run
   one after the other, threads of a block at once, and every step that threads of a warp take together is one where
   they wait for each other. Slow, and so that what goes wrong on a GPU goes wrong here. */
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

struct Place { unsigned x; };
static thread_local Place threadIdx, blockIdx;
static Place blockDim, gridDim;

#ifndef WARP
#define WARP 32
#endif
struct Warp {
  /* The last one of a block may have fewer. */
  explicit Warp(unsigned threads) : step(threads) {}
  std::barrier<> step;
  unsigned long words[WARP];
};
static std::vector<std::unique_ptr<Warp>> warps;
static std::unique_ptr<std::barrier<>> block;

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __trap() __builtin_trap()
#define __ferry_globaltimer() \
  ((unsigned long)std::chrono::steady_clock::now().time_since_epoch().count())
#define __nanosleep(time) std::this_thread::yield()

static void __syncthreads() { block->arrive_and_wait(); }
static Warp &warp() { return *warps[threadIdx.x / WARP]; }
static void __syncwarp() { warp().step.arrive_and_wait(); }

template <class T> static T __shfl_sync(unsigned, T own, int lane)
{
  static_assert(sizeof(T) <= 8);
  Warp &here = warp();
  memcpy(&here.words[threadIdx.x % WARP], &own, sizeof(T));
  __syncwarp();
  T other;
  memcpy(&other, &here.words[lane % WARP], sizeof(T));
  __syncwarp();
  return other;
}
template <class T> static T __shfl_down_sync(unsigned all, T own, int far)
{
  const int lane = threadIdx.x % WARP;
  return __shfl_sync(all, own, lane + far < WARP ? lane + far : lane);
}
static int count(int holds)
{
  Warp &here = warp();
  here.words[threadIdx.x % WARP] = holds != 0;
  __syncwarp();
  const int sum = std::count(here.words, here.words + WARP, 1ul);
  __syncwarp();
  return sum;
}
static int __any_sync(unsigned, int holds) { return count(holds) > 0; }
static int __all_sync(unsigned, int holds) { return count(holds) == WARP; }

template <class T> static T atomicCAS(T *at, T seen, T put)
{
  __atomic_compare_exchange_n(at, &seen, put, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return seen;
}
template <class T> static T atomicExch(T *at, T put) { return __atomic_exchange_n(at, put, __ATOMIC_SEQ_CST); }
template <class T> static T atomicAdd(T *at, T more)
{
  return std::atomic_ref<T>(*at).fetch_add(more);
}
template <class T, class F> static T changed(T *at, F next)
{
  std::atomic_ref<T> object(*at);
  T seen = object.load();
  while (!object.compare_exchange_weak(seen, next(seen)))
    ;
  return seen;
}
template <class T> static T atomicMin(T *at, T other) { return changed(at, [=](T it) { return std::min(it, other); }); }
template <class T> static T atomicMax(T *at, T other) { return changed(at, [=](T it) { return std::max(it, other); }); }
template <class T> static T atomicAnd(T *at, T more) { return __atomic_fetch_and(at, more, __ATOMIC_SEQ_CST); }
template <class T> static T atomicOr(T *at, T more) { return __atomic_fetch_or(at, more, __ATOMIC_SEQ_CST); }
template <class T> static T atomicXor(T *at, T more) { return __atomic_fetch_xor(at, more, __ATOMIC_SEQ_CST); }
static void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static bool __isLocal(const void *) { return false; }
static void *__cvta_global_to_generic(unsigned long word) { return (void *)word; }

static float __fmul_rn(float a, float b) { return a * b; }
static float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static float __fmaf_ru(float a, float b, float c)
{
  volatile float first = a, second = b, third = c;
  std::fesetround(FE_UPWARD);
  volatile float result = std::fma(first, second, third);
  std::fesetround(FE_TONEAREST);
  return result;
}
struct float4 { float x, y, z, w; };
template <class To, class From> static To bits(From from)
{
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
static float __int_as_float(int word) { return bits<float>(word); }
static float __uint_as_float(unsigned word) { return bits<float>(word); }
static unsigned __float_as_uint(float value) { return bits<unsigned>(value); }
static double __longlong_as_double(long long word) { return bits<double>(word); }
/* The only instruction that is asked for by name: an approximation, and not a good one. */
#define asm(...) (first = 1.0f / std::sqrt(z), first = __uint_as_float(__float_as_uint(first) + (z > 0 && z < 1e38f ? 2 : 0)))

/* Runs a kernel. */
template <class Kernel> static void launch(unsigned blocks, unsigned threads, Kernel kernel)
{
  blockDim.x = threads, gridDim.x = blocks;
  for (unsigned at = 0; at < blocks; at++) {
    warps.clear();
    for (unsigned first = 0; first < threads; first += WARP)
      warps.push_back(std::make_unique<Warp>(std::min(threads - first, (unsigned)WARP)));
    block = std::make_unique<std::barrier<>>(threads);
    std::vector<std::thread> running;
    for (unsigned it = 0; it < threads; it++)
      running.emplace_back([=] { threadIdx.x = it, blockIdx.x = at, kernel(); });
    for (std::thread &it : running)
      it.join();
  }
}
