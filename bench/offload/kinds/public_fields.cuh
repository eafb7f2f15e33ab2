/* Those of public.cu with flows, filters and sums over a grid. */
#pragma once
#include "kinds.cuh"

static __device__ __forceinline__ double upwind(double speed, double before, double after)
{
  return speed > 0 ? speed * before : speed * after;
}
__global__ void advect_naive(int nx, int ny, double ax, double ay, const double *__restrict__ q,
                             double *__restrict__ next, const double *__restrict__ u, const double *__restrict__ v)
{
  const int i = 1 + this_thread(), j = 1 + blockIdx.y, at = j * nx + i;
  if (i > nx - 2)
    return;
  const double west = upwind(u[at], q[at - 1], q[at]), east = upwind(u[at + 1], q[at], q[at + 1]);
  const double south = upwind(v[at], q[at - nx], q[at]), north = upwind(v[at + nx], q[at], q[at + nx]);
  next[at] = q[at] - ax * (east - west) - ay * (north - south);
}
/* Each thread has some rows, what leaves one of them enters the next. */
constexpr int FLOW_ROWS = 8;
__global__ void __launch_bounds__(128)
  advect_tuned(int nx, int ny, double ax, double ay, const double *__restrict__ q, double *__restrict__ next,
               const double *__restrict__ u, const double *__restrict__ v)
{
  const int i = 1 + this_thread(), j0 = 1 + blockIdx.y * FLOW_ROWS;
  if (i > nx - 2)
    return;
  int at = j0 * nx + i;
  double here = q[at], south = upwind(v[at], q[at - nx], here);
#pragma unroll
  for (int r = 0; r < FLOW_ROWS; r++, at += nx) {
    if (j0 + r > ny - 2)
      break;
    const double above = q[at + nx], north = upwind(v[at + nx], here, above);
    const double west = upwind(u[at], q[at - 1], here), east = upwind(u[at + 1], here, q[at + 1]);
    next[at] = here - ax * (east - west) - ay * (north - south);
    south = north;
    here = above;
  }
}
static void advect()
{
  if (!is_wanted("advect"))
    return;
  const int nx = SIZED(2500, 40), ny = SIZED(2200, 30), n = nx * ny;
  const double ax = 0.01 / 0.5, ay = 0.01 / 0.25;
  Array<double> start(n), a(n), b(n), u(n), v(n);
  start.fill([](long i) { return 20. + value(i); });
  u.fill([](long i) { return 0.5 + value(i + 3); });
  v.fill([](long i) { return 0.25 + 0.5 * value(i + 11); });
  const auto naive = [&] {
    const dim3 grid(blocks(nx - 2, 128), ny - 2);
    advect_naive<<<grid, 128>>>(nx, ny, ax, ay, start.at, a.at, u.at, v.at);
    advect_naive<<<grid, 128>>>(nx, ny, ax, ay, a.at, b.at, u.at, v.at);
  };
  const auto tuned = [&] {
    const dim3 grid(blocks(nx - 2, 128), blocks(ny - 2, FLOW_ROWS));
    advect_tuned<<<grid, 128>>>(nx, ny, ax, ay, start.at, a.at, u.at, v.at);
    advect_tuned<<<grid, 128>>>(nx, ny, ax, ay, a.at, b.at, u.at, v.at);
  };
  compare("advect", ROUNDED, naive, tuned, [&] {
    a.clear();
    return b.sum(true);
  });
}

/* The nine numbers of a place that has been reached, solid or not. */
static __device__ __forceinline__ void d2q9_collide(float *f, bool is_solid, float omega, float *g, long stride, long p)
{
  if (is_solid) {
    g[p] = f[0];
    for (int k = 1; k < 9; k++)
      g[k * stride + p] = f[k < 3 ? k + 2 : k < 5 ? k - 2 : k < 7 ? k + 2 : k - 2];
    return;
  }
  const float rho = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8];
  const float ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho, uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho;
  const float square = 1 - 1.5f * (ux * ux + uy * uy), w1 = rho / 9, w5 = rho / 36, sum = ux + uy, less = uy - ux;
  g[p] = f[0] + omega * (4 * w1 * square - f[0]);
  g[1 * stride + p] = f[1] + omega * (w1 * (square + 3 * ux + 4.5f * ux * ux) - f[1]);
  g[2 * stride + p] = f[2] + omega * (w1 * (square + 3 * uy + 4.5f * uy * uy) - f[2]);
  g[3 * stride + p] = f[3] + omega * (w1 * (square - 3 * ux + 4.5f * ux * ux) - f[3]);
  g[4 * stride + p] = f[4] + omega * (w1 * (square - 3 * uy + 4.5f * uy * uy) - f[4]);
  g[5 * stride + p] = f[5] + omega * (w5 * (square + 3 * sum + 4.5f * sum * sum) - f[5]);
  g[6 * stride + p] = f[6] + omega * (w5 * (square + 3 * less + 4.5f * less * less) - f[6]);
  g[7 * stride + p] = f[7] + omega * (w5 * (square - 3 * sum + 4.5f * sum * sum) - f[7]);
  g[8 * stride + p] = f[8] + omega * (w5 * (square - 3 * less + 4.5f * less * less) - f[8]);
}
__global__ void d2q9_naive(int nx, int ny, long stride, float omega, const float *__restrict__ in, float *__restrict__ g,
                           const unsigned char *__restrict__ solid)
{
  const long p = this_thread();
  if (p >= (long)nx * ny)
    return;
  const int x = p % nx, y = p / nx, east = x + 1 < nx ? x + 1 : 0, west = x > 0 ? x - 1 : nx - 1;
  const int north = y + 1 < ny ? y + 1 : 0, south = y > 0 ? y - 1 : ny - 1;
  float f[9] = { in[p],
                 in[1 * stride + y * nx + west],
                 in[2 * stride + south * nx + x],
                 in[3 * stride + y * nx + east],
                 in[4 * stride + north * nx + x],
                 in[5 * stride + south * nx + west],
                 in[6 * stride + south * nx + east],
                 in[7 * stride + north * nx + east],
                 in[8 * stride + north * nx + west] };
  d2q9_collide(f, solid[p], omega, g, stride, p);
}
/* No divisions by sizes, and subscripts of 32 bits. */
__global__ void __launch_bounds__(128)
  d2q9_tuned(int nx, int ny, int stride, float omega, const float *__restrict__ in, float *__restrict__ g,
             const unsigned char *__restrict__ solid)
{
  const int x = this_thread(), y = blockIdx.y;
  if (x >= nx)
    return;
  const int here = y * nx, up = (y + 1 < ny ? y + 1 : 0) * nx, down = (y > 0 ? y - 1 : ny - 1) * nx;
  const int east = x + 1 < nx ? x + 1 : 0, west = x > 0 ? x - 1 : nx - 1, p = here + x;
  const unsigned char is_solid = solid[p];
  float f[9] = { in[p],
                 in[1 * stride + here + west],
                 in[2 * stride + down + x],
                 in[3 * stride + here + east],
                 in[4 * stride + up + x],
                 in[5 * stride + down + west],
                 in[6 * stride + down + east],
                 in[7 * stride + up + east],
                 in[8 * stride + up + west] };
  if (is_solid) {
    float t[9] = { f[0], f[3], f[4], f[1], f[2], f[7], f[8], f[5], f[6] };
#pragma unroll
    for (int k = 0; k < 9; k++)
      __stcs(&g[k * stride + p], t[k]);
    return;
  }
  const float rho = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8], one = __fdividef(1.f, rho);
  const float ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) * one, uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) * one;
  const float square = 1 - 1.5f * (ux * ux + uy * uy), keep = 1 - omega;
  const float w1 = omega * rho * (1 / 9.f), w5 = omega * rho * (1 / 36.f);
  const auto put = [&](int k, float w, float c) {
    __stcs(&g[k * stride + p], keep * f[k] + w * (square + c * (3 + 4.5f * c)));
  };
  put(0, 4 * w1, 0);
  put(1, w1, ux), put(2, w1, uy), put(3, w1, -ux), put(4, w1, -uy);
  put(5, w5, ux + uy), put(6, w5, uy - ux), put(7, w5, -ux - uy), put(8, w5, ux - uy);
}
static void d2q9()
{
  if (!is_wanted("d2q9"))
    return;
  const int nx = SIZED(2000, 40), ny = SIZED(1800, 30);
  const long count = (long)nx * ny, stride = count + 32;
  Array<float> f(9 * stride), g(9 * stride);
  Array<unsigned char> solid(count);
  f.fill([](long i) { return 0.25f + 0.0078125f * value(i); });
  solid.fill([](long i) { return (unsigned char)(mixed(i / 8) % 10 == 0); });
  compare(
    "d2q9", ROUNDED,
    [&] { d2q9_naive<<<blocks(count, 128), 128>>>(nx, ny, stride, 1.25f, f.at, g.at, solid.at); },
    [&] { d2q9_tuned<<<dim3(blocks(nx, 128), ny), 128>>>(nx, ny, (int)stride, 1.25f, f.at, g.at, solid.at); },
    [&] { return g.sum(true); });
}

__global__ void star_naive(const double *__restrict__ in, double *__restrict__ out, const double *__restrict__ weight,
                           unsigned n, int r)
{
  const unsigned j = r + this_thread(), i = r + blockIdx.y;
  const int width = 2 * r + 1;
  if (j >= n - r)
    return;
  double sum = weight[r * width + r] * in[i * n + j];
  for (int k = 1; k <= r; k++) {
    sum += weight[r * width + r + k] * in[i * n + j + k] + weight[r * width + r - k] * in[i * n + j - k];
    sum += weight[(r + k) * width + r] * in[(i + k) * n + j] + weight[(r - k) * width + r] * in[(i - k) * n + j];
  }
  out[i * n + j] = sum;
}
/* A thread goes down a column, what it has of it in registers; a row comes from shared memory. */
constexpr int STAR_ROWS = SIZED(64, 12);
template <int R>
__global__ void __launch_bounds__(128)
  star_tuned(const double *__restrict__ in, double *__restrict__ out, const double *__restrict__ weight, int n)
{
  __shared__ double row[2][128 + 2 * R];
  const int t = threadIdx.x, j0 = R + blockIdx.x * 128, j = j0 + t, column = min(j, n - 1);
  const int i0 = R + blockIdx.y * STAR_ROWS, end = min(i0 + STAR_ROWS, n - R);
  double across[2 * R + 1], down[2 * R + 1], last[2 * R + 1];
#pragma unroll
  for (int k = 0; k <= 2 * R; k++) {
    across[k] = weight[R * (2 * R + 1) + k];
    down[k] = weight[k * (2 * R + 1) + R];
    if (k < 2 * R)
      last[k + 1] = in[(i0 - R + k) * n + column];
  }
  for (int i = i0; i < end; i++) {
#pragma unroll
    for (int k = 0; k < 2 * R; k++)
      last[k] = last[k + 1];
    last[2 * R] = in[(i + R) * n + column];
    double *line = row[(i - i0) % 2];
    line[R + t] = last[R];
    if (t < R)
      line[t] = in[i * n + j0 - R + t];
    else if (t >= 128 - R)
      line[t + 2 * R] = in[i * n + min(j + R, n - 1)];
    __syncthreads();
    double sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * R; k++)
      sum += across[k] * line[t + k] + (k == R ? 0 : down[k] * last[k]);
    if (j < n - R)
      out[i * n + j] = sum;
  }
}
static void star()
{
  if (!is_wanted("star"))
    return;
  const int n = SIZED(3900, 60), r = 3, width = 2 * r + 1;
  Array<double> in((long)n * n), out((long)n * n), weight(width * width);
  in.fill();
  weight.fill([](long i) { return 0.25 * value(i + 4); });
  const int wide = blocks(n - 2 * r, 128);
  compare(
    "star", EXACT, [&] { star_naive<<<dim3(wide, n - 2 * r), 128>>>(in.at, out.at, weight.at, n, r); },
    [&] { star_tuned<3><<<dim3(wide, blocks(n - 2 * r, STAR_ROWS)), 128>>>(in.at, out.at, weight.at, n); },
    [&] { return out.sum(); });
}

static __device__ __forceinline__ int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
__global__ void bilateral_naive(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ space,
                                int w, int h, int radius, float range)
{
  const int x = this_thread(), y = blockIdx.y;
  if (x >= w)
    return;
  const float here = in[y * w + x];
  float sum = 0, all = 0;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      const float other = in[clamped(y + dy, h) * w + clamped(x + dx, w)];
      const float weight = space[(dy + radius) * (2 * radius + 1) + dx + radius]
        * expf(-(other - here) * (other - here) * range);
      sum += weight * other;
      all += weight;
    }
  out[y * w + x] = sum / all;
}
/* A tile with its border in shared memory; each thread has two points, and exponents are to the base of two. */
template <int R>
__global__ void __launch_bounds__(256)
  bilateral_tuned(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ space, int w, int h,
                  float range)
{
  constexpr int WIDTH = 2 * R + 1;
  __shared__ float tile[16 + 2 * R][32 + 2 * R], near[WIDTH * WIDTH];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int at = t; at < (16 + 2 * R) * (32 + 2 * R); at += 256) {
    const int y = at / (32 + 2 * R), x = at % (32 + 2 * R);
    tile[y][x] = in[clamped(y0 + y - R, h) * w + clamped(x0 + x - R, w)];
  }
  if (t < WIDTH * WIDTH)
    near[t] = space[t];
  __syncthreads();
  const float scale = -range * 1.44269504f;
  float sum[2] = {}, all[2] = {};
  const float here[2] = { tile[ty + R][tx + R], tile[ty + 8 + R][tx + R] };
#pragma unroll 3
  for (int dy = 0; dy < WIDTH; dy++)
#pragma unroll
    for (int dx = 0; dx < WIDTH; dx++)
#pragma unroll
      for (int q = 0; q < 2; q++) {
        const float other = tile[ty + 8 * q + dy][tx + dx], d = other - here[q];
        const float weight = near[dy * WIDTH + dx] * exp2f(d * d * scale);
        sum[q] += weight * other;
        all[q] += weight;
      }
#pragma unroll
  for (int q = 0; q < 2; q++)
    if (x0 + tx < w && y0 + ty + 8 * q < h)
      out[(y0 + ty + 8 * q) * w + x0 + tx] = __fdividef(sum[q], all[q]);
}
static void bilateral()
{
  if (!is_wanted("bilateral"))
    return;
  const int w = SIZED(1400, 50), h = SIZED(1000, 40), radius = 4, wide = 2 * radius + 1;
  Array<float> in(w * h), out(w * h), space(wide * wide);
  in.fill([](long i) { return 10.f + value(i); });
  space.fill([&](long i) {
    const int y = (int)i / wide - radius, x = (int)i % wide - radius;
    return expf(-0.05f * (y * y + x * x));
  });
  compare(
    "bilateral", ROUNDED,
    [&] { bilateral_naive<<<dim3(blocks(w, 128), h), 128>>>(in.at, out.at, space.at, w, h, radius, 0.02f); },
    [&] {
      bilateral_tuned<4><<<dim3(blocks(w, 32), blocks(h, 16)), dim3(32, 8)>>>(in.at, out.at, space.at, w, h, 0.02f);
    },
    [&] { return out.sum(); });
}

struct Totals {
  double sum[5];
  unsigned long long step;
};
static __device__ __forceinline__ double squares(const double *__restrict__ xvel, const double *__restrict__ yvel, int at)
{
  return xvel[at] * xvel[at] + yvel[at] * yvel[at];
}
static __device__ void least(unsigned long long *all, double x)
{
  atomicMin(all, (unsigned long long)__double_as_longlong(x));
}
__global__ void summary_naive(const double *__restrict__ volume, const double *__restrict__ density,
                              const double *__restrict__ energy, const double *__restrict__ pressure,
                              const double *__restrict__ xvel, const double *__restrict__ yvel, int x_min, int x_max,
                              int y_min, int wide, Totals *totals)
{
  __shared__ double steps[256];
  const int j = x_min + this_thread(), k = y_min + blockIdx.y, at = k * wide + j, t = threadIdx.x;
  double mine[5] = {}, step = 1e10;
  if (j <= x_max) {
    double square = 0;
    for (int kv = k; kv <= k + 1; kv++)
      for (int jv = j; jv <= j + 1; jv++)
        square += 0.25 * squares(xvel, yvel, kv * wide + jv);
    const double mass = volume[at] * density[at], sound = sqrt(1.4 * pressure[at] / density[at]);
    mine[0] = volume[at];
    mine[1] = mass;
    mine[2] = mass * energy[at];
    mine[3] = mass * 0.5 * square;
    mine[4] = volume[at] * pressure[at];
    step = 0.7 * volume[at] / (sound + sqrt(square));
  }
  for (int s = 0; s < 5; s++) {
    const double sum = tree_sum(mine[s]);
    if (t == 0)
      atomicAdd(&totals->sum[s], sum);
  }
  steps[t] = step;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      steps[t] = fmin(steps[t], steps[t + far]);
  }
  if (t == 0)
    least(&totals->step, steps[0]);
}
/* Each thread goes down some rows: the corners below are those above of the next. One atomic for a block. */
constexpr int SUMMARY_ROWS = SIZED(16, 5);
__global__ void __launch_bounds__(256)
  summary_tuned(const double *__restrict__ volume, const double *__restrict__ density, const double *__restrict__ energy,
                const double *__restrict__ pressure, const double *__restrict__ xvel, const double *__restrict__ yvel,
                int x_min, int x_max, int y_min, int y_max, int wide, Totals *totals)
{
  __shared__ double warps[6][8];
  const int j = x_min + this_thread(), k0 = y_min + blockIdx.y * SUMMARY_ROWS, end = min(k0 + SUMMARY_ROWS, y_max + 1);
  double mine[6] = { 0, 0, 0, 0, 0, 1e10 };
  if (j <= x_max) {
    int at = k0 * wide + j;
    double before = squares(xvel, yvel, at) + squares(xvel, yvel, at + 1);
#pragma unroll 4
    for (int k = k0; k < end; k++, at += wide) {
      const double v = volume[at], d = density[at], p = pressure[at];
      const double after = squares(xvel, yvel, at + wide) + squares(xvel, yvel, at + wide + 1);
      const double square = 0.25 * (before + after), mass = v * d;
      before = after;
      mine[0] += v;
      mine[1] += mass;
      mine[2] += mass * energy[at];
      mine[3] += mass * 0.5 * square;
      mine[4] += v * p;
      mine[5] = fmin(mine[5], 0.7 * v / (sqrt(1.4 * p / d) + sqrt(square)));
    }
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int s = 0; s < 6; s++) {
#pragma unroll
    for (int far = 16; far > 0; far /= 2) {
      const double other = __shfl_xor_sync(~0u, mine[s], far);
      mine[s] = s < 5 ? mine[s] + other : fmin(mine[s], other);
    }
    if (lane == 0)
      warps[s][warp] = mine[s];
  }
  __syncthreads();
  if (threadIdx.x < 6) {
    double all = warps[threadIdx.x][0];
    for (int w = 1; w < 8; w++)
      all = threadIdx.x < 5 ? all + warps[threadIdx.x][w] : fmin(all, warps[threadIdx.x][w]);
    if (threadIdx.x < 5)
      atomicAdd(&totals->sum[threadIdx.x], all);
    else
      least(&totals->step, all);
  }
}
static void summary()
{
  if (!is_wanted("summary"))
    return;
  const int nx = SIZED(2800, 50), ny = SIZED(2900, 40), wide = nx + 5, n = wide * (ny + 5);
  Array<double> volume(n), density(n), energy(n), pressure(n), xvel(n), yvel(n);
  Array<Totals> totals(1);
  volume.fill([](long i) { return 10. + value(i); });
  density.fill([](long i) { return 9. + value(i + 1); });
  energy.fill([](long i) { return 12. + value(i + 2); });
  pressure.fill([](long i) { return 11. + value(i + 3); });
  xvel.fill([](long i) { return (double)value(i + 4); });
  yvel.fill([](long i) { return (double)value(i + 5); });
  Totals result;
  const auto begin = [&] {
    failed(cudaMemsetAsync(totals.at, 0, sizeof(Totals)));
    failed(cudaMemsetAsync(&totals.at->step, 0x7f, sizeof(double)));
  };
  const auto naive = [&] {
    begin();
    summary_naive<<<dim3(blocks(nx, 256), ny), 256>>>(volume.at, density.at, energy.at, pressure.at, xvel.at, yvel.at, 2,
                                                      nx + 1, 2, wide, totals.at);
    result = fetched(totals.at);
  };
  const auto tuned = [&] {
    begin();
    summary_tuned<<<dim3(blocks(nx, 256), blocks(ny, SUMMARY_ROWS)), 256>>>(
      volume.at, density.at, energy.at, pressure.at, xvel.at, yvel.at, 2, nx + 1, 2, ny + 1, wide, totals.at);
    result = fetched(totals.at);
  };
  compare("summary", ROUNDED, naive, tuned, [&] {
    double sum = 0, step;
    for (int s = 0; s < 5; s++)
      sum += (s + 1) * result.sum[s];
    memcpy(&step, &result.step, sizeof step);
    return sum * step;
  });
}
