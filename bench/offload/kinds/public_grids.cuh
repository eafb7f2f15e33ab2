/* Those of public.cu with grids and images. */
#pragma once
#include "kinds.cuh"

__global__ void hotspot_naive(const float *__restrict__ power, const float *__restrict__ from, float *__restrict__ to,
                              int rows, int cols, float cap, float rx, float ry, float rz, float around)
{
  const int c = this_thread(), r = blockIdx.y;
  if (c >= cols)
    return;
  const int at = r * cols + c;
  const float here = from[at];
  const float up = r == 0 ? here : from[at - cols], down = r == rows - 1 ? here : from[at + cols];
  const float left = c == 0 ? here : from[at - 1], right = c == cols - 1 ? here : from[at + 1];
  to[at] = here + cap * (power[at] + (up + down - 2.0f * here) * ry + (left + right - 2.0f * here) * rx
                         + (around - here) * rz);
}
/* Some steps of a tile in shared memory; what is wrong at its border goes inwards by one in each. */
constexpr int HEAT_STEPS = 4, HEAT_W = 64, HEAT_H = 32;
__global__ void __launch_bounds__(512)
  hotspot_tuned(const float *__restrict__ power, const float *__restrict__ from, float *__restrict__ to, int rows,
                int cols, float cap, float rx, float ry, float rz, float around)
{
  __shared__ float tile[2][HEAT_H][HEAT_W];
  const int lx = threadIdx.x, c = blockIdx.x * (HEAT_W - 2 * HEAT_STEPS) + lx - HEAT_STEPS;
  const int r0 = blockIdx.y * (HEAT_H - 2 * HEAT_STEPS) - HEAT_STEPS;
  const int left = c <= 0 || lx == 0 ? lx : lx - 1, right = c >= cols - 1 || lx == HEAT_W - 1 ? lx : lx + 1;
  float p[4];
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int ly = threadIdx.y + 8 * q, r = r0 + ly;
    const bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
    p[q] = inside ? power[r * cols + c] : 0;
    tile[0][ly][lx] = inside ? from[r * cols + c] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < HEAT_STEPS; s++) {
    const auto &now = tile[s % 2];
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int ly = threadIdx.y + 8 * q, r = r0 + ly;
      const int up = r <= 0 || ly == 0 ? ly : ly - 1, down = r >= rows - 1 || ly == HEAT_H - 1 ? ly : ly + 1;
      const float here = now[ly][lx];
      tile[(s + 1) % 2][ly][lx] = here
        + cap * (p[q] + (now[up][lx] + now[down][lx] - 2.0f * here) * ry
                 + (now[ly][left] + now[ly][right] - 2.0f * here) * rx + (around - here) * rz);
    }
    __syncthreads();
  }
  if (lx < HEAT_STEPS || lx >= HEAT_W - HEAT_STEPS || c >= cols)
    return;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int ly = threadIdx.y + 8 * q, r = r0 + ly;
    if (ly >= HEAT_STEPS && ly < HEAT_H - HEAT_STEPS && r < rows)
      to[r * cols + c] = tile[HEAT_STEPS % 2][ly][lx];
  }
}
static void hotspot()
{
  if (!is_wanted("hotspot"))
    return;
  const int rows = SIZED(2048, 50), cols = SIZED(2100, 70), steps = 8, n = rows * cols;
  Array<float> power(n), start(n), a(n), b(n);
  power.fill([](long i) { return 0.25f * (8 + value(i)); });
  start.fill([](long i) { return 300.f + value(i + 5); });
  const auto naive = [&] {
    float *from = start.at, *to = a.at, *other = b.at;
    for (int s = 0; s < steps; s++) {
      hotspot_naive<<<dim3(blocks(cols, 256), rows), 256>>>(power.at, from, to, rows, cols, 0.5f, 0.125f, 0.25f,
                                                            0.0625f, 80.0f);
      from = to;
      to = other;
      other = from;
    }
  };
  const dim3 grid(blocks(cols, HEAT_W - 2 * HEAT_STEPS), blocks(rows, HEAT_H - 2 * HEAT_STEPS));
  const auto tuned = [&] {
    const float *from = start.at;
    for (int s = 0; s < steps; s += HEAT_STEPS) {
      float *to = s + HEAT_STEPS < steps ? a.at : b.at;
      hotspot_tuned<<<grid, dim3(HEAT_W, 8)>>>(power.at, from, to, rows, cols, 0.5f, 0.125f, 0.25f, 0.0625f, 80.0f);
      from = to;
    }
  };
  compare("hotspot", ROUNDED, naive, tuned, [&] { return b.sum(true); });
}

__global__ void srad_begin(float *image, const float *__restrict__ start, long n)
{
  const long i = this_thread();
  if (i < n)
    image[i] = start[i];
}
__global__ void srad_sums(const float *__restrict__ image, double *sums, int cols, int r1, int r2, int c1, int c2)
{
  const int j = c1 + this_thread(), i = r1 + blockIdx.y;
  const double t = j <= c2 ? image[(long)i * cols + j] : 0;
  const double sum = tree_sum(t), square = tree_sum(t * t);
  if (threadIdx.x == 0) {
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], square);
  }
}
static __host__ __device__ float srad_spread(double sum, double square, double count)
{
  const double mean = sum / count;
  return (float)((square / count - mean * mean) / (mean * mean));
}
static __device__ __forceinline__ float srad_coefficient(float here, float n, float s, float w, float e, float q0)
{
  const float g2 = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
  const float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
  return fminf(fmaxf(1.0f / (1.0f + (q - q0) / (q0 * (1 + q0))), 0.f), 1.f);
}
__global__ void srad_first(const float *__restrict__ image, float *__restrict__ coef, float *__restrict__ dN,
                           float *__restrict__ dS, float *__restrict__ dW, float *__restrict__ dE,
                           const int *__restrict__ iN, const int *__restrict__ iS, const int *__restrict__ jW,
                           const int *__restrict__ jE, long rows, long cols, float q0)
{
  const long j = this_thread(), i = blockIdx.y;
  if (j >= cols)
    return;
  const long k = i * cols + j;
  const float here = image[k];
  const float n = image[iN[i] * cols + j] - here, s = image[iS[i] * cols + j] - here;
  const float w = image[i * cols + jW[j]] - here, e = image[i * cols + jE[j]] - here;
  dN[k] = n, dS[k] = s, dW[k] = w, dE[k] = e;
  coef[k] = srad_coefficient(here, n, s, w, e, q0);
}
__global__ void srad_second(float *__restrict__ image, const float *__restrict__ coef, const float *__restrict__ dN,
                            const float *__restrict__ dS, const float *__restrict__ dW, const float *__restrict__ dE,
                            const int *__restrict__ iS, const int *__restrict__ jE, long rows, long cols, float lambda)
{
  const long j = this_thread(), i = blockIdx.y;
  if (j >= cols)
    return;
  const long k = i * cols + j;
  const float c = coef[k], cS = coef[iS[i] * cols + j], cE = coef[i * cols + jE[j]];
  image[k] += 0.25f * lambda * (c * dN[k] + cS * dS[k] + c * dW[k] + cE * dE[k]);
}
/* The sums stay on the device. */
__global__ void __launch_bounds__(256)
  srad_sums_tuned(const float *__restrict__ image, double *sums, int cols, int r1, int r2, int c1, int c2)
{
  double sum = 0, square = 0;
  for (int i = r1 + blockIdx.x; i <= r2; i += gridDim.x)
    for (int j = c1 + threadIdx.x; j <= c2; j += 256) {
      const float t = image[(long)i * cols + j];
      sum += t;
      square += (double)t * t;
    }
  sum = warp_sum(sum), square = warp_sum(square);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], square);
  }
}
/* Both passes in one: coefficients of a tile and of what is beside it. */
__global__ void __launch_bounds__(256)
  srad_tuned(const float *__restrict__ from, float *__restrict__ to, const double *__restrict__ sums, double count,
             int rows, int cols, float lambda)
{
  __shared__ float tile[19][36], coef[17][34], q0;
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, i0 = blockIdx.y * 16, j0 = blockIdx.x * 32;
  if (t == 0)
    q0 = srad_spread(sums[0], sums[1], count);
  for (int at = t; at < 19 * 35; at += 256) {
    const int y = at / 35, x = at % 35;
    const int i = min(max(i0 + y - 1, 0), rows - 1), j = min(max(j0 + x - 1, 0), cols - 1);
    tile[y][x] = from[(long)i * cols + j];
  }
  __syncthreads();
  for (int at = t; at < 17 * 33; at += 256) {
    const int y = at / 33, x = at % 33;
    const float here = tile[y + 1][x + 1];
    coef[y][x] = srad_coefficient(here, tile[y][x + 1] - here, tile[y + 2][x + 1] - here, tile[y + 1][x] - here,
                                  tile[y + 1][x + 2] - here, q0);
  }
  __syncthreads();
#pragma unroll
  for (int q = 0; q < 2; q++) {
    const int y = ty + 8 * q, i = i0 + y, j = j0 + tx;
    if (i >= rows || j >= cols)
      continue;
    const float here = tile[y + 1][tx + 1], c = coef[y][tx];
    const float cS = i < rows - 1 ? coef[y + 1][tx] : c, cE = j < cols - 1 ? coef[y][tx + 1] : c;
    to[(long)i * cols + j] = here
      + 0.25f * lambda * (c * (tile[y][tx + 1] - here) + cS * (tile[y + 2][tx + 1] - here)
                          + c * (tile[y + 1][tx] - here) + cE * (tile[y + 1][tx + 2] - here));
  }
}
static void srad()
{
  if (!is_wanted("srad"))
    return;
  const int rows = SIZED(1500, 40), cols = SIZED(2000, 50), n = rows * cols;
  const int r1 = 5, r2 = rows / 2, c1 = 3, c2 = cols - 4;
  const double count = (double)(r2 - r1 + 1) * (c2 - c1 + 1);
  Array<float> image(n), start(n), coef(n), dN(n), dS(n), dW(n), dE(n);
  Array<int> iN(rows), iS(rows), jW(cols), jE(cols);
  Array<double> sums(2);
  start.fill([](long i) { return 20.f + value(i); });
  iN.fill([](long i) { return i > 0 ? (int)i - 1 : 0; });
  iS.fill([&](long i) { return i < rows - 1 ? (int)i + 1 : (int)i; });
  jW.fill([](long j) { return j > 0 ? (int)j - 1 : 0; });
  jE.fill([&](long j) { return j < cols - 1 ? (int)j + 1 : (int)j; });
  const dim3 grid(blocks(cols, 256), rows);
  const auto naive = [&] {
    srad_begin<<<blocks(n, 256), 256>>>(image.at, start.at, n);
    for (int s = 0; s < 2; s++) {
      failed(cudaMemset(sums.at, 0, 2 * sizeof(double)));
      srad_sums<<<dim3(blocks(c2 - c1 + 1, 256), r2 - r1 + 1), 256>>>(image.at, sums.at, cols, r1, r2, c1, c2);
      double host[2];
      failed(cudaMemcpy(host, sums.at, sizeof host, cudaMemcpyDeviceToHost));
      srad_first<<<grid, 256>>>(image.at, coef.at, dN.at, dS.at, dW.at, dE.at, iN.at, iS.at, jW.at, jE.at, rows, cols,
                                srad_spread(host[0], host[1], count));
      srad_second<<<grid, 256>>>(image.at, coef.at, dN.at, dS.at, dW.at, dE.at, iS.at, jE.at, rows, cols, 0.5f);
    }
  };
  const auto tuned = [&] {
    const float *from = start.at;
    for (int s = 0; s < 2; s++) {
      float *to = s == 0 ? coef.at : image.at;
      failed(cudaMemsetAsync(sums.at, 0, 2 * sizeof(double)));
      srad_sums_tuned<<<WIDE / 4, 256>>>(from, sums.at, cols, r1, r2, c1, c2);
      srad_tuned<<<dim3(blocks(cols, 32), blocks(rows, 16)), dim3(32, 8)>>>(from, to, sums.at, count, rows, cols, 0.5f);
      from = to;
    }
  };
  compare("srad", ROUNDED, naive, tuned, [&] { return image.sum(true); });
}

__global__ void pathfinder_begin(const int *__restrict__ wall, int *__restrict__ src, int cols)
{
  const int j = this_thread();
  if (j < cols)
    src[j] = wall[j];
}
__global__ void pathfinder_naive(const int *__restrict__ wall, const int *__restrict__ src, int *__restrict__ dst, int t,
                                 int cols)
{
  const int j = this_thread();
  if (j >= cols)
    return;
  int least = src[j];
  if (j > 0)
    least = min(least, src[j - 1]);
  if (j < cols - 1)
    least = min(least, src[j + 1]);
  dst[j] = wall[t * cols + j] + least;
}
/* Many rows at once; the ends of a part of the wall are found twice. */
constexpr int PATH_THREADS = 512, PATH_STEPS = SIZED(16, 7), PATH_PART = PATH_THREADS - 2 * PATH_STEPS;
__global__ void __launch_bounds__(PATH_THREADS)
  pathfinder_tuned(const int *__restrict__ wall, const int *__restrict__ src, int *__restrict__ dst, int t, int steps,
                   int cols)
{
  __shared__ int row[2][PATH_THREADS + 2];
  const int x = threadIdx.x + 1, j = blockIdx.x * PATH_PART + threadIdx.x - PATH_STEPS;
  const bool inside = j >= 0 && j < cols;
  const int far = 1 << 30;
  int mine = inside ? src[j] : far;
  if (x == 1)
    row[0][0] = row[1][0] = row[0][PATH_THREADS + 1] = row[1][PATH_THREADS + 1] = far;
#pragma unroll 4
  for (int s = 0; s < steps; s++) {
    const int cost = inside ? wall[(t + s) * cols + j] : 0;
    row[s % 2][x] = mine;
    __syncthreads();
    mine = inside ? cost + min(mine, min(row[s % 2][x - 1], row[s % 2][x + 1])) : far;
  }
  if (inside && x > PATH_STEPS && x <= PATH_THREADS - PATH_STEPS)
    dst[j] = mine;
}
static void pathfinder()
{
  if (!is_wanted("pathfinder"))
    return;
  const int rows = SIZED(51, 21), cols = SIZED(1000003, 1500);
  Array<int> wall((long)rows * cols), a(cols), b(cols);
  wall.fill([](long i) { return (int)(mixed(i) % 10); });
  int *result = a.at;
  const auto naive = [&] {
    int *src = a.at, *dst = b.at;
    pathfinder_begin<<<blocks(cols, 256), 256>>>(wall.at, src, cols);
    for (int t = 1; t < rows; t++) {
      pathfinder_naive<<<blocks(cols, 256), 256>>>(wall.at, src, dst, t, cols);
      std::swap(src, dst);
    }
    result = src;
  };
  const auto tuned = [&] {
    const int *src = wall.at;
    int *dst = b.at, *other = a.at;
    for (int t = 1; t < rows; t += PATH_STEPS) {
      const int steps = std::min(PATH_STEPS, rows - t);
      pathfinder_tuned<<<blocks(cols, PATH_PART), PATH_THREADS>>>(wall.at, src, dst, t, steps, cols);
      src = dst;
      std::swap(dst, other);
    }
    result = other;
  };
  compare("pathfinder", EXACT, naive, tuned, [&] {
    const double sums[2] = { a.sum(), b.sum() };
    return result == a.at ? sums[0] : sums[1];
  });
}

__global__ void gaussian_begin(float *a, const float *__restrict__ a0, float *b, const float *__restrict__ b0, int size)
{
  const int i = this_thread();
  if (i < size * size)
    a[i] = a0[i];
  if (i < size)
    b[i] = b0[i];
}
__global__ void gaussian_fan1(float *m, const float *a, int size, int t)
{
  const int i = this_thread();
  if (i < size - 1 - t)
    m[size * (t + 1 + i) + t] = a[size * (t + 1 + i) + t] / a[size * t + t];
}
/* A block for each row, as teams are there. */
__global__ void gaussian_fan2(const float *m, float *a, float *b, int size, int t)
{
  const int i = blockIdx.x;
  for (int j = threadIdx.x; j < size - t; j += blockDim.x) {
    a[size * (t + 1 + i) + t + j] -= m[size * (t + 1 + i) + t] * a[size * t + t + j];
    if (j == 0)
      b[t + 1 + i] -= m[size * (t + 1 + i) + t] * b[t];
  }
}
/* One block with everything in shared memory, a warp for each row. */
constexpr int MOST = 100;
__global__ void __launch_bounds__(1024)
  gaussian_tuned(float *a, const float *__restrict__ a0, float *b, const float *__restrict__ b0, int size)
{
  __shared__ float all[MOST * MOST], right[MOST];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int i = t; i < size * size; i += 1024)
    all[i] = a0[i];
  if (t < size)
    right[t] = b0[t];
  __syncthreads();
  for (int step = 0; step < size - 1; step++) {
    const float *top = all + step * size;
    const float pivot = 1 / top[step];
    for (int i = step + 1 + warp; i < size; i += 32) {
      const float factor = all[i * size + step] * pivot;
      __syncwarp();
      for (int j = step + lane; j < size; j += 32)
        all[i * size + j] -= factor * top[j];
      if (lane == 0)
        right[i] -= factor * right[step];
    }
    __syncthreads();
  }
  for (int i = t; i < size * size; i += 1024)
    a[i] = all[i];
  if (t < size)
    b[t] = right[t];
}
static void gaussian()
{
  if (!is_wanted("gaussian"))
    return;
  const int size = SIZED(100, 40), n = size * size;
  Array<float> a0(n), b0(size), a(n), b(size), m(n);
  a0.fill([&](long i) { return i % (size + 1) == 0 ? 40 : 10.0f / (1 + std::abs((int)(i / size - i % size))); });
  b0.fill([](long i) { return 20.f + value(i); });
  const auto naive = [&] {
    gaussian_begin<<<blocks(n, 128), 128>>>(a.at, a0.at, b.at, b0.at, size);
    for (int t = 0; t < size - 1; t++) {
      gaussian_fan1<<<blocks(size - 1 - t, 128), 128>>>(m.at, a.at, size, t);
      gaussian_fan2<<<size - 1 - t, 128>>>(m.at, a.at, b.at, size, t);
    }
  };
  const auto tuned = [&] { gaussian_tuned<<<1, 1024>>>(a.at, a0.at, b.at, b0.at, size); };
  compare("gaussian", ROUNDED, naive, tuned, [&] {
    const std::vector<float> upper = a.get();
    a.clear();
    double sum = b.sum(true);
    for (int i = 0; i < n; i++)
      if (i % size >= i / size)
        sum += std::fabs(upper[i]);
    return sum;
  });
}

static __device__ void largest(unsigned long long *all, double x)
{
  atomicMax(all, (unsigned long long)__double_as_longlong(x));
}
__global__ void relax7_naive(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, long sy,
                             long sz, unsigned long long *diff)
{
  __shared__ double all[256];
  const int i = 1 + this_thread(), j = 1 + blockIdx.y, k = 1 + blockIdx.z, t = threadIdx.x;
  double d = 0;
  if (i < nx - 1) {
    const long p = k * sz + j * sy + i;
    const double next = (in[p - 1] + in[p + 1] + in[p - sy] + in[p + sy] + in[p - sz] + in[p + sz]) / 6;
    d = fabs(next - in[p]);
    out[p] = next;
  }
  all[t] = d;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = fmax(all[t], all[t + far]);
  }
  if (t == 0)
    largest(diff, all[0]);
}
/* Each thread goes along a column, whose last points stay in registers. */
constexpr int DEEP = SIZED(32, 7);
__global__ void __launch_bounds__(256)
  relax7_tuned(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, int sy, int sz,
               unsigned long long *diff)
{
  __shared__ double warps[8];
  const int i = 1 + blockIdx.x * 32 + threadIdx.x, j = 1 + blockIdx.y * 8 + threadIdx.y, k0 = 1 + blockIdx.z * DEEP;
  double most = 0;
  if (i < nx - 1 && j < ny - 1) {
    int p = k0 * sz + j * sy + i;
    double below = in[p - sz], here = in[p];
    const int end = min(k0 + DEEP, nz - 1);
#pragma unroll 4
    for (int k = k0; k < end; k++, p += sz) {
      const double above = in[p + sz];
      const double next = (in[p - 1] + in[p + 1] + in[p - sy] + in[p + sy] + below + above) * (1. / 6);
      most = fmax(most, fabs(next - here));
      out[p] = next;
      below = here;
      here = above;
    }
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    most = fmax(most, __shfl_xor_sync(~0u, most, far));
  if (threadIdx.x == 0)
    warps[threadIdx.y] = most;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int w = 1; w < 8; w++)
      most = fmax(most, warps[w]);
    largest(diff, most);
  }
}
static void relax7()
{
  if (!is_wanted("relax7"))
    return;
  const int nx = SIZED(250, 40), ny = SIZED(240, 17), nz = SIZED(260, 20);
  const long sy = nx + 3, sz = sy * (ny + 1), n = sz * nz;
  Array<double> start(n), a(n), b(n);
  Array<unsigned long long> diff(1);
  start.fill();
  double last = 0;
  const auto sweeps = [&](auto sweep) {
    double *from = start.at, *to = a.at, *other = b.at;
    last = 100;
    for (int s = 0; s < 4 && last > 0.001; s++) {
      diff.clear();
      sweep(from, to);
      const unsigned long long word = fetched(diff.at);
      memcpy(&last, &word, sizeof last);
      from = to;
      to = other;
      other = from;
    }
  };
  const auto naive = [&](const double *from, double *to) {
    relax7_naive<<<dim3(blocks(nx - 2, 256), ny - 2, nz - 2), 256>>>(from, to, nx, ny, nz, sy, sz, diff.at);
  };
  const dim3 grid(blocks(nx - 2, 32), blocks(ny - 2, 8), blocks(nz - 2, DEEP));
  const auto tuned = [&](const double *from, double *to) {
    relax7_tuned<<<grid, dim3(32, 8)>>>(from, to, nx, ny, nz, (int)sy, (int)sz, diff.at);
  };
  compare(
    "relax7", ROUNDED, [&] { sweeps(naive); }, [&] { sweeps(tuned); },
    [&] {
      a.clear();
      return b.sum(true) + 1000 * last;
    });
}

__global__ void fdtd_begin(int nx, int ny, double *__restrict__ ex, double *__restrict__ ey, double *__restrict__ hz,
                           const double *__restrict__ hz0)
{
  const int j = this_thread(), at = blockIdx.y * ny + j;
  if (j < ny)
    ex[at] = 0, ey[at] = 0, hz[at] = hz0[at];
}
__global__ void fdtd_source(int t, int ny, double *ey)
{
  const int j = this_thread();
  if (j < ny)
    ey[j] = t;
}
__global__ void fdtd_ey(int ny, double *__restrict__ ey, const double *__restrict__ hz)
{
  const int j = this_thread(), at = (blockIdx.y + 1) * ny + j;
  if (j < ny)
    ey[at] = ey[at] - 0.5 * (hz[at] - hz[at - ny]);
}
__global__ void fdtd_ex(int ny, double *__restrict__ ex, const double *__restrict__ hz)
{
  const int j = 1 + this_thread(), at = blockIdx.y * ny + j;
  if (j < ny)
    ex[at] = ex[at] - 0.5 * (hz[at] - hz[at - 1]);
}
__global__ void fdtd_hz(int ny, const double *__restrict__ ex, const double *__restrict__ ey, double *__restrict__ hz)
{
  const int j = this_thread(), at = blockIdx.y * ny + j;
  if (j < ny - 1)
    hz[at] = hz[at] - 0.7 * (ex[at + 1] - ex[at] + ey[at + ny] - ey[at]);
}
/* All three of a step at once, from one copy to the other; the electric field beside is found again.
   Before the first step it is zero. */
template <bool FIRST>
__global__ void __launch_bounds__(256)
  fdtd_tuned(int t, int nx, int ny, const double *__restrict__ ex, const double *__restrict__ ey,
             const double *__restrict__ hz, double *__restrict__ ex2, double *__restrict__ ey2, double *__restrict__ hz2)
{
  const int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (j >= ny || i >= nx)
    return;
  const int at = i * ny + j;
  const double h = hz[at];
  const double x = (FIRST ? 0 : ex[at]) - (j > 0 ? 0.5 * (h - hz[at - 1]) : 0);
  const double y = i > 0 ? (FIRST ? 0 : ey[at]) - 0.5 * (h - hz[at - ny]) : t;
  double next = h;
  if (i < nx - 1 && j < ny - 1) {
    const double right = (FIRST ? 0 : ex[at + 1]) - 0.5 * (hz[at + 1] - h);
    const double below = (FIRST ? 0 : ey[at + ny]) - 0.5 * (hz[at + ny] - h);
    next = h - 0.7 * (right - x + below - y);
  }
  ex2[at] = x, ey2[at] = y, hz2[at] = next;
}
static void fdtd()
{
  if (!is_wanted("fdtd"))
    return;
  const int nx = SIZED(2000, 30), ny = SIZED(1700, 45), n = nx * ny;
  Array<double> ex(n), ey(n), hz(n), hz0(n), ex2(n), ey2(n), hz2(n);
  hz0.fill();
  const int wide = blocks(ny, 256);
  const auto naive = [&] {
    fdtd_begin<<<dim3(wide, nx), 256>>>(nx, ny, ex.at, ey.at, hz.at, hz0.at);
    for (int t = 0; t < 3; t++) {
      fdtd_source<<<wide, 256>>>(t, ny, ey.at);
      fdtd_ey<<<dim3(wide, nx - 1), 256>>>(ny, ey.at, hz.at);
      fdtd_ex<<<dim3(wide, nx), 256>>>(ny, ex.at, hz.at);
      fdtd_hz<<<dim3(wide, nx - 1), 256>>>(ny, ex.at, ey.at, hz.at);
    }
  };
  const dim3 grid(blocks(ny, 64), blocks(nx, 4)), threads(64, 4);
  const auto tuned = [&] {
    fdtd_tuned<true><<<grid, threads>>>(0, nx, ny, nullptr, nullptr, hz0.at, ex.at, ey.at, hz.at);
    fdtd_tuned<false><<<grid, threads>>>(1, nx, ny, ex.at, ey.at, hz.at, ex2.at, ey2.at, hz2.at);
    fdtd_tuned<false><<<grid, threads>>>(2, nx, ny, ex2.at, ey2.at, hz2.at, ex.at, ey.at, hz.at);
  };
  compare("fdtd", ROUNDED, naive, tuned, [&] { return hz.sum(true); });
}
