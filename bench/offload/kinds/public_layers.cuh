/* Those of public.cu with matrices and layers of networks. */
#pragma once
#include "kinds.cuh"

__global__ void conv_layer_naive(const float *__restrict__ in, const float *__restrict__ weight,
                                 const float *__restrict__ bias, float *__restrict__ out, int batch, int channels, int h,
                                 int w, int filters, int size, int step, int pad)
{
  const int oh = (h + 2 * pad - size) / step + 1, ow = (w + 2 * pad - size) / step + 1;
  const int at = this_thread();
  if (at >= batch * filters * oh * ow)
    return;
  const int x = at % ow, y = at / ow % oh, k = at / ow / oh % filters, b = at / ow / oh / filters;
  float sum = bias[k];
  for (int c = 0; c < channels; c++)
    for (int r = 0; r < size; r++)
      for (int s = 0; s < size; s++) {
        const int iy = y * step + r - pad, ix = x * step + s - pad;
        if (iy >= 0 && iy < h && ix >= 0 && ix < w)
          sum += in[((b * channels + c) * h + iy) * w + ix] * weight[((k * channels + c) * size + r) * size + s];
      }
  out[at] = sum;
}
/* A thread has a point of some filters, whose weights are in shared memory for some channels at a time. */
constexpr int FILTERS = 16, CHUNK = 8;
template <int STEP>
__global__ void __launch_bounds__(128)
  conv_layer_tuned(const float *__restrict__ in, const float *__restrict__ weight, const float *__restrict__ bias,
                   float *__restrict__ out, int channels, int h, int w, int filters, int oh, int ow)
{
  __shared__ float4 part[CHUNK * 9][FILTERS / 4];
  const int t = threadIdx.x, at = this_thread(), k0 = blockIdx.y * FILTERS, b = blockIdx.z;
  const bool inside = at < oh * ow;
  const int y = at / ow * STEP - 1, x = at % ow * STEP - 1;
  float sum[FILTERS];
#pragma unroll
  for (int k = 0; k < FILTERS; k++)
    sum[k] = bias[k0 + k];
  for (int c0 = 0; c0 < channels; c0 += CHUNK) {
    const int many = min(CHUNK, channels - c0);
    __syncthreads();
    for (int i = t; i < FILTERS * many * 9; i += 128) {
      const int k = i / (many * 9), rest = i % (many * 9);
      ((float *)part)[rest * FILTERS + k] = weight[((k0 + k) * channels + c0) * 9 + rest];
    }
    __syncthreads();
    if (!inside)
      continue;
    for (int c = 0; c < many; c++) {
      const float *plane = in + (long)(b * channels + c0 + c) * h * w;
      float near[9];
#pragma unroll
      for (int q = 0; q < 9; q++) {
        const int iy = y + q / 3, ix = x + q % 3;
        near[q] = iy >= 0 && iy < h && ix >= 0 && ix < w ? plane[iy * w + ix] : 0;
      }
#pragma unroll
      for (int q = 0; q < 9; q++)
#pragma unroll
        for (int k = 0; k < FILTERS / 4; k++) {
          const float4 f = part[c * 9 + q][k];
          sum[4 * k] += near[q] * f.x, sum[4 * k + 1] += near[q] * f.y;
          sum[4 * k + 2] += near[q] * f.z, sum[4 * k + 3] += near[q] * f.w;
        }
    }
  }
  if (!inside)
    return;
#pragma unroll
  for (int k = 0; k < FILTERS; k++)
    out[(long)(b * filters + k0 + k) * oh * ow + at] = sum[k];
}
static void conv_layer()
{
  if (!is_wanted("conv_layer"))
    return;
  const int batch = SIZED(8, 2), channels = SIZED(32, 5), h = SIZED(112, 19), w = SIZED(110, 22), step = 2, pad = 1;
  const int filters = SIZED(64, 16), oh = (h + 2 * pad - 3) / step + 1, ow = (w + 2 * pad - 3) / step + 1;
  const int all_out = batch * filters * oh * ow;
  Array<float> in(batch * channels * h * w), weight(filters * channels * 9), bias(filters), out(all_out);
  in.fill(), weight.fill(), bias.fill();
  const auto naive = [&] {
    conv_layer_naive<<<blocks(all_out, 128), 128>>>(in.at, weight.at, bias.at, out.at, batch, channels, h, w, filters, 3,
                                                    step, pad);
  };
  const dim3 grid(blocks(oh * ow, 128), filters / FILTERS, batch);
  const auto tuned = [&] {
    conv_layer_tuned<2><<<grid, 128>>>(in.at, weight.at, bias.at, out.at, channels, h, w, filters, oh, ow);
  };
  compare("conv_layer", EXACT, naive, tuned, [&] { return out.sum(); });
}

/* A block for each image of a channel. */
__global__ void depthwise_naive(const float *__restrict__ in, const float *__restrict__ weight, float *__restrict__ out,
                                int channels, int h, int w, int size)
{
  const int pad = size / 2, c = blockIdx.x % channels;
  const float *plane = in + (size_t)blockIdx.x * h * w;
  float *result = out + (size_t)blockIdx.x * h * w;
  for (int at = threadIdx.x; at < h * w; at += blockDim.x) {
    const int y = at / w, x = at % w;
    float sum = 0;
    for (int r = 0; r < size; r++)
      for (int s = 0; s < size; s++) {
        const int iy = y + r - pad, ix = x + s - pad;
        if (iy < 0 || iy >= h || ix < 0 || ix >= w)
          continue;
        sum += plane[iy * w + ix] * weight[(c * size + r) * size + s];
      }
    result[at] = sum > 0 ? sum : 0;
  }
}
/* Threads go down columns, the last three rows in registers. */
constexpr int DEPTH_ROWS = 8;
__global__ void __launch_bounds__(256)
  depthwise_tuned(const float *__restrict__ in, const float *__restrict__ weight, float *__restrict__ out, int planes,
                  int channels, int h, int w)
{
  const int parts = (h + DEPTH_ROWS - 1) / DEPTH_ROWS, at = this_thread(), x = at % w, y0 = at / w % parts * DEPTH_ROWS;
  const int p = at / w / parts;
  if (p >= planes)
    return;
  const float *plane = in + (long)p * h * w, *filter = weight + p % channels * 9;
  float *result = out + (long)p * h * w;
  float f[9], row[3][3];
#pragma unroll
  for (int q = 0; q < 9; q++)
    f[q] = filter[q];
  const auto load = [&](int y, float *to) {
    const bool inside = y >= 0 && y < h;
    to[0] = inside && x > 0 ? plane[y * w + x - 1] : 0;
    to[1] = inside ? plane[y * w + x] : 0;
    to[2] = inside && x < w - 1 ? plane[y * w + x + 1] : 0;
  };
  load(y0 - 1, row[0]);
  load(y0, row[1]);
#pragma unroll
  for (int k = 0; k < DEPTH_ROWS; k++) {
    if (y0 + k >= h)
      break;
    load(y0 + k + 1, row[(k + 2) % 3]);
    float sum = 0;
#pragma unroll
    for (int q = 0; q < 9; q++)
      sum += row[(k + q / 3) % 3][q % 3] * f[q];
    result[(y0 + k) * w + x] = fmaxf(sum, 0);
  }
}
static void depthwise()
{
  if (!is_wanted("depthwise"))
    return;
  const int batch = SIZED(16, 2), channels = SIZED(128, 3), h = SIZED(56, 15), w = SIZED(56, 18), size = 3;
  const int planes = batch * channels;
  Array<float> in(planes * h * w), out(planes * h * w), weight(channels * size * size);
  in.fill(), weight.fill();
  compare(
    "depthwise", EXACT, [&] { depthwise_naive<<<planes, 128>>>(in.at, weight.at, out.at, channels, h, w, size); },
    [&] {
      depthwise_tuned<<<blocks((long)planes * w * blocks(h, DEPTH_ROWS), 256), 256>>>(in.at, weight.at, out.at, planes,
                                                                                     channels, h, w);
    },
    [&] { return out.sum(); });
}

__global__ void batch_norm_naive(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ gain,
                                 const float *__restrict__ shift, float *__restrict__ mean, float *__restrict__ spread,
                                 int batch, int channels, int pixels, float epsilon)
{
  const int c = blockIdx.x, all = batch * pixels;
  float sum = 0, square = 0;
  for (int at = threadIdx.x; at < all; at += blockDim.x) {
    const float x = in[(at / pixels * channels + c) * pixels + at % pixels];
    sum += x;
    square += x * x;
  }
  sum = tree_sum(sum), square = tree_sum(square);
  const float m = sum / all, s = square / all - m * m, scale = gain[c] / sqrtf(s + epsilon);
  if (threadIdx.x == 0)
    mean[c] = m, spread[c] = s;
  for (int at = threadIdx.x; at < all; at += blockDim.x) {
    const int place = (at / pixels * channels + c) * pixels + at % pixels;
    const float y = (in[place] - m) * scale + shift[c];
    out[place] = y > 0 ? y : 0;
  }
}
/* A block for each plane: sums of all blocks of a channel meet, then the rest is another kernel. */
__global__ void __launch_bounds__(256)
  batch_norm_sums(const float4 *__restrict__ in, float2 *__restrict__ sums, int batch, int channels, int pixels)
{
  __shared__ float warps[2][8];
  const int c = blockIdx.x, b = blockIdx.y, t = threadIdx.x;
  const float4 *plane = in + (long)(b * channels + c) * (pixels / 4);
  float sum = 0, square = 0;
  for (int p = t; p < pixels / 4; p += 256) {
    const float4 x = plane[p];
    sum += x.x + x.y + x.z + x.w;
    square += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  sum = warp_sum(sum), square = warp_sum(square);
  if (t % 32 == 0)
    warps[0][t / 32] = sum, warps[1][t / 32] = square;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 8; w++)
      sum += warps[0][w], square += warps[1][w];
    sums[c * batch + b] = make_float2(sum, square);
  }
}
__global__ void __launch_bounds__(256)
  batch_norm_tuned(const float4 *__restrict__ in, float4 *__restrict__ out, const float2 *__restrict__ sums,
                   const float *__restrict__ gain, const float *__restrict__ shift, float *__restrict__ mean,
                   float *__restrict__ spread, int batch, int channels, int pixels, float epsilon)
{
  __shared__ float factor, more;
  const int c = blockIdx.x, b = blockIdx.y, t = threadIdx.x;
  if (t < 32) {
    float sum = 0, square = 0;
    for (int k = t; k < batch; k += 32)
      sum += sums[c * batch + k].x, square += sums[c * batch + k].y;
    sum = warp_sum(sum), square = warp_sum(square);
    if (t == 0) {
      const float m = sum / (batch * pixels), s = square / (batch * pixels) - m * m;
      const float scale = gain[c] * rsqrtf(s + epsilon);
      factor = scale;
      more = shift[c] - m * scale;
      if (b == 0)
        mean[c] = m, spread[c] = s;
    }
  }
  __syncthreads();
  const float f = factor, d = more;
  const long first = (long)(b * channels + c) * (pixels / 4);
  for (int p = t; p < pixels / 4; p += 256) {
    const float4 x = in[first + p];
    out[first + p] = make_float4(fmaxf(x.x * f + d, 0), fmaxf(x.y * f + d, 0), fmaxf(x.z * f + d, 0),
                                 fmaxf(x.w * f + d, 0));
  }
}
static void batch_norm()
{
  if (!is_wanted("batch_norm"))
    return;
  const int batch = SIZED(32, 3), channels = SIZED(64, 5), pixels = SIZED(56 * 56, 60), n = batch * channels * pixels;
  Array<float> in(n), out(n), gain(channels), shift(channels), mean(channels), spread(channels);
  Array<float2> sums(channels * batch);
  in.fill();
  gain.fill([](long c) { return 2 + 0.125f * value(c); });
  shift.fill([](long c) { return 0.25f * value(c + 1); });
  const auto naive = [&] {
    batch_norm_naive<<<channels, 256>>>(in.at, out.at, gain.at, shift.at, mean.at, spread.at, batch, channels, pixels,
                                        1e-5f);
  };
  const dim3 grid(channels, batch);
  const auto tuned = [&] {
    batch_norm_sums<<<grid, 256>>>((float4 *)in.at, sums.at, batch, channels, pixels);
    batch_norm_tuned<<<grid, 256>>>((float4 *)in.at, (float4 *)out.at, sums.at, gain.at, shift.at, mean.at, spread.at,
                                    batch, channels, pixels, 1e-5f);
  };
  compare("batch_norm", ROUNDED, naive, tuned, [&] {
    double sum = out.sum(true);
    for (const float s : spread.get())
      sum += s;
    mean.clear(), spread.clear();
    return sum;
  });
}

/* What a product of matrices is of: `a(row, k)` and `b(k, column)` are zero outside. Tiles of SIDE * SIDE, each thread
   has some of their rows and columns, 16 apart; what comes next is loaded while the last is multiplied. */
template <class T, bool ROWS_FIRST, int SIDE, class A, class B, class Put>
__device__ __forceinline__ void tiles(int depth, A a, B b, Put put)
{
  constexpr int K = 16, MINE = SIDE / 16;
  __shared__ T left[K][SIDE + 1], right[K][SIDE];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * SIDE, column0 = blockIdx.x * SIDE;
  T sum[MINE][MINE] = {}, next_left[MINE], next_right[MINE];
  const auto load = [&](int k0) {
#pragma unroll
    for (int q = 0; q < MINE; q++) {
      const int at = t + 256 * q;
      next_left[q] = ROWS_FIRST ? a(row0 + at % SIDE, k0 + at / SIDE) : a(row0 + at / K, k0 + at % K);
      next_right[q] = b(k0 + at / SIDE, column0 + at % SIDE);
    }
  };
  load(0);
  for (int k0 = 0; k0 < depth; k0 += K) {
    __syncthreads();
#pragma unroll
    for (int q = 0; q < MINE; q++) {
      const int at = t + 256 * q;
      if (ROWS_FIRST)
        left[at / SIDE][at % SIDE] = next_left[q];
      else
        left[at % K][at / K] = next_left[q];
      right[at / SIDE][at % SIDE] = next_right[q];
    }
    __syncthreads();
    if (k0 + K < depth)
      load(k0 + K);
#pragma unroll
    for (int k = 0; k < K; k++) {
      T l[MINE], r[MINE];
#pragma unroll
      for (int q = 0; q < MINE; q++)
        l[q] = left[k][ty + 16 * q], r[q] = right[k][tx + 16 * q];
#pragma unroll
      for (int p = 0; p < MINE; p++)
#pragma unroll
        for (int q = 0; q < MINE; q++)
          sum[p][q] += l[p] * r[q];
    }
  }
#pragma unroll
  for (int p = 0; p < MINE; p++)
#pragma unroll
    for (int q = 0; q < MINE; q++)
      put(row0 + ty + 16 * p, column0 + tx + 16 * q, sum[p][q]);
}

__global__ void gemm_strided_naive(int m, int n, int k, double alpha, const double *__restrict__ a, int lda,
                                   const double *__restrict__ b, int ldb, double beta, const double *__restrict__ c,
                                   int ldc, double *__restrict__ result)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j >= n)
    return;
  double sum = 0;
  for (int l = 0; l < k; l++)
    sum += a[i * lda + l] * b[l * ldb + j];
  result[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
}
__global__ void __launch_bounds__(256)
  gemm_strided_tuned(int m, int n, int k, double alpha, const double *__restrict__ a, int lda,
                     const double *__restrict__ b, int ldb, double beta, const double *__restrict__ c, int ldc,
                     double *__restrict__ result)
{
  tiles<double, false, 64>(
    k, [&](int i, int l) { return i < m && l < k ? a[i * lda + l] : 0; },
    [&](int l, int j) { return l < k && j < n ? b[l * ldb + j] : 0; },
    [&](int i, int j, double sum) {
      if (i < m && j < n)
        result[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
    });
}
static void gemm_strided()
{
  if (!is_wanted("gemm_strided"))
    return;
  const int m = SIZED(701, 37), n = SIZED(802, 70), k = SIZED(603, 25), lda = k + 5, ldb = n + 6, ldc = n + 3;
  Array<double> a(m * lda), b(k * ldb), c(m * ldc), d(m * ldc);
  a.fill(), b.fill(), c.fill();
  const auto naive = [&] {
    gemm_strided_naive<<<dim3(blocks(n, 128), m), 128>>>(m, n, k, 3, a.at, lda, b.at, ldb, 2, c.at, ldc, d.at);
  };
  const auto tuned = [&] {
    gemm_strided_tuned<<<dim3(blocks(n, 64), blocks(m, 64)), 256>>>(m, n, k, 3, a.at, lda, b.at, ldb, 2, c.at, ldc, d.at);
  };
  compare("gemm_strided", EXACT, naive, tuned, [&] { return d.sum(); });
}

__global__ void gemm_tn_naive(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b,
                              float *__restrict__ c)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j >= n)
    return;
  float sum = 0;
  for (int l = 0; l < k; l++)
    sum += a[l * m + i] * b[l * n + j];
  c[i * n + j] = sum;
}
__global__ void __launch_bounds__(256)
  gemm_tn_tuned(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
  tiles<float, true, 64>(
    k, [&](int i, int l) { return i < m && l < k ? a[l * m + i] : 0; },
    [&](int l, int j) { return l < k && j < n ? b[l * n + j] : 0; },
    [&](int i, int j, float sum) {
      if (i < m && j < n)
        c[i * n + j] = sum;
    });
}
static void gemm_tn()
{
  if (!is_wanted("gemm_tn"))
    return;
  const int m = SIZED(1000, 37), n = SIZED(1100, 70), k = SIZED(900, 25);
  Array<float> a(k * m), b(k * n), c(m * n);
  a.fill(), b.fill();
  compare(
    "gemm_tn", EXACT, [&] { gemm_tn_naive<<<dim3(blocks(n, 128), m), 128>>>(m, n, k, a.at, b.at, c.at); },
    [&] { gemm_tn_tuned<<<dim3(blocks(n, 64), blocks(m, 64)), 256>>>(m, n, k, a.at, b.at, c.at); },
    [&] { return c.sum(); });
}

__global__ void covariance_mean(int m, int n, const double *__restrict__ data, double *__restrict__ mean)
{
  const int j = this_thread();
  if (j >= m)
    return;
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += data[i * m + j];
  mean[j] = sum / n;
}
__global__ void covariance_naive(int m, int n, const double *__restrict__ data, const double *__restrict__ mean,
                                 double *__restrict__ cov)
{
  const int i = blockIdx.x;
  for (int j = i + threadIdx.x; j < m; j += blockDim.x) {
    double sum = 0;
    for (int k = 0; k < n; k++)
      sum += (data[k * m + i] - mean[i]) * (data[k * m + j] - mean[j]);
    cov[i * m + j] = cov[j * m + i] = sum / (n - 1.0);
  }
}
/* Eight threads for each of 32 columns. */
__global__ void __launch_bounds__(256)
  covariance_mean_tuned(int m, int n, const double *__restrict__ data, double *__restrict__ mean)
{
  __shared__ double part[8][32];
  const int tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * 32 + tx;
  double sum = 0;
  if (j < m)
    for (int i = ty; i < n; i += 8)
      sum += data[i * m + j];
  part[ty][tx] = sum;
  __syncthreads();
  if (ty == 0 && j < m) {
    for (int y = 1; y < 8; y++)
      sum += part[y][tx];
    mean[j] = sum / n;
  }
}
__global__ void __launch_bounds__(256)
  covariance_tuned(int m, int n, const double *__restrict__ data, const double *__restrict__ mean,
                   double *__restrict__ cov)
{
  if (blockIdx.x < blockIdx.y)
    return;
  const auto at = [&](int k, int j) { return k < n && j < m ? data[k * m + j] - mean[j] : 0; };
  tiles<double, true, 32>(
    n, [&](int i, int k) { return at(k, i); }, at,
    [&](int i, int j, double sum) {
      if (i <= j && j < m)
        cov[i * m + j] = cov[j * m + i] = sum / (n - 1.0);
    });
}
static void covariance()
{
  if (!is_wanted("covariance"))
    return;
  const int m = SIZED(500, 70), n = SIZED(600, 40);
  Array<double> data(n * m), cov(m * m), mean(m);
  data.fill([&](long i) { return (double)value(i) + value(i / m + 1); });
  const auto naive = [&] {
    covariance_mean<<<blocks(m, 128), 128>>>(m, n, data.at, mean.at);
    covariance_naive<<<m, 128>>>(m, n, data.at, mean.at, cov.at);
  };
  const auto tuned = [&] {
    covariance_mean_tuned<<<blocks(m, 32), dim3(32, 8)>>>(m, n, data.at, mean.at);
    covariance_tuned<<<dim3(blocks(m, 32), blocks(m, 32)), 256>>>(m, n, data.at, mean.at, cov.at);
  };
  compare("covariance", ROUNDED, naive, tuned, [&] { return cov.sum(true); });
}
