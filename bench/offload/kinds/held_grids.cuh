/* Those of held.cu that go over whole arrays in order. */
#pragma once
#include "kinds.cuh"

__global__ void laplace_wrap_naive(int n, const float *__restrict__ a, float *__restrict__ b)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= n || y >= n)
    return;
#define AT(z, y, x) a[((z) * n + (y)) * n + (x)]
  b[(z * n + y) * n + x] = AT((z + n - 1) % n, y, x) + AT((z + 1) % n, y, x) + AT(z, (y + n - 1) % n, x)
    + AT(z, (y + 1) % n, x) + AT(z, y, (x + n - 1) % n) + AT(z, y, (x + 1) % n) - 6 * AT(z, y, x);
}
/* Planes come by, and stay in registers for two more; no divisions. */
constexpr int PLANES = 20;
__global__ void laplace_wrap_tuned(int n, const float *__restrict__ a, float *__restrict__ b)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y, first = blockIdx.z * PLANES;
  if (x >= n || y >= n)
    return;
  const int left = x ? x - 1 : n - 1, right = x < n - 1 ? x + 1 : 0;
  const int up = y ? y - 1 : n - 1, down = y < n - 1 ? y + 1 : 0;
  float above = AT(first ? first - 1 : n - 1, y, x), here = AT(first, y, x);
#pragma unroll 4
  for (int z = first; z < min(first + PLANES, n); z++) {
    const float below = AT(z < n - 1 ? z + 1 : 0, y, x);
    const float beside = AT(z, up, x) + AT(z, down, x) + AT(z, y, left) + AT(z, y, right);
    b[(z * n + y) * n + x] = above + below + beside - 6 * here;
    above = here, here = below;
  }
#undef AT
}
static void laplace_wrap()
{
  if (!is_wanted("laplace_wrap"))
    return;
  const int n = SIZED(400, 20);
  Array<float> a((long)n * n * n), b((long)n * n * n);
  a.fill();
  const int across = blocks(n, 32), down = blocks(n, 8);
  compare(
    "laplace_wrap", EXACT, [&] { laplace_wrap_naive<<<dim3(across, down, n), dim3(32, 8)>>>(n, a.at, b.at); },
    [&] { laplace_wrap_tuned<<<dim3(across, down, blocks(n, PLANES)), dim3(32, 8)>>>(n, a.at, b.at); },
    [&] { return b.sum(); });
}

/* 8 dimensions, 32 centres. */
__global__ void nearest_centre_naive(int n, const float *__restrict__ point, const float *__restrict__ centre,
                                     int *__restrict__ label)
{
  const int i = this_thread();
  if (i >= n)
    return;
  int best = 0;
  float least = 1e30f;
  for (int k = 0; k < 32; k++) {
    float d = 0;
    for (int c = 0; c < 8; c++)
      d += (point[i * 8 + c] - centre[k * 8 + c]) * (point[i * 8 + c] - centre[k * 8 + c]);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  label[i] = best;
}
__device__ float squared(float4 a, float4 b)
{
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, w = a.w - b.w;
  return x * x + y * y + z * z + w * w;
}
__global__ void __launch_bounds__(256)
  nearest_centre_tuned(int n, const float4 *__restrict__ point, const float4 *__restrict__ centre,
                       int *__restrict__ label)
{
  __shared__ float4 centres[64];
  if (threadIdx.x < 64)
    centres[threadIdx.x] = centre[threadIdx.x];
  __syncthreads();
  const int i = this_thread();
  if (i >= n)
    return;
  const float4 low = point[2 * i], high = point[2 * i + 1];
  int best = 0;
  float least = 1e30f;
#pragma unroll
  for (int k = 0; k < 32; k++) {
    const float d = squared(low, centres[2 * k]) + squared(high, centres[2 * k + 1]);
    best = d < least ? k : best;
    least = fminf(least, d);
  }
  label[i] = best;
}
static void nearest_centre()
{
  if (!is_wanted("nearest_centre"))
    return;
  const int n = SIZED(1 << 22, 2000);
  Array<float> point(8L * n), centre(32 * 8);
  Array<int> label(n);
  point.fill();
  centre.fill([](long i) { return (float)((int)(mixed(i) % 16) - 8); });
  compare(
    "nearest_centre", EXACT, [&] { nearest_centre_naive<<<blocks(n, 256), 256>>>(n, point.at, centre.at, label.at); },
    [&] { nearest_centre_tuned<<<blocks(n, 256), 256>>>(n, (float4 *)point.at, (float4 *)centre.at, label.at); },
    [&] { return label.sum(); });
}

__device__ float normal(float d) { return 0.5f * erfcf(-0.70710678f * d); }
__global__ void options_naive(int n, const float *__restrict__ price, const float *__restrict__ strike,
                              const float *__restrict__ years, float *__restrict__ call, float *__restrict__ put)
{
  const float rate = 0.02f, volatility = 0.3f;
  const int i = this_thread();
  if (i >= n)
    return;
  const float root = sqrtf(years[i]);
  const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i])
    / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float present = strike[i] * expf(-rate * years[i]);
  call[i] = price[i] * normal(d1) - present * normal(d2);
  put[i] = present * normal(-d2) - price[i] * normal(-d1);
}
/* The functions of the hardware, and puts from calls. */
__global__ void options_tuned(int n, const float *__restrict__ price, const float *__restrict__ strike,
                              const float *__restrict__ years, float *__restrict__ call, float *__restrict__ put)
{
  const float rate = 0.02f, volatility = 0.3f;
  const int i = this_thread();
  if (i >= n)
    return;
  const float s = price[i], x = strike[i], t = years[i], inverse = rsqrtf(t), width = volatility * t * inverse;
  const float grown = (rate + 0.5f * volatility * volatility) * t;
  const float d1 = (__logf(__fdividef(s, x)) + grown) * inverse * (1 / volatility);
  const float present = x * __expf(-rate * t), worth = s * normal(d1) - present * normal(d1 - width);
  call[i] = worth;
  put[i] = worth - s + present;
}
static void options()
{
  if (!is_wanted("options"))
    return;
  const int n = SIZED(1 << 24, 3000);
  Array<float> price(n), strike(n), years(n), call(n), put(n);
  price.fill([](long i) { return 20.0f + value(i); });
  strike.fill([](long i) { return 20.0f + value(i + 3); });
  years.fill([](long i) { return 0.25f * (9 + value(i + 6)); });
  const auto sum = [&] {
    double sum = call.sum();
    for (const float x : put.get())
      sum += x;
    return sum;
  };
  compare(
    "options", ROUNDED,
    [&] { options_naive<<<blocks(n, 256), 256>>>(n, price.at, strike.at, years.at, call.at, put.at); },
    [&] { options_tuned<<<blocks(n, 256), 256>>>(n, price.at, strike.at, years.at, call.at, put.at); }, sum);
}

__global__ void factor8_naive(int many, const double *__restrict__ a, double *__restrict__ lu)
{
  const int t = this_thread();
  if (t >= many)
    return;
  double m[8][8];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      m[i][j] = a[(t * 8 + i) * 8 + j];
  for (int k = 0; k < 8; k++)
    for (int i = k + 1; i < 8; i++) {
      m[i][k] /= m[k][k];
      for (int j = k + 1; j < 8; j++)
        m[i][j] -= m[i][k] * m[k][j];
    }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      lu[(t * 8 + i) * 8 + j] = m[i][j];
}
/* A lane for each row. */
__global__ void __launch_bounds__(256) factor8_tuned(int many, const double2 *__restrict__ a, double2 *__restrict__ lu)
{
  const int at = this_thread(), row = threadIdx.x % 8;
  const bool is_one = at < many * 8;
  double m[8] = {};
#pragma unroll
  for (int q = 0; q < 4; q++)
    if (is_one) {
      const double2 two = a[at * 4 + q];
      m[2 * q] = two.x, m[2 * q + 1] = two.y;
    }
#pragma unroll
  for (int k = 0; k < 7; k++) {
    const double pivot = __shfl_sync(~0u, m[k], k, 8);
    if (row > k)
      m[k] /= pivot;
#pragma unroll
    for (int j = k + 1; j < 8; j++) {
      const double above = __shfl_sync(~0u, m[j], k, 8);
      if (row > k)
        m[j] -= m[k] * above;
    }
  }
#pragma unroll
  for (int q = 0; q < 4; q++)
    if (is_one)
      lu[at * 4 + q] = make_double2(m[2 * q], m[2 * q + 1]);
}
static void factor8()
{
  if (!is_wanted("factor8"))
    return;
  const int many = SIZED(1 << 18, 200);
  Array<double> a(64L * many), lu(64L * many);
  a.fill([](long i) { return value(i) + (i % 64 % 9 == 0 ? 100.0 : 0.0); });
  compare(
    "factor8", ROUNDED, [&] { factor8_naive<<<blocks(many, 128), 128>>>(many, a.at, lu.at); },
    [&] { factor8_tuned<<<blocks(8L * many, 256), 256>>>(many, (double2 *)a.at, (double2 *)lu.at); },
    [&] { return lu.sum(true); });
}

__global__ void paths_step(int n, int *d, int k)
{
  const int j = this_thread(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n && d[i * n + k] + d[k * n + j] < d[i * n + j])
    d[i * n + j] = d[i * n + k] + d[k * n + j];
}
/* Tiles of 32 x 32: the one on the diagonal, then those beside it, then all others. */
__global__ void __launch_bounds__(1024) paths_diagonal(int n, int *d, int tile)
{
  __shared__ int t[32][32];
  const int x = threadIdx.x, y = threadIdx.y, at = (tile * 32 + y) * n + tile * 32 + x;
  t[y][x] = d[at];
  for (int k = 0; k < 32; k++) {
    __syncthreads();
    t[y][x] = min(t[y][x], t[y][k] + t[k][x]);
  }
  d[at] = t[y][x];
}
__global__ void __launch_bounds__(1024) paths_beside(int n, int *d, int tile)
{
  if ((int)blockIdx.x == tile)
    return;
  __shared__ int middle[32][32], t[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const bool is_row = blockIdx.y == 0;
  const int at = ((is_row ? tile : blockIdx.x) * 32 + y) * n + (is_row ? blockIdx.x : tile) * 32 + x;
  middle[y][x] = d[(tile * 32 + y) * n + tile * 32 + x];
  t[y][x] = d[at];
  for (int k = 0; k < 32; k++) {
    __syncthreads();
    t[y][x] = min(t[y][x], is_row ? middle[y][k] + t[k][x] : t[y][k] + middle[k][x]);
  }
  d[at] = t[y][x];
}
__global__ void __launch_bounds__(1024) paths_others(int n, int *d, int tile)
{
  if ((int)blockIdx.x == tile || (int)blockIdx.y == tile)
    return;
  __shared__ int left[32][32], above[32][32];
  const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 32 + y, j = blockIdx.x * 32 + x;
  left[y][x] = d[i * n + tile * 32 + x];
  above[y][x] = d[(tile * 32 + y) * n + j];
  int least = d[i * n + j];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 32; k++)
    least = min(least, left[y][k] + above[k][x]);
  d[i * n + j] = least;
}
static void shortest_paths()
{
  if (!is_wanted("shortest_paths"))
    return;
  const int n = SIZED(512, 64), tiles = n / 32;
  Array<int> length(n * n), d(n * n);
  length.fill([&](long i) { return i % (n + 1) == 0 ? 0 : 1 + (int)(mixed(i) % 1000); });
  const auto naive = [&] {
    failed(cudaMemcpyAsync(d.at, length.at, sizeof(int) * n * n, cudaMemcpyDeviceToDevice));
    for (int k = 0; k < n; k++)
      paths_step<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, d.at, k);
  };
  const auto tuned = [&] {
    failed(cudaMemcpyAsync(d.at, length.at, sizeof(int) * n * n, cudaMemcpyDeviceToDevice));
    for (int tile = 0; tile < tiles; tile++) {
      paths_diagonal<<<1, dim3(32, 32)>>>(n, d.at, tile);
      paths_beside<<<dim3(tiles, 2), dim3(32, 32)>>>(n, d.at, tile);
      paths_others<<<dim3(tiles, tiles), dim3(32, 32)>>>(n, d.at, tile);
    }
  };
  compare("shortest_paths", EXACT, naive, tuned, [&] { return d.sum(); });
}

__global__ void waves_ey(int n, double *__restrict__ ey, const double *__restrict__ hz)
{
  const int j = this_thread(), i = blockIdx.y + 1;
  if (j < n)
    ey[i * n + j] -= 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
}
__global__ void waves_ex(int n, double *__restrict__ ex, const double *__restrict__ hz)
{
  const int j = this_thread() + 1, i = blockIdx.y;
  if (j < n)
    ex[i * n + j] -= 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
}
__global__ void waves_hz(int n, const double *__restrict__ ex, const double *__restrict__ ey, double *__restrict__ hz)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j < n - 1)
    hz[i * n + j] -= 0.5 * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}
/* Both parts of the electric field in one go. */
__global__ void waves_electric(int n, double *__restrict__ ex, double *__restrict__ ey, const double *__restrict__ hz)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j >= n)
    return;
  const double here = hz[i * n + j];
  if (i > 0)
    ey[i * n + j] -= 0.5 * (here - hz[(i - 1) * n + j]);
  if (j > 0)
    ex[i * n + j] -= 0.5 * (here - hz[i * n + j - 1]);
}
static void waves()
{
  if (!is_wanted("waves"))
    return;
  const int n = SIZED(3072, 80), across = blocks(n, 256);
  Array<double> ex((long)n * n), ey((long)n * n), hz((long)n * n);
  ex.fill(), ey.fill(), hz.fill();
  const auto naive = [&] {
    waves_ey<<<dim3(across, n - 1), 256>>>(n, ey.at, hz.at);
    waves_ex<<<dim3(across, n), 256>>>(n, ex.at, hz.at);
    waves_hz<<<dim3(across, n - 1), 256>>>(n, ex.at, ey.at, hz.at);
  };
  const auto tuned = [&] {
    waves_electric<<<dim3(across, n), 256>>>(n, ex.at, ey.at, hz.at);
    waves_hz<<<dim3(across, n - 1), 256>>>(n, ex.at, ey.at, hz.at);
  };
  const auto sum = [&] {
    const double sum = hz.sum();
    ex.fill(), ey.fill(), hz.fill();
    return sum;
  };
  compare("waves", EXACT, naive, tuned, sum);
}

__global__ void filter33_naive(int n, const float *__restrict__ in, const float *__restrict__ tap,
                               float *__restrict__ out)
{
  const int i = this_thread();
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k < 33; k++)
    s += tap[k] * in[i + k];
  out[i] = s;
}
/* Four results for each thread from a window in registers; `n` is a number of fours. */
__global__ void __launch_bounds__(256)
  filter33_tuned(int n, const float4 *__restrict__ in, const float *__restrict__ tap, float4 *__restrict__ out)
{
  __shared__ float4 tile[256 + 8], taps[9];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  for (int q = t; q < 256 + 8; q += 256)
    if (first + q < n + 8)
      tile[q] = in[first + q];
  if (t < 36)
    ((float *)taps)[t] = t < 33 ? tap[t] : 0;
  __syncthreads();
  if (first + t >= n)
    return;
  float window[36], s[4] = {};
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const float4 x = tile[t + q];
    window[4 * q] = x.x, window[4 * q + 1] = x.y, window[4 * q + 2] = x.z, window[4 * q + 3] = x.w;
  }
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const float4 four = taps[q];
    const float weights[4] = { four.x, four.y, four.z, four.w };
#pragma unroll
    for (int k = 4 * q; k < min(4 * q + 4, 33); k++)
#pragma unroll
      for (int r = 0; r < 4; r++)
        s[r] += weights[k - 4 * q] * window[k + r];
  }
  out[first + t] = make_float4(s[0], s[1], s[2], s[3]);
}
static void filter33()
{
  if (!is_wanted("filter33"))
    return;
  const int n = SIZED(1 << 25, 5000);
  Array<float> in(n + 32), out(n), tap(33);
  in.fill(), tap.fill();
  compare(
    "filter33", EXACT, [&] { filter33_naive<<<blocks(n, 256), 256>>>(n, in.at, tap.at, out.at); },
    [&] { filter33_tuned<<<blocks(n / 4, 256), 256>>>(n / 4, (float4 *)in.at, tap.at, (float4 *)out.at); },
    [&] { return out.sum(); });
}

constexpr int IN = 16, OUT = 32;
__global__ void channels_naive(int h, int w, const float *__restrict__ in, const float *__restrict__ weight,
                               const float *__restrict__ bias, float *__restrict__ out)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y, o = blockIdx.z;
  if (x >= w || y >= h)
    return;
  float s = bias[o];
  for (int c = 0; c < IN; c++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        s += weight[((o * IN + c) * 3 + i) * 3 + j] * in[(c * (h + 2) + y + i) * (w + 2) + x + j];
  out[(o * h + y) * w + x] = s > 0 ? s : 0;
}
/* 32 x 16 points and 16 channels for each block, 2 points and all 16 for each thread. */
__global__ void __launch_bounds__(256)
  channels_tuned(int h, int w, const float *__restrict__ in, const float *__restrict__ weight,
                 const float *__restrict__ bias, float *__restrict__ out)
{
  __shared__ float tile[18][34];
  __shared__ float4 weights[9][4];
  const int t = threadIdx.x, tx = t % 32, ty = t / 32;
  const int left = blockIdx.x * 32, top = blockIdx.y * 16, o = blockIdx.z * 16;
  float s[2][16];
#pragma unroll
  for (int k = 0; k < 16; k++)
    s[0][k] = s[1][k] = bias[o + k];
  for (int c = 0; c < IN; c++) {
    for (int q = t; q < 18 * 34; q += 256) {
      const int y = top + q / 34, x = left + q % 34;
      tile[q / 34][q % 34] = y < h + 2 && x < w + 2 ? in[(c * (h + 2) + y) * (w + 2) + x] : 0;
    }
    if (t < 144)
      ((float *)weights)[t] = weight[((o + t % 16) * IN + c) * 9 + t / 16];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 9; k++) {
      const float upper = tile[ty + k / 3][tx + k % 3], lower = tile[ty + 8 + k / 3][tx + k % 3];
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const float4 four = weights[k][q];
        s[0][4 * q] += four.x * upper, s[1][4 * q] += four.x * lower;
        s[0][4 * q + 1] += four.y * upper, s[1][4 * q + 1] += four.y * lower;
        s[0][4 * q + 2] += four.z * upper, s[1][4 * q + 2] += four.z * lower;
        s[0][4 * q + 3] += four.w * upper, s[1][4 * q + 3] += four.w * lower;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 2; r++) {
    const int x = left + tx, y = top + ty + 8 * r;
    if (x < w && y < h)
#pragma unroll
      for (int k = 0; k < 16; k++)
        out[((o + k) * h + y) * w + x] = fmaxf(s[r][k], 0);
  }
}
static void channels()
{
  if (!is_wanted("channels"))
    return;
  const int h = SIZED(512, 20), w = SIZED(512, 40);
  Array<float> in(IN * (h + 2) * (w + 2)), weight(OUT * IN * 9), bias(OUT), out((long)OUT * h * w);
  in.fill(), weight.fill(), bias.fill();
  const dim3 points(blocks(w, 32), blocks(h, 8), OUT), tiles(blocks(w, 32), blocks(h, 16), OUT / 16);
  compare(
    "channels", EXACT, [&] { channels_naive<<<points, dim3(32, 8)>>>(h, w, in.at, weight.at, bias.at, out.at); },
    [&] { channels_tuned<<<tiles, 256>>>(h, w, in.at, weight.at, bias.at, out.at); }, [&] { return out.sum(); });
}

__global__ void rotate_any(int n, const float *__restrict__ in, float *__restrict__ out, float cosine, float sine)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n)
    return;
  const float middle = 0.5f * (n - 1);
  const float fx = cosine * (x - middle) - sine * (y - middle) + middle;
  const float fy = sine * (x - middle) + cosine * (y - middle) + middle;
  float s = 0;
  if (fx >= 0 && fy >= 0 && fx < n - 1 && fy < n - 1) {
    const int ix = (int)fx, iy = (int)fy;
    const float dx = fx - ix, dy = fy - iy;
    s = (1 - dy) * ((1 - dx) * in[iy * n + ix] + dx * in[iy * n + ix + 1])
      + dy * ((1 - dx) * in[(iy + 1) * n + ix] + dx * in[(iy + 1) * n + ix + 1]);
  }
  out[y * n + x] = s;
}
static void rotate()
{
  if (!is_wanted("rotate"))
    return;
  const int n = SIZED(4096, 60);
  Array<float> in((long)n * n), out((long)n * n);
  in.fill([](long i) { return 8.0f + value(i); });
  const float cosine = cosf(0.5f), sine = sinf(0.5f);
  /* Warps of 8 x 4 points read fewer lines than those of 32 x 1. */
  compare(
    "rotate", ROUNDED,
    [&] { rotate_any<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, in.at, out.at, cosine, sine); },
    [&] { rotate_any<<<dim3(blocks(n, 8), blocks(n, 32)), dim3(8, 32)>>>(n, in.at, out.at, cosine, sine); },
    [&] { return out.sum(); });
}

__global__ void permute_naive(int ni, int nj, int nk, const float *__restrict__ a, float *__restrict__ b)
{
  const int k = this_thread(), j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z;
  if (j < nj && k < nk)
    b[(k * ni + i) * nj + j] = a[(i * nj + j) * nk + k];
}
__global__ void __launch_bounds__(256)
  permute_tuned(int ni, int nj, int nk, const float *__restrict__ a, float *__restrict__ b)
{
  __shared__ float tile[32][33];
  const int k0 = blockIdx.x * 32, j0 = blockIdx.y * 32, i = blockIdx.z, tx = threadIdx.x;
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += 8)
    if (j0 + r < nj && k0 + tx < nk)
      tile[r][tx] = a[(i * nj + j0 + r) * nk + k0 + tx];
  __syncthreads();
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += 8)
    if (k0 + r < nk && j0 + tx < nj)
      b[((k0 + r) * ni + i) * nj + j0 + tx] = tile[tx][r];
}
static void permute()
{
  if (!is_wanted("permute"))
    return;
  const int ni = SIZED(300, 10), nj = SIZED(400, 50), nk = SIZED(500, 70);
  Array<float> a((long)ni * nj * nk), b((long)ni * nj * nk);
  a.fill();
  const dim3 each(blocks(nk, 32), blocks(nj, 8), ni), tiles(blocks(nk, 32), blocks(nj, 32), ni);
  compare(
    "permute", EXACT, [&] { permute_naive<<<each, dim3(32, 8)>>>(ni, nj, nk, a.at, b.at); },
    [&] { permute_tuned<<<tiles, dim3(32, 8)>>>(ni, nj, nk, a.at, b.at); }, [&] { return b.sum(); });
}

__device__ int gradient(int ul, int u, int ur, int l, int r, int dl, int d, int dr)
{
  const int gx = ur + 2 * r + dr - ul - 2 * l - dl, gy = dl + 2 * d + dr - ul - 2 * u - ur;
  return min((abs(gx) + abs(gy)) / 4, 255);
}
__global__ void sobel_naive(int n, const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n)
    return;
  const int u = y > 0 ? y - 1 : 0, d = y < n - 1 ? y + 1 : y, l = x > 0 ? x - 1 : 0, r = x < n - 1 ? x + 1 : x;
  out[y * n + x] = gradient(in[u * n + l], in[u * n + x], in[u * n + r], in[y * n + l], in[y * n + r], in[d * n + l],
                            in[d * n + x], in[d * n + r]);
}
/* Six neighbouring bytes of a row. */
struct Six {
  int at[6];
};
__device__ __forceinline__ Six six(int n, const unsigned char *__restrict__ in, int y, int x)
{
  const unsigned char *row = &in[min(max(y, 0), n - 1) * n];
  const unsigned four = *(const unsigned *)&row[x];
  return { { row[max(x - 1, 0)], (int)(four & 255), (int)(four >> 8 & 255), (int)(four >> 16 & 255), (int)(four >> 24),
             row[min(x + 4, n - 1)] } };
}
/* Four bytes in each of eight rows for each thread. */
__global__ void sobel_tuned(int n, const unsigned char *__restrict__ in, unsigned *__restrict__ out)
{
  const int x = 4 * this_thread(), top = (blockIdx.y * blockDim.y + threadIdx.y) * 8;
  if (x >= n || top >= n)
    return;
  Six up = six(n, in, top - 1, x), here = six(n, in, top, x);
#pragma unroll
  for (int y = top; y < top + 8; y++) {
    const Six down = six(n, in, y + 1, x);
    unsigned four = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
      four |= (unsigned)gradient(up.at[k], up.at[k + 1], up.at[k + 2], here.at[k], here.at[k + 2], down.at[k],
                                 down.at[k + 1], down.at[k + 2])
        << 8 * k;
    out[(y * n + x) / 4] = four;
    up = here, here = down;
  }
}
static void sobel()
{
  if (!is_wanted("sobel"))
    return;
  const int n = SIZED(8192, 64);
  Array<unsigned char> in((long)n * n), out((long)n * n);
  in.fill([](long i) { return (unsigned char)((unsigned)(i * 2654435761u) >> 24); });
  compare(
    "sobel", EXACT, [&] { sobel_naive<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, in.at, out.at); },
    [&] { sobel_tuned<<<dim3(blocks(n, 128), blocks(n, 32)), dim3(32, 4)>>>(n, in.at, (unsigned *)out.at); },
    [&] { return out.sum(); });
}
