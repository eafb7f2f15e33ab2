/* The harness of the programs in CUDA, as kinds.h is for those with directives. */
#pragma once

#include "inputs.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static double now()
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}
static const char *wanted;
static bool is_wanted(const char *name) { return !wanted || strstr(name, wanted); }
static void failed(cudaError_t e)
{
  if (e != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(e));
    exit(1);
  }
}

template <class T> struct Array {
  T *at;
  long count;
  explicit Array(long n) : count(n)
  {
    failed(cudaMalloc(&at, n * sizeof(T)));
    clear();
  }
  ~Array() { cudaFree(at); }
  void clear() { failed(cudaMemset(at, 0, count * sizeof(T))); }
  template <class F> void fill(F element)
  {
    std::vector<T> host(count);
    for (long i = 0; i < count; i++)
      host[i] = element(i);
    put(host);
  }
  void fill()
  {
    fill([](long i) { return (T)value(i); });
  }
  void put(const std::vector<T> &host)
  {
    failed(cudaMemcpy(at, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const
  {
    std::vector<T> host(count);
    failed(cudaMemcpy(host.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  /* A sum of what is here, which is then cleared: the next kernel cannot leave the results of the last. */
  double sum(bool of_sizes = false)
  {
    const std::vector<T> host = get();
    clear();
    double sum = 0;
    for (long i = 0; i < count; i++)
      sum += (of_sizes ? std::fabs((double)host[i]) : (double)host[i]) * (1 + i % 7);
    return sum;
  }
};

/* What of a kernel comes to the host after each run. */
template <class T> static T fetched(const T *device)
{
  T host;
  failed(cudaMemcpy(&host, device, sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <class F> static double median(F run)
{
  std::vector<double> times;
  for (int i = -2; i < 9; i++) {
    const double begin = now();
    run();
    failed(cudaGetLastError());
    failed(cudaDeviceSynchronize());
    if (i >= 0)
      times.push_back(now() - begin);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
static void tell(const char *name, const char *how, double time, double sum, bool is_rounded = false)
{
  printf(is_rounded ? "%-24s %-6s %10.1f  %.4e\n" : "%-24s %-6s %10.1f  %.9g\n", name, how, time, sum);
  fflush(stdout);
}

enum Digits { EXACT, ROUNDED };
/* Times both, each followed by the sum of its results. */
template <class Naive, class Tuned, class Sum>
static void compare(const char *name, Digits digits, Naive naive, Tuned tuned, Sum sum)
{
  double time = median(naive);
  tell(name, "naive", time, sum(), digits == ROUNDED);
  time = median(tuned);
  tell(name, "tuned", time, sum(), digits == ROUNDED);
}
/* Where nothing better than the naive kernel is known. */
template <class Naive, class Sum> static void only(const char *name, Digits digits, Naive naive, Sum sum)
{
  const double time = median(naive), total = sum();
  tell(name, "naive", time, total, digits == ROUNDED);
  tell(name, "tuned", time, total, digits == ROUNDED);
}

/* Blocks of `threads` that `count` iterations need. */
static inline int blocks(long count, int threads) { return (int)((count + threads - 1) / threads); }

/* Blocks where each thread takes many iterations: eight for each multiprocessor of an H200. */
constexpr int WIDE = SIZED(1056, 4);

static __device__ __forceinline__ int this_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
/* The sum over 1, 2, 4 ... 32 neighbouring lanes, in each of them. */
template <int LANES = 32, class T> static __device__ __forceinline__ T warp_sum(T x)
{
#pragma unroll
  for (int far = LANES / 2; far > 0; far /= 2)
    x += __shfl_xor_sync(~0u, x, far);
  return x;
}
/* The sum over all threads of a block of 256 as beginners write it: a tree in shared memory. */
template <class T> static __device__ T tree_sum(T x)
{
  __shared__ T all[256];
  const int at = threadIdx.x;
  __syncthreads();
  all[at] = x;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (at < far)
      all[at] += all[at + far];
  }
  __syncthreads();
  return all[0];
}
