/* Those of held.cu that reduce and count, and those with lists. */
#pragma once
#include "kinds.cuh"

/* It only computes, and has one addition for each block: naive is what one would write. */
__global__ void monte_carlo_naive(int n, int points, unsigned long long *inside)
{
  const int i = this_thread();
  unsigned state = 12345u + 2654435761u * i;
  int mine = 0;
  for (int k = 0; i < n && k < points; k++) {
    state = 1664525u * state + 1013904223u;
    const int x = state >> 17;
    state = 1664525u * state + 1013904223u;
    const int y = state >> 17;
    if (x * x + y * y < 1 << 30)
      mine++;
  }
  const int all = tree_sum(mine);
  if (threadIdx.x == 0)
    atomicAdd(inside, (unsigned long long)all);
}
static void monte_carlo()
{
  if (!is_wanted("monte_carlo"))
    return;
  const int n = SIZED(1 << 20, 2000), points = SIZED(256, 50);
  Array<unsigned long long> inside(1);
  double result;
  const auto run = [&] {
    failed(cudaMemsetAsync(inside.at, 0, 8));
    monte_carlo_naive<<<blocks(n, 256), 256>>>(n, points, inside.at);
    result = fetched(inside.at);
  };
  only("monte_carlo", EXACT, run, [&] { return result; });
}

/* Numbers that are not negative have the order of their bits. */
__global__ void max_norm_naive(int columns, int pitch, const double *__restrict__ a, const double *__restrict__ b,
                               unsigned long long *norm)
{
  __shared__ double all[256];
  const int j = this_thread(), i = blockIdx.y, t = threadIdx.x;
  all[t] = j < columns ? fabs(a[i * pitch + j] - b[i * pitch + j]) : 0;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = fmax(all[t], all[t + far]);
  }
  if (t == 0)
    atomicMax(norm, (unsigned long long)__double_as_longlong(all[0]));
}
__global__ void __launch_bounds__(256)
  max_norm_tuned(int rows, int columns, int pitch, const double *__restrict__ a, const double *__restrict__ b,
                 unsigned long long *norm)
{
  double most = 0;
  for (int i = blockIdx.x; i < rows; i += gridDim.x)
#pragma unroll 4
    for (int j = threadIdx.x; j < columns; j += 256)
      most = fmax(most, fabs(a[i * pitch + j] - b[i * pitch + j]));
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    most = fmax(most, __shfl_xor_sync(~0u, most, far));
  if (threadIdx.x % 32 == 0)
    atomicMax(norm, (unsigned long long)__double_as_longlong(most));
}
static void max_norm()
{
  if (!is_wanted("max_norm"))
    return;
  const int rows = SIZED(4000, 50), columns = SIZED(5000, 60), pitch = columns + 9;
  Array<double> a((long)rows * pitch), b((long)rows * pitch);
  Array<unsigned long long> norm(1);
  a.fill([](long i) { return (double)(mixed(i) >> 8); });
  b.fill([](long i) { return (double)(mixed(i + 1) >> 8); });
  double result;
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(norm.at, 0, 8));
    if (is_tuned)
      max_norm_tuned<<<WIDE, 256>>>(rows, columns, pitch, a.at, b.at, norm.at);
    else
      max_norm_naive<<<dim3(blocks(columns, 256), rows), 256>>>(columns, pitch, a.at, b.at, norm.at);
    const unsigned long long bits = fetched(norm.at);
    memcpy(&result, &bits, sizeof result);
  };
  compare("max_norm", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return result; });
}

struct Totals {
  int at[16];
};
__global__ void section_sums_naive(int n, const int *__restrict__ key, const int *__restrict__ weight, Totals *total)
{
  const int i = this_thread();
  if (i < n)
    atomicAdd(&total->at[key[i]], weight[i]);
}
/* Sums of each thread in shared memory. */
__global__ void __launch_bounds__(256)
  section_sums_tuned(int n, const int4 *__restrict__ key, const int4 *__restrict__ weight, Totals *total)
{
  __shared__ int mine[16][256];
  const int t = threadIdx.x;
#pragma unroll
  for (int k = 0; k < 16; k++)
    mine[k][t] = 0;
  for (int i = this_thread(); i < n; i += gridDim.x * 256) {
    const int4 k = key[i], w = weight[i];
    mine[k.x][t] += w.x;
    mine[k.y][t] += w.y;
    mine[k.z][t] += w.z;
    mine[k.w][t] += w.w;
  }
  __syncthreads();
  for (int k = t / 32; k < 16; k += 8) {
    int sum = 0;
#pragma unroll
    for (int q = 0; q < 8; q++)
      sum += mine[k][t % 32 + 32 * q];
    sum = warp_sum(sum);
    if (t % 32 == 0)
      atomicAdd(&total->at[k], sum);
  }
}
static void section_sums()
{
  if (!is_wanted("section_sums"))
    return;
  const int n = SIZED(1 << 24, 5000);
  Array<int> key(n), weight(n);
  Array<Totals> total(1);
  key.fill([](long i) { return (int)(mixed(i) % 16); });
  weight.fill();
  Totals result;
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(total.at, 0, sizeof(Totals)));
    if (is_tuned)
      section_sums_tuned<<<WIDE, 256>>>(n / 4, (int4 *)key.at, (int4 *)weight.at, total.at);
    else
      section_sums_naive<<<blocks(n, 256), 256>>>(n, key.at, weight.at, total.at);
    result = fetched(total.at);
  };
  const auto sum = [&] {
    double sum = 0;
    for (int k = 0; k < 16; k++)
      sum += (double)result.at[k] * (1 + k % 7);
    return sum;
  };
  compare("section_sums", EXACT, [&] { run(false); }, [&] { run(true); }, sum);
}

/* All but the elements of x are read in order: naive is what one would write. */
__global__ void ellpack_naive(int n, const int *__restrict__ column, const double *__restrict__ a,
                              const double *__restrict__ x, double *__restrict__ y)
{
  const int i = this_thread();
  if (i >= n)
    return;
  double s = 0;
  for (int k = 0; k < 16; k++)
    s += a[k * n + i] * x[column[k * n + i]];
  y[i] = s;
}
static void ellpack()
{
  if (!is_wanted("ellpack"))
    return;
  const int n = SIZED(1 << 20, 1000);
  Array<int> column(16L * n);
  Array<double> a(16L * n), x(n), y(n);
  column.fill([&](long i) { return (int)((i % n + mixed(i) % 1000) % n); });
  a.fill(), x.fill();
  only(
    "ellpack", EXACT, [&] { ellpack_naive<<<blocks(n, 256), 256>>>(n, column.at, a.at, x.at, y.at); },
    [&] { return y.sum(); });
}

__device__ int is_counted(float x) { return x > 3 || x == -2; }
__global__ void count_if_naive(int n, const float *__restrict__ a, int *count)
{
  const int i = this_thread(), all = tree_sum(i < n ? is_counted(a[i]) : 0);
  if (threadIdx.x == 0)
    atomicAdd(count, all);
}
__global__ void __launch_bounds__(256) count_if_tuned(int n, const float4 *__restrict__ a, int *count)
{
  int mine = 0;
#pragma unroll 4
  for (int i = this_thread(); i < n; i += gridDim.x * 256) {
    const float4 x = a[i];
    mine += is_counted(x.x) + is_counted(x.y) + is_counted(x.z) + is_counted(x.w);
  }
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0)
    atomicAdd(count, mine);
}
static void count_if()
{
  if (!is_wanted("count_if"))
    return;
  const int n = SIZED(1 << 26, 5000);
  Array<float> a(n);
  Array<int> count(1);
  a.fill();
  double result;
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(count.at, 0, sizeof(int)));
    if (is_tuned)
      count_if_tuned<<<WIDE, 256>>>(n / 4, (float4 *)a.at, count.at);
    else
      count_if_naive<<<blocks(n, 256), 256>>>(n, a.at, count.at);
    result = fetched(count.at);
  };
  compare("count_if", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return result; });
}

__global__ void wavefront_naive(int m, int sum, int from, int to, const unsigned char *__restrict__ p,
                                const unsigned char *__restrict__ q, int *d)
{
  const int i = from + this_thread(), j = sum - i;
  if (i > to)
    return;
  const int other = max(d[(i - 1) * m + j], d[i * m + j - 1]);
  d[i * m + j] = p[i - 1] == q[j - 1] ? d[(i - 1) * m + j - 1] + 1 : other;
}
/* One block, a thread for each row, the last two diagonals in shared memory. */
__global__ void __launch_bounds__(384)
  wavefront_tuned(int n, const unsigned char *__restrict__ p, const unsigned char *__restrict__ q, int *d)
{
  __shared__ int diagonals[3][385];
  const int i = threadIdx.x + 1, m = n + 1;
  const int mine = i <= n ? p[i - 1] : 0;
  for (int at = threadIdx.x; at < 385; at += blockDim.x)
    diagonals[0][at] = diagonals[1][at] = diagonals[2][at] = 0;
  for (int sum = 2; sum <= 2 * n; sum++) {
    __syncthreads();
    int *const here = diagonals[sum % 3];
    const int *const last = diagonals[(sum + 2) % 3], *const before = diagonals[(sum + 1) % 3];
    const int j = sum - i;
    if (i <= n && j >= 0 && j <= n) {
      const int found = j == 0 ? 0 : mine == q[j - 1] ? before[i - 1] + 1 : max(last[i - 1], last[i]);
      here[i] = found;
      d[i * m + j] = found;
    }
  }
}
static void wavefront()
{
  if (!is_wanted("wavefront"))
    return;
  const int n = SIZED(384, 40), m = n + 1;
  Array<unsigned char> p(n), q(n);
  Array<int> d((long)m * m);
  p.fill([](long i) { return (unsigned char)(mixed(i) % 4); });
  q.fill([&](long i) { return (unsigned char)(mixed(n + i) % 4); });
  const auto naive = [&] {
    for (int sum = 2; sum <= 2 * n; sum++) {
      const int from = sum > n ? sum - n : 1, to = sum > n ? n : sum - 1;
      wavefront_naive<<<blocks(to - from + 1, 128), 128>>>(m, sum, from, to, p.at, q.at, d.at);
    }
  };
  const auto tuned = [&] { wavefront_tuned<<<1, 384>>>(n, p.at, q.at, d.at); };
  compare("wavefront", EXACT, naive, tuned, [&] { return d.sum(); });
}

/* A block for each segment, as gangs are there. */
__global__ void segments_naive(const int *__restrict__ first, const double *__restrict__ a, double *__restrict__ total)
{
  const int i = blockIdx.x;
  double s = 0;
  for (int k = first[i] + threadIdx.x; k < first[i + 1]; k += 256)
    s += a[k];
  s = tree_sum(s);
  if (threadIdx.x == 0)
    total[i] = s;
}
/* A warp for each. */
__global__ void segments_tuned(int n, const int *__restrict__ first, const double *__restrict__ a,
                               double *__restrict__ total)
{
  const int i = this_thread() / 32;
  if (i >= n)
    return;
  double s = 0;
#pragma unroll 4
  for (int k = first[i] + threadIdx.x % 32; k < first[i + 1]; k += 32)
    s += a[k];
  s = warp_sum(s);
  if (threadIdx.x % 32 == 0)
    total[i] = s;
}
static void segments()
{
  if (!is_wanted("segments"))
    return;
  const int n = SIZED(1 << 16, 100);
  std::vector<int> begins(n + 1);
  for (int i = 0; i < n; i++)
    begins[i + 1] = begins[i] + (int)(mixed(i) % 512);
  Array<int> first(n + 1);
  Array<double> a(begins[n]), total(n);
  first.put(begins), a.fill();
  compare(
    "segments", EXACT, [&] { segments_naive<<<n, 256>>>(first.at, a.at, total.at); },
    [&] { segments_tuned<<<blocks(32L * n, 256), 256>>>(n, first.at, a.at, total.at); }, [&] { return total.sum(); });
}

struct Item {
  float x, y, z;
  int number;
};
__global__ void kept_items_naive(int n, const Item *__restrict__ all, Item *__restrict__ kept, int *many)
{
  const int i = this_thread();
  if (i < n && all[i].x + all[i].y > all[i].z)
    kept[atomicAdd(many, 1)] = all[i];
}
/* One addition for each block. */
__global__ void __launch_bounds__(256)
  kept_items_tuned(int n, const float4 *__restrict__ all, float4 *__restrict__ kept, int *many)
{
  __shared__ int counts[8], first;
  const int i = this_thread(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4 item = i < n ? all[i] : make_float4(0, 0, 0, 0);
  const bool is_kept = i < n && item.x + item.y > item.z;
  const unsigned those = __ballot_sync(~0u, is_kept);
  if (lane == 0)
    counts[warp] = __popc(those);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int w = 0; w < 8; w++) {
      const int count = counts[w];
      counts[w] = sum;
      sum += count;
    }
    first = atomicAdd(many, sum);
  }
  __syncthreads();
  if (is_kept)
    kept[first + counts[warp] + __popc(those & ((1u << lane) - 1))] = item;
}
static void kept_items()
{
  if (!is_wanted("kept_items"))
    return;
  const int n = SIZED(1 << 23, 5000);
  Array<Item> all(n), kept(n);
  Array<int> many(1);
  all.fill([](long i) {
    return Item{ (float)value(i), (float)value(i + 1), (float)value(i + 2), (int)(i % 1000) };
  });
  int result;
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(many.at, 0, sizeof(int)));
    if (is_tuned)
      kept_items_tuned<<<blocks(n, 256), 256>>>(n, (float4 *)all.at, (float4 *)kept.at, many.at);
    else
      kept_items_naive<<<blocks(n, 256), 256>>>(n, all.at, kept.at, many.at);
    result = fetched(many.at);
  };
  const auto sum = [&] {
    double sum = result;
    const std::vector<Item> items = kept.get();
    for (int i = 0; i < result; i++)
      sum += items[i].x + 2 * items[i].y + 3 * items[i].z + items[i].number;
    kept.clear();
    return sum;
  };
  compare("kept_items", EXACT, [&] { run(false); }, [&] { run(true); }, sum);
}

/* Particles seldom meet: naive is what one would write. */
__global__ void deposit_naive(int n, int grid, const double *__restrict__ x, const double *__restrict__ y,
                              double *charge)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const int ix = (int)x[i], iy = (int)y[i];
  const double dx = x[i] - ix, dy = y[i] - iy;
  atomicAdd(&charge[iy * grid + ix], (1 - dx) * (1 - dy));
  atomicAdd(&charge[iy * grid + ix + 1], dx * (1 - dy));
  atomicAdd(&charge[(iy + 1) * grid + ix], (1 - dx) * dy);
  atomicAdd(&charge[(iy + 1) * grid + ix + 1], dx * dy);
}
static void deposit()
{
  if (!is_wanted("deposit"))
    return;
  const int n = SIZED(1 << 21, 3000), grid = SIZED(1024, 32);
  Array<double> x(n), y(n), charge((long)grid * grid);
  x.fill([&](long i) { return mixed(i) % ((grid - 1) * 4) / 4.0; });
  y.fill([&](long i) { return mixed(n + i) % ((grid - 1) * 4) / 4.0; });
  const auto run = [&] {
    failed(cudaMemsetAsync(charge.at, 0, sizeof(double) * grid * grid));
    deposit_naive<<<blocks(n, 256), 256>>>(n, grid, x.at, y.at, charge.at);
  };
  only("deposit", EXACT, run, [&] { return charge.sum(); });
}
