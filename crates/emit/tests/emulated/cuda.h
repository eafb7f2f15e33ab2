/* What kernels in CUDA C++ ask of their language, on the host: blocks run one after the other, and every step that threads
   of a warp take together is one where they wait for each other. Threads of a block take turns, each as far as the next
   place where it waits; for the detector of races they are threads of the host, which is slow. */
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <setjmp.h>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

struct Place { unsigned x; };
/* Files that are linked have one of each. */
#ifdef __SANITIZE_THREAD__
inline thread_local
#else
inline
#endif
Place threadIdx, blockIdx;
inline Place blockDim, gridDim;

#ifndef WARP
#define WARP 32
#endif
#ifdef __SANITIZE_THREAD__
/* Where threads wait for each other. */
struct Meeting {
  explicit Meeting(unsigned threads) : all(threads) {}
  std::barrier<> all;
  void meet() { all.arrive_and_wait(); }
  void leave() {}
};
static void give_way() { std::this_thread::yield(); }
#else
static void give_way();
/* How often anybody could go on. */
inline unsigned long steps;
struct Meeting {
  explicit Meeting(unsigned threads) : all(threads) {}
  unsigned all, here = 0, round = 0;
  void meet();
  void go_on() { here = 0, round++, steps++; }
  /* Who has ended is waited for no more. */
  void leave() { if (--all && all == here) go_on(); }
};
#endif
struct Warp {
  /* The last one of a block may have fewer. */
  explicit Warp(unsigned threads) : step(threads) {}
  Meeting step;
  unsigned long words[WARP];
};
/* Never destroyed: a program may end while kernels run. */
inline std::vector<std::unique_ptr<Warp>> &warps = *new std::vector<std::unique_ptr<Warp>>;
inline std::unique_ptr<Meeting> &block = *new std::unique_ptr<Meeting>;

#define __CUDACC_RTC__
#define __CUDA_ARCH__ 700
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __trap() __builtin_trap()
#define __ferry_globaltimer() \
  ((unsigned long)std::chrono::steady_clock::now().time_since_epoch().count())
#define __nanosleep(time) give_way()

static void __syncthreads() { block->meet(); }
static Warp &warp() { return *warps[threadIdx.x / WARP]; }
static void __syncwarp() { warp().step.meet(); }

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

/* Who does not get it may wait for who has it. */
template <class T> static T atomicCAS(T *at, T seen, T put)
{
  if (!__atomic_compare_exchange_n(at, &seen, put, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    give_way();
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
static unsigned atomicInc(unsigned *at, unsigned most) { return changed(at, [=](unsigned it) { return it >= most ? 0 : it + 1; }); }
static int __popc(unsigned word) { return __builtin_popcount(word); }
static int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
static int __clz(int word) { return word ? __builtin_clz(word) : 32; }
static int __clzll(long long word) { return word ? __builtin_clzll(word) : 64; }
static int __ffs(int word) { return __builtin_ffs(word); }
static int __ffsll(long long word) { return __builtin_ffsll(word); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
static unsigned __byte_perm(unsigned low, unsigned high, unsigned choice)
{
  const unsigned long long both = (unsigned long long)high << 32 | low;
  unsigned word = 0;
  for (int i = 0; i < 4; i++)
    word |= (unsigned)(both >> (choice >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return word;
}
static void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static void __threadfence_system() { __threadfence(); }
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
static int __float_as_int(float value) { return bits<int>(value); }
static long long __double_as_longlong(double value) { return bits<long long>(value); }
static double __longlong_as_double(long long word) { return bits<double>(word); }
/* The only instruction that is asked for by name: an approximation, and not a good one. */
#define asm(...) (first = 1.0f / std::sqrt(z), first = __uint_as_float(__float_as_uint(first) + (z > 0 && z < 1e38f ? 2 : 0)))

/* Who wait for each other from a block on. */
static void gather(unsigned number)
{
  blockIdx.x = number;
  warps.clear();
  for (unsigned first = 0; first < blockDim.x; first += WARP)
    warps.push_back(std::make_unique<Warp>(std::min(blockDim.x - first, (unsigned)WARP)));
  block = std::make_unique<Meeting>(blockDim.x);
}

#ifdef __SANITIZE_THREAD__
/* Runs a kernel. */
template <class Kernel> static void launch(unsigned blocks, unsigned threads, Kernel kernel)
{
  blockDim.x = threads, gridDim.x = blocks;
  for (unsigned at = 0; at < blocks; at++) {
    gather(at);
    std::vector<std::thread> running;
    for (unsigned it = 0; it < threads; it++)
      running.emplace_back([=] { threadIdx.x = it, blockIdx.x = at, kernel(); });
    for (std::thread &it : running)
      it.join();
  }
}
#else
/* A thread of a block, which goes on with the next block when it is done. */
struct Turn {
  jmp_buf place;
  char *stack;
  bool is_done, waits;
};
inline std::vector<Turn> &turns = *new std::vector<Turn>;
inline jmp_buf others;
inline std::function<void()> &code = *new std::function<void()>;

static void give_way()
{
  if (!_setjmp(turns[threadIdx.x].place))
    _longjmp(others, 1);
}
inline void Meeting::meet()
{
  const unsigned now = round;
  if (++here == all)
    return go_on();
  turns[threadIdx.x].waits = true;
  while (round == now)
    give_way();
  turns[threadIdx.x].waits = false;
}
static void take_turns()
{
  for (;;) {
    code();
    warp().step.leave(), block->leave();
    turns[threadIdx.x].is_done = true, steps++;
    give_way();
  }
}
/* Lets a thread go on until it gives way. */
static void go_on(Turn &turn)
{
  const size_t room = 1 << 20;
  if (_setjmp(others))
    return;
  if (turn.stack)
    _longjmp(turn.place, 1);
  turn.stack = (char *)mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ucontext_t begin;
  getcontext(&begin);
  begin.uc_stack.ss_sp = turn.stack, begin.uc_stack.ss_size = room;
  makecontext(&begin, take_turns, 0);
  setcontext(&begin);
}

/* Runs a kernel. */
template <class Kernel> static void launch(unsigned blocks, unsigned threads, Kernel kernel)
{
  blockDim.x = threads, gridDim.x = blocks;
  code = kernel;
  if (turns.size() < threads)
    turns.resize(threads);
  for (unsigned at = 0; at < blocks; at++) {
    gather(at);
    for (Turn &it : turns)
      it.is_done = it.waits = false;
    for (unsigned left = threads, round = 0; left; round++) {
      const unsigned long before = steps;
      bool all_wait = true;
      left = 0;
      for (unsigned it = 0; it < threads; it++) {
        /* First come, first served, and the other way round. */
        threadIdx.x = round % 2 ? threads - 1 - it : it;
        Turn &turn = turns[threadIdx.x];
        if (turn.is_done)
          continue;
        left++;
        go_on(turn);
        all_wait &= turn.is_done || turn.waits;
      }
      if (left && all_wait && steps == before)
        fprintf(stderr, "threads wait for others that never come\n"), abort();
    }
  }
}
#endif
