/* Those of third.cu with matrices, images and rows. */
#pragma once
#include "kinds.cuh"

__global__ void cholesky_begin(int n, const double *__restrict__ a, double *__restrict__ l)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j < n)
    l[i * n + j] = j <= i ? a[i * n + j] : 0;
}
__global__ void cholesky_column(int n, int k, double *l)
{
  const int i = k + 1 + this_thread();
  if (i < n)
    l[i * n + k] /= sqrt(l[k * n + k]);
}
/* A block for each row, as teams are there. */
__global__ void cholesky_rest(int n, int k, double *l)
{
  const int i = k + 1 + blockIdx.x;
  for (int j = k + 1 + threadIdx.x; j <= i; j += blockDim.x)
    l[i * n + j] -= l[i * n + k] * l[j * n + k];
}
__global__ void cholesky_end(int n, double *l)
{
  const int i = this_thread();
  if (i < n)
    l[i * n + i] = sqrt(l[i * n + i]);
}
/* One block with the lower half in shared memory. */
__global__ void __launch_bounds__(1024) cholesky_tuned(int n, const double *__restrict__ a, double *__restrict__ l)
{
  extern __shared__ double half[];
#define ROW(i) (half + (i) * ((i) + 1) / 2)
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = warp; i < n; i += 32)
    for (int j = lane; j <= i; j += 32)
      ROW(i)[j] = a[i * n + j];
  __syncthreads();
  for (int k = 0; k < n; k++) {
    const double root = sqrt(ROW(k)[k]);
    __syncthreads();
    for (int i = k + threadIdx.x; i < n; i += 1024)
      ROW(i)[k] = i == k ? root : ROW(i)[k] / root;
    __syncthreads();
    for (int i = k + 1 + warp; i < n; i += 32) {
      const double factor = ROW(i)[k];
      for (int j = k + 1 + lane; j <= i; j += 32)
        ROW(i)[j] -= factor * ROW(j)[k];
    }
    __syncthreads();
  }
  for (int i = warp; i < n; i += 32)
    for (int j = lane; j < n; j += 32)
      l[i * n + j] = j <= i ? ROW(i)[j] : 0;
#undef ROW
}
static void cholesky()
{
  if (!is_wanted("cholesky"))
    return;
  const int n = SIZED(201, 30), shared = (int)sizeof(double) * n * (n + 1) / 2;
  Array<double> a(n * n), l(n * n);
  a.fill([&](long at) { return at / n == at % n ? 8. : 1. / (1 + std::abs(at / n - at % n)); });
  failed(cudaFuncSetAttribute(cholesky_tuned, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const auto naive = [&] {
    cholesky_begin<<<dim3(blocks(n, 128), n), 128>>>(n, a.at, l.at);
    for (int k = 0; k < n; k++) {
      if (k == n - 1)
        break;
      cholesky_column<<<blocks(n - k - 1, 128), 128>>>(n, k, l.at);
      cholesky_rest<<<n - k - 1, 128>>>(n, k, l.at);
    }
    cholesky_end<<<blocks(n, 128), 128>>>(n, l.at);
  };
  compare(
    "cholesky", ROUNDED, naive, [&] { cholesky_tuned<<<1, 1024, shared>>>(n, a.at, l.at); },
    [&] { return l.sum(true); });
}

__global__ void tridiagonal_naive(int rows, int many, const float *__restrict__ a, const float *__restrict__ b,
                                  const float *__restrict__ c, const float *__restrict__ d, float *__restrict__ ratio,
                                  float *__restrict__ x)
{
  const int s = this_thread();
  if (s >= many)
    return;
  ratio[s] = c[s] / b[s];
  x[s] = d[s] / b[s];
  for (int i = 1; i < rows; i++) {
    const int at = i * many + s, last = at - many;
    const float pivot = b[at] - a[at] * ratio[last];
    ratio[at] = c[at] / pivot;
    x[at] = (d[at] - a[at] * x[last]) / pivot;
  }
  for (int i = rows - 2; i >= 0; i--)
    x[i * many + s] -= ratio[i * many + s] * x[(i + 1) * many + s];
}
/* What was found last stays in registers, and loads come ahead of their use. */
__global__ void __launch_bounds__(128)
  tridiagonal_tuned(int rows, int many, const float *__restrict__ a, const float *__restrict__ b,
                    const float *__restrict__ c, const float *__restrict__ d, float *__restrict__ ratio,
                    float *__restrict__ x)
{
  constexpr int AHEAD = 6;
  const int s = this_thread();
  if (s >= many)
    return;
  float r = 0, y = 0;
  for (int first = 0; first < rows; first += AHEAD) {
    float as[AHEAD], bs[AHEAD], cs[AHEAD], ds[AHEAD];
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (first + q < rows) {
        const int at = (first + q) * many + s;
        as[q] = a[at], bs[q] = b[at], cs[q] = c[at], ds[q] = d[at];
      }
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (first + q < rows) {
        const int at = (first + q) * many + s;
        const float e = first + q > 0 ? as[q] : 0, scale = 1 / (bs[q] - e * r);
        y = (ds[q] - e * y) * scale;
        r = cs[q] * scale;
        ratio[at] = r, x[at] = y;
      }
  }
  for (int last = rows - 2; last >= 0; last -= AHEAD) {
    float rs[AHEAD], ys[AHEAD];
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (last - q >= 0)
        rs[q] = ratio[(last - q) * many + s], ys[q] = x[(last - q) * many + s];
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (last - q >= 0) {
        y = ys[q] - rs[q] * y;
        x[(last - q) * many + s] = y;
      }
  }
}
static void tridiagonal()
{
  if (!is_wanted("tridiagonal"))
    return;
  const int rows = SIZED(127, 20), many = SIZED(100003, 60);
  const long all = (long)rows * many;
  Array<float> a(all), b(all), c(all), d(all), ratio(all), x(all);
  a.fill([](long i) { return 0.125f * value(i); });
  b.fill([](long i) { return 4 + 0.0625f * value(i + 9); });
  c.fill([](long i) { return 0.125f * value(i + 5); });
  d.fill([](long i) { return (float)value(i + 2); });
  compare(
    "tridiagonal", ROUNDED,
    [&] { tridiagonal_naive<<<blocks(many, 128), 128>>>(rows, many, a.at, b.at, c.at, d.at, ratio.at, x.at); },
    [&] { tridiagonal_tuned<<<blocks(many, 128), 128>>>(rows, many, a.at, b.at, c.at, d.at, ratio.at, x.at); },
    [&] { return x.sum(true); });
}

static __device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ __forceinline__ float2 operator*(float2 a, float2 b)
{
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__global__ void fourier_naive(int n, int half, const float2 *__restrict__ from, const float2 *__restrict__ turn,
                              float2 *__restrict__ to)
{
  const int j = this_thread();
  if (j >= n / 2)
    return;
  const int k = j & (half - 1);
  const float2 u = from[j], v = from[j + n / 2] * turn[k * (n / 2 / half)];
  to[2 * j - k] = u + v;
  to[2 * j - k + half] = u - v;
}
/* A pass by sixteen, as four by two of the same kind in registers. */
template <int LEVELS>
__global__ void __launch_bounds__(128)
  fourier_tuned(int n, int done, const float2 *__restrict__ from, const float2 *__restrict__ turn,
                float2 *__restrict__ to)
{
  constexpr int R = 1 << LEVELS;
  const int j = this_thread(), each = n / R;
  if (j >= each)
    return;
  const int k = j & (done - 1), step = n / (R * done);
  float2 v[R];
#pragma unroll
  for (int r = 0; r < R; r++) {
    v[r] = from[j + r * each];
    if (r > 0) {
      const int at = k * r * step;
      const float2 w = turn[at & (n / 2 - 1)];
      v[r] = v[r] * (at < n / 2 ? w : make_float2(-w.x, -w.y));
    }
  }
#pragma unroll
  for (int half = 1; half < R; half *= 2) {
    float2 t[R];
#pragma unroll
    for (int i = 0; i < R / 2; i++) {
      const int low = i & (half - 1);
      const float2 w = turn[low * (n / 2 / half)], x = low ? v[i + R / 2] * w : v[i + R / 2];
      t[2 * i - low] = v[i] + x;
      t[2 * i - low + half] = v[i] - x;
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      v[r] = t[r];
  }
#pragma unroll
  for (int r = 0; r < R; r++)
    to[(j - k) * R + k + r * done] = v[r];
}
static void fourier()
{
  if (!is_wanted("fourier"))
    return;
  const int n = 1 << SIZED(20, 8);
  Array<float2> in(n), turn(n / 2), even(n), odd(n);
  in.fill([](long i) { return make_float2(value(i), value(i + 3)); });
  turn.fill([&](long i) {
    const double angle = 2 * 3.14159265358979 * i / n;
    return make_float2((float)cos(angle), -(float)sin(angle));
  });
  bool is_even;
  const auto passes = [&](int by, auto pass) {
    const float2 *from = in.at;
    float2 *to = odd.at;
    for (int done = 1; done < n; done *= by) {
      pass(done, from, to);
      from = to;
      to = to == odd.at ? even.at : odd.at;
    }
    is_even = from == even.at;
  };
  const auto sum = [&] {
    const std::vector<float2> out = is_even ? even.get() : odd.get();
    even.clear(), odd.clear();
    double sum = 0;
    for (int i = 0; i < n; i++)
      sum += (std::fabs(out[i].x) + 2 * std::fabs(out[i].y)) * (1 + i % 7);
    return sum;
  };
  const auto naive = [&](int done, const float2 *from, float2 *to) {
    fourier_naive<<<blocks(n / 2, 256), 256>>>(n, done, from, turn.at, to);
  };
  const auto tuned = [&](int done, const float2 *from, float2 *to) {
    fourier_tuned<4><<<blocks(n / 16, 128), 128>>>(n, done, from, turn.at, to);
  };
  compare("fourier", ROUNDED, [&] { passes(2, naive); }, [&] { passes(16, tuned); }, sum);
}

struct Pivot {
  double size;
  int row;
};
__device__ Pivot larger(Pivot a, Pivot b) { return b.size > a.size || (b.size == a.size && b.row < a.row) ? b : a; }
__global__ void pivots_begin(int n, const double *__restrict__ a, double *__restrict__ w)
{
  const int at = this_thread();
  if (at < n * (n + 1))
    w[at] = a[at];
}
/* One block, as there are few rows. */
__global__ void pivots_find(int n, int k, const double *__restrict__ w, Pivot *best)
{
  __shared__ Pivot all[128];
  const int t = threadIdx.x, i = k + t;
  all[t] = Pivot{ i < n ? fabs(w[i * (n + 1) + k]) : -1, i };
  for (int far = 64; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = larger(all[t], all[t + far]);
  }
  if (t == 0)
    *best = all[0];
}
__global__ void pivots_swap(int n, int k, int p, double *w)
{
  const int j = k + this_thread();
  if (j > n)
    return;
  const double t = w[k * (n + 1) + j];
  w[k * (n + 1) + j] = w[p * (n + 1) + j];
  w[p * (n + 1) + j] = t;
}
__global__ void pivots_eliminate(int n, int k, double *w)
{
  const int j = k + 1 + this_thread(), i = k + 1 + blockIdx.y;
  if (j <= n)
    w[i * (n + 1) + j] -= w[i * (n + 1) + k] / w[k * (n + 1) + k] * w[k * (n + 1) + j];
}
__global__ void pivots_back(int n, int k, double *w, double *x)
{
  const int i = this_thread();
  if (i > k)
    return;
  const double found = w[k * (n + 1) + n] / w[k * (n + 1) + k];
  if (i == k)
    x[k] = found;
  else
    w[i * (n + 1) + n] -= w[i * (n + 1) + k] * found;
}
/* One block, everything in shared memory, the search by a warp. */
template <int N> __global__ void __launch_bounds__(512) pivots_tuned(const double *__restrict__ a, double *__restrict__ x)
{
  __shared__ double w[N][N + 1];
  __shared__ int row;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int at = t; at < N * (N + 1); at += 512)
    w[at / (N + 1)][at % (N + 1)] = a[at];
  __syncthreads();
  for (int k = 0; k < N - 1; k++) {
    if (warp == 0) {
      Pivot best{ -1, 0 };
      for (int i = k + lane; i < N; i += 32)
        best = larger(best, Pivot{ fabs(w[i][k]), i });
#pragma unroll
      for (int far = 16; far > 0; far /= 2)
        best = larger(best, Pivot{ __shfl_xor_sync(~0u, best.size, far), __shfl_xor_sync(~0u, best.row, far) });
      if (lane == 0)
        row = best.row;
    }
    __syncthreads();
    for (int j = k + t; j < N + 1; j += 512) {
      const double other = w[k][j];
      w[k][j] = w[row][j];
      w[row][j] = other;
    }
    __syncthreads();
    const double inverse = 1 / w[k][k];
    for (int i = k + 1 + warp; i < N; i += 16) {
      const double factor = w[i][k] * inverse;
      for (int j = k + 1 + lane; j < N + 1; j += 32)
        w[i][j] -= factor * w[k][j];
    }
    __syncthreads();
  }
  for (int k = N - 1; k >= 0; k--) {
    const double found = w[k][N] / w[k][k];
    if (t == k)
      x[k] = found;
    if (t < k)
      w[t][N] -= w[t][k] * found;
    __syncthreads();
  }
}
static void pivots()
{
  if (!is_wanted("pivots"))
    return;
  constexpr int n = SIZED(60, 20);
  Array<double> a(n * (n + 1)), w(n * (n + 1)), x(n);
  Array<Pivot> best(1);
  a.fill([](long i) { return (mixed(i) % 2001) / 1000.0 - 1; });
  const auto naive = [&] {
    pivots_begin<<<blocks(n * (n + 1), 128), 128>>>(n, a.at, w.at);
    for (int k = 0; k < n - 1; k++) {
      pivots_find<<<1, 128>>>(n, k, w.at, best.at);
      const int p = fetched(best.at).row;
      pivots_swap<<<1, 128>>>(n, k, p, w.at);
      pivots_eliminate<<<dim3(1, n - 1 - k), 128>>>(n, k, w.at);
    }
    for (int k = n - 1; k >= 0; k--)
      pivots_back<<<1, 128>>>(n, k, w.at, x.at);
  };
  compare("pivots", ROUNDED, naive, [&] { pivots_tuned<n><<<1, 512>>>(a.at, x.at); }, [&] { return x.sum(true); });
}

/* A block for each row, as gangs are there. */
__global__ void layer_norm_naive(int wide, const float *__restrict__ in, const float *__restrict__ gain,
                                 const float *__restrict__ bias, float *__restrict__ out)
{
  const float *row = &in[blockIdx.x * wide];
  float sum = 0, spread = 0;
  for (int j = threadIdx.x; j < wide; j += 256)
    sum += row[j];
  const float mean = tree_sum(sum) / wide;
  for (int j = threadIdx.x; j < wide; j += 256)
    spread += (row[j] - mean) * (row[j] - mean);
  const float scale = 1 / sqrtf(tree_sum(spread) / wide + 1e-5f);
  for (int j = threadIdx.x; j < wide; j += 256)
    out[blockIdx.x * wide + j] = (row[j] - mean) * scale * gain[j] + bias[j];
}
/* A warp for each, the row in registers. */
template <int FOURS>
__global__ void __launch_bounds__(256)
  layer_norm_tuned(int rows, const float4 *__restrict__ in, const float4 *__restrict__ gain,
                   const float4 *__restrict__ bias, float4 *__restrict__ out)
{
  constexpr int EACH = (FOURS + 31) / 32;
  const int i = this_thread() / 32, lane = threadIdx.x % 32;
  if (i >= rows)
    return;
  float4 v[EACH];
  float sum = 0, spread = 0;
#pragma unroll
  for (int q = 0; q < EACH; q++)
    if (q * 32 + lane < FOURS) {
      v[q] = in[i * FOURS + q * 32 + lane];
      sum += v[q].x + v[q].y + v[q].z + v[q].w;
    }
  const float mean = warp_sum(sum) / (4 * FOURS);
#pragma unroll
  for (int q = 0; q < EACH; q++)
    if (q * 32 + lane < FOURS) {
      v[q].x -= mean, v[q].y -= mean, v[q].z -= mean, v[q].w -= mean;
      spread += v[q].x * v[q].x + v[q].y * v[q].y + v[q].z * v[q].z + v[q].w * v[q].w;
    }
  const float scale = rsqrtf(warp_sum(spread) / (4 * FOURS) + 1e-5f);
#pragma unroll
  for (int q = 0; q < EACH; q++)
    if (q * 32 + lane < FOURS) {
      const float4 g = gain[q * 32 + lane], b = bias[q * 32 + lane];
      out[i * FOURS + q * 32 + lane] = make_float4(v[q].x * scale * g.x + b.x, v[q].y * scale * g.y + b.y,
                                                   v[q].z * scale * g.z + b.z, v[q].w * scale * g.w + b.w);
    }
}
static void layer_norm()
{
  if (!is_wanted("layer_norm"))
    return;
  constexpr int rows = SIZED(40000, 50), wide = SIZED(1000, 100);
  Array<float> in((long)rows * wide), out((long)rows * wide), gain(wide), bias(wide);
  in.fill();
  gain.fill([](long i) { return 1 + 0.125f * value(i); });
  bias.fill([](long i) { return 0.5f * value(i + 1); });
  const auto tuned = [&] {
    layer_norm_tuned<wide / 4><<<blocks(32L * rows, 256), 256>>>(rows, (float4 *)in.at, (float4 *)gain.at,
                                                                (float4 *)bias.at, (float4 *)out.at);
  };
  compare(
    "layer_norm", ROUNDED, [&] { layer_norm_naive<<<rows, 256>>>(wide, in.at, gain.at, bias.at, out.at); }, tuned,
    [&] { return out.sum(true); });
}

struct Rgb {
  unsigned char r, g, b;
};
__device__ int brightness(int r, int g, int b) { return (66 * r + 129 * g + 25 * b + 128) / 256 + 16; }
__device__ int blueness(int r, int g, int b) { return (-38 * r - 74 * g + 112 * b + 512) / 1024 + 128; }
__device__ int redness(int r, int g, int b) { return (112 * r - 94 * g - 18 * b + 512) / 1024 + 128; }
__global__ void video_naive(int w, const Rgb *__restrict__ in, unsigned char *__restrict__ y,
                            unsigned char *__restrict__ u, unsigned char *__restrict__ v)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j >= w / 2)
    return;
  int r = 0, g = 0, b = 0;
  for (int k = 0; k < 4; k++) {
    const int at = (2 * i + k / 2) * w + 2 * j + k % 2;
    const Rgb p = in[at];
    y[at] = brightness(p.r, p.g, p.b);
    r += p.r, g += p.g, b += p.b;
  }
  u[i * (w / 2) + j] = blueness(r, g, b);
  v[i * (w / 2) + j] = redness(r, g, b);
}
/* Eight points in each of two rows for each thread. */
__global__ void video_tuned(int w, const uint2 *__restrict__ in, uint2 *__restrict__ y, unsigned *__restrict__ u,
                            unsigned *__restrict__ v)
{
  const int j = this_thread(), i = blockIdx.y, eights = w / 8;
  if (j >= eights)
    return;
  int r[4] = {}, g[4] = {}, b[4] = {};
#pragma unroll
  for (int row = 0; row < 2; row++) {
    unsigned words[6], bright[2] = {};
#pragma unroll
    for (int q = 0; q < 3; q++) {
      const uint2 two = in[((2 * i + row) * eights + j) * 3 + q];
      words[2 * q] = two.x, words[2 * q + 1] = two.y;
    }
#define BYTE(at) (int)(words[(at) / 4] >> 8 * ((at) % 4) & 255)
#pragma unroll
    for (int p = 0; p < 8; p++) {
      const int pr = BYTE(3 * p), pg = BYTE(3 * p + 1), pb = BYTE(3 * p + 2);
      bright[p / 4] |= (unsigned)brightness(pr, pg, pb) << 8 * (p % 4);
      r[p / 2] += pr, g[p / 2] += pg, b[p / 2] += pb;
    }
#undef BYTE
    y[(2 * i + row) * eights + j] = make_uint2(bright[0], bright[1]);
  }
  unsigned us = 0, vs = 0;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    us |= (unsigned)blueness(r[q], g[q], b[q]) << 8 * q;
    vs |= (unsigned)redness(r[q], g[q], b[q]) << 8 * q;
  }
  u[i * eights + j] = us, v[i * eights + j] = vs;
}
static void video()
{
  if (!is_wanted("video"))
    return;
  const int w = SIZED(8000, 48), h = SIZED(6000, 20);
  Array<Rgb> in(w * h);
  Array<unsigned char> y(w * h), u(w * h / 4), v(w * h / 4);
  in.fill([](long i) {
    const unsigned m = mixed(i);
    return Rgb{ (unsigned char)(m & 255), (unsigned char)(m >> 8 & 255), (unsigned char)(m >> 16 & 255) };
  });
  const auto sum = [&] {
    double sum = y.sum();
    for (const unsigned char c : u.get())
      sum += c;
    for (const unsigned char c : v.get())
      sum += 2 * c;
    u.clear(), v.clear();
    return sum;
  };
  const dim3 eights(blocks(w / 8, 128), h / 2);
  compare(
    "video", EXACT, [&] { video_naive<<<dim3(blocks(w / 2, 256), h / 2), 256>>>(w, in.at, y.at, u.at, v.at); },
    [&] {
      video_tuned<<<eights, 128>>>(w, (uint2 *)in.at, (uint2 *)y.at, (unsigned *)u.at, (unsigned *)v.at);
    },
    sum);
}

__global__ void median_naive(int w, int h, const short *__restrict__ in, short *__restrict__ out)
{
  const int x = 1 + this_thread(), y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w - 1 || y >= h - 1)
    return;
  short near[9];
  for (int k = 0; k < 9; k++)
    near[k] = in[(y + k / 3 - 1) * w + x + k % 3 - 1];
  for (int i = 0; i < 5; i++)
    for (int k = i + 1; k < 9; k++)
      if (near[k] < near[i]) {
        const short t = near[i];
        near[i] = near[k];
        near[k] = t;
      }
  out[y * w + x] = near[4];
}
/* Three neighbours of a row in order; those of three rows give the middle of nine. */
__device__ __forceinline__ int3 ordered(const short *__restrict__ at)
{
  const int a = at[-1], b = at[0], c = at[1], low = min(a, b), high = max(a, b);
  return make_int3(min(low, c), max(low, min(high, c)), max(high, c));
}
__device__ __forceinline__ int middle(int a, int b, int c) { return max(min(a, b), min(max(a, b), c)); }
__global__ void __launch_bounds__(128) median_tuned(int w, int h, const short *__restrict__ in, short *__restrict__ out)
{
  constexpr int ROWS = 16;
  const int x = 1 + this_thread(), top = 1 + blockIdx.y * ROWS;
  if (x >= w - 1)
    return;
  int3 up = ordered(&in[(top - 1) * w + x]), here = ordered(&in[top * w + x]);
#pragma unroll 4
  for (int y = top; y < min(top + ROWS, h - 1); y++) {
    const int3 down = ordered(&in[(y + 1) * w + x]);
    out[y * w + x] = middle(max(max(up.x, here.x), down.x), middle(up.y, here.y, down.y),
                            min(min(up.z, here.z), down.z));
    up = here, here = down;
  }
}
static void median()
{
  if (!is_wanted("median"))
    return;
  const int w = SIZED(6001, 70), h = SIZED(5003, 40);
  Array<short> in(w * h), out(w * h);
  in.fill([](long i) { return (short)(mixed(i) % 4096 - 1000); });
  const dim3 each(blocks(w - 2, 32), blocks(h - 2, 8)), strips(blocks(w - 2, 128), blocks(h - 2, 16));
  compare(
    "median", EXACT, [&] { median_naive<<<each, dim3(32, 8)>>>(w, h, in.at, out.at); },
    [&] { median_tuned<<<strips, 128>>>(w, h, in.at, out.at); }, [&] { return out.sum(); });
}

/* A block for each row, then a thread for each column. */
__global__ void both_ways_rows(int m, const double *__restrict__ a, const double *__restrict__ p, double *__restrict__ q)
{
  double dot = 0;
  for (int j = threadIdx.x; j < m; j += 256)
    dot += a[(long)blockIdx.x * m + j] * p[j];
  dot = tree_sum(dot);
  if (threadIdx.x == 0)
    q[blockIdx.x] = dot;
}
__global__ void both_ways_columns(int n, int m, const double *__restrict__ a, const double *__restrict__ r,
                                  double *__restrict__ s)
{
  const int j = this_thread();
  if (j >= m)
    return;
  s[j] = 0;
  for (int i = 0; i < n; i++)
    s[j] += a[(long)i * m + j] * r[i];
}
/* The matrix is read once: 32 rows and 8 x 256 columns for each block. */
__global__ void __launch_bounds__(256)
  both_ways_tuned(int n, int m, const double *__restrict__ a, const double *__restrict__ p,
                  const double *__restrict__ r, double *q, double *s)
{
  __shared__ double dots[32];
  const int t = threadIdx.x, left = blockIdx.x * 2048 + t, top = blockIdx.y * 32;
  double x[8], sums[8] = {};
#pragma unroll
  for (int c = 0; c < 8; c++)
    x[c] = left + 256 * c < m ? p[left + 256 * c] : 0;
  if (t < 32)
    dots[t] = 0;
  __syncthreads();
  for (int i = top; i < min(top + 32, n); i++) {
    const double weight = r[i];
    double dot = 0;
#pragma unroll
    for (int c = 0; c < 8; c++)
      if (left + 256 * c < m) {
        const double v = a[(long)i * m + left + 256 * c];
        dot += v * x[c];
        sums[c] += v * weight;
      }
    dot = warp_sum(dot);
    if (t % 32 == 0)
      atomicAdd(&dots[i - top], dot);
  }
  __syncthreads();
  if (t < 32 && top + t < n)
    atomicAdd(&q[top + t], dots[t]);
#pragma unroll
  for (int c = 0; c < 8; c++)
    if (left + 256 * c < m)
      atomicAdd(&s[left + 256 * c], sums[c]);
}
static void both_ways()
{
  if (!is_wanted("both_ways"))
    return;
  const int n = SIZED(5003, 50), m = SIZED(4001, 70);
  Array<double> a((long)n * m), p(m), r(n), q(n), s(m);
  a.fill(), p.fill(), r.fill();
  const auto naive = [&] {
    both_ways_rows<<<n, 256>>>(m, a.at, p.at, q.at);
    both_ways_columns<<<blocks(m, 128), 128>>>(n, m, a.at, r.at, s.at);
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(q.at, 0, sizeof(double) * n));
    failed(cudaMemsetAsync(s.at, 0, sizeof(double) * m));
    both_ways_tuned<<<dim3(blocks(m, 2048), blocks(n, 32)), 256>>>(n, m, a.at, p.at, r.at, q.at, s.at);
  };
  const auto sum = [&] {
    double sum = q.sum();
    const std::vector<double> columns = s.get();
    for (int j = 0; j < m; j++)
      sum += columns[j] * (1 + j % 5);
    s.clear();
    return sum;
  };
  compare("both_ways", EXACT, naive, tuned, sum);
}
