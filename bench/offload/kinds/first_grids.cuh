/* Those of first.cu that go over whole arrays in order. */
#pragma once
#include "kinds.cuh"

__global__ void saxpy_naive(int n, const float *__restrict__ x, float *__restrict__ y)
{
  const int i = this_thread();
  if (i < n)
    y[i] = 2 * x[i] + y[i];
}
__global__ void saxpy_tuned(int n, const float4 *__restrict__ x, float4 *__restrict__ y)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const float4 a = x[i];
  float4 b = y[i];
  b.x += 2 * a.x, b.y += 2 * a.y, b.z += 2 * a.z, b.w += 2 * a.w;
  y[i] = b;
}
static void saxpy()
{
  if (!is_wanted("saxpy"))
    return;
  const int n = SIZED(1 << 25, 5000);
  Array<float> x(n), y(n);
  x.fill(), y.fill();
  const auto sum = [&] {
    const double sum = y.sum();
    y.fill();
    return sum;
  };
  compare(
    "saxpy", EXACT, [&] { saxpy_naive<<<blocks(n, 256), 256>>>(n, x.at, y.at); },
    [&] { saxpy_tuned<<<blocks(n / 4, 256), 256>>>(n / 4, (float4 *)x.at, (float4 *)y.at); }, sum);
}

/* A block for each row, as teams are there. */
__global__ void jacobi_naive(int n, const double *__restrict__ a, double *__restrict__ b)
{
  const int i = blockIdx.x + 1;
  for (int j = 1 + threadIdx.x; j < n - 1; j += blockDim.x)
    b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}
/* Eight rows for each thread, so that rows are read once. */
__global__ void jacobi_tuned(int n, const double *__restrict__ a, double *__restrict__ b)
{
  const int j = this_thread() + 1, top = blockIdx.y * 8 + 1;
  if (j >= n - 1)
    return;
  double above = a[(top - 1) * n + j], here = a[top * n + j];
#pragma unroll
  for (int r = 0; r < 8; r++) {
    const int i = top + r;
    if (i >= n - 1)
      return;
    const double below = a[(i + 1) * n + j];
    b[i * n + j] = 0.25 * (above + below + a[i * n + j - 1] + a[i * n + j + 1]);
    above = here, here = below;
  }
}
static void jacobi()
{
  if (!is_wanted("jacobi"))
    return;
  const int n = SIZED(6144, 100);
  Array<double> a((long)n * n), b((long)n * n);
  a.fill();
  compare(
    "jacobi", EXACT, [&] { jacobi_naive<<<n - 2, 256>>>(n, a.at, b.at); },
    [&] { jacobi_tuned<<<dim3(blocks(n - 2, 128), blocks(n - 2, 8)), 128>>>(n, a.at, b.at); },
    [&] { return b.sum(); });
}

__global__ void heat27_naive(int n, const double *__restrict__ a, double *__restrict__ b)
{
  const int x = this_thread() + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z + 1;
  if (x >= n - 1 || y >= n - 1)
    return;
#define AT(dz, dy, dx) a[((z + (dz)) * n + y + (dy)) * n + x + (dx)]
  const double face = AT(-1, 0, 0) + AT(1, 0, 0) + AT(0, -1, 0) + AT(0, 1, 0) + AT(0, 0, -1) + AT(0, 0, 1);
  double edge = 0, corner = 0;
  for (int i = -1; i <= 1; i += 2)
    for (int j = -1; j <= 1; j += 2) {
      edge += AT(i, j, 0) + AT(i, 0, j) + AT(0, i, j);
      corner += AT(i, j, -1) + AT(i, j, 1);
    }
  b[(z * n + y) * n + x] = 8 * AT(0, 0, 0) + 4 * face + 2 * edge + corner;
#undef AT
}
/* Planes go through shared memory; of each its middle, its edges and its corners are kept for two more. */
constexpr int DEPTH = 32;
__global__ void __launch_bounds__(256) heat27_tuned(int n, const double *__restrict__ a, double *__restrict__ b)
{
  __shared__ double tiles[2][10][34];
  const int left = blockIdx.x * 32, top = blockIdx.y * 8, tx = threadIdx.x, ty = threadIdx.y;
  const int first = blockIdx.z * DEPTH + 1, last = min(first + DEPTH, n - 1);
  double middle[3] = {}, edges[3] = {}, corners[3] = {};
  for (int z = first - 1; z <= last; z++) {
    double(*t)[34] = tiles[z & 1];
    for (int q = ty * 32 + tx; q < 340; q += 256) {
      const int y = top + q / 34, x = left + q % 34;
      if (y < n && x < n)
        t[q / 34][q % 34] = a[(z * n + y) * n + x];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++)
      middle[k] = middle[k + 1], edges[k] = edges[k + 1], corners[k] = corners[k + 1];
    middle[2] = t[ty + 1][tx + 1];
    edges[2] = t[ty][tx + 1] + t[ty + 2][tx + 1] + t[ty + 1][tx] + t[ty + 1][tx + 2];
    corners[2] = t[ty][tx] + t[ty][tx + 2] + t[ty + 2][tx] + t[ty + 2][tx + 2];
    if (z > first && left + tx + 1 < n - 1 && top + ty + 1 < n - 1)
      b[((z - 1) * n + top + ty + 1) * n + left + tx + 1] = 8 * middle[1] + 4 * (edges[1] + middle[0] + middle[2])
        + 2 * (corners[1] + edges[0] + edges[2]) + corners[0] + corners[2];
  }
}
static void heat27()
{
  if (!is_wanted("heat27"))
    return;
  const int n = SIZED(320, 20);
  Array<double> a((long)n * n * n), b((long)n * n * n);
  a.fill();
  const int across = blocks(n - 2, 32), down = blocks(n - 2, 8);
  compare(
    "heat27", EXACT, [&] { heat27_naive<<<dim3(across, down, n - 2), dim3(32, 8)>>>(n, a.at, b.at); },
    [&] { heat27_tuned<<<dim3(across, down, blocks(n - 2, DEPTH)), dim3(32, 8)>>>(n, a.at, b.at); },
    [&] { return b.sum(); });
}

__global__ void triangle_naive(int n, const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ b)
{
  const int j = this_thread(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j <= i)
    b[i * n + j] = a[i * n + j] + x[i] * x[j];
}
/* A short row and a long one for each block: the same for all. */
__global__ void triangle_tuned(int n, const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ b)
{
  for (int part = 0; part < 2; part++) {
    const int i = part ? n - 1 - blockIdx.x : blockIdx.x;
    for (int j = threadIdx.x; j <= i; j += blockDim.x)
      b[i * n + j] = a[i * n + j] + x[i] * x[j];
  }
}
static void triangle()
{
  if (!is_wanted("triangle"))
    return;
  const int n = SIZED(10000, 70);
  Array<float> a((long)n * n), b((long)n * n), x(n);
  a.fill(), x.fill();
  compare(
    "triangle", EXACT,
    [&] { triangle_naive<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, a.at, x.at, b.at); },
    [&] { triangle_tuned<<<n / 2, 256>>>(n, a.at, x.at, b.at); }, [&] { return b.sum(); });
}

__global__ void syrk_naive(int n, int l, const double *__restrict__ a, double *__restrict__ c)
{
  const int j = this_thread(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j > i)
    return;
  double s = 0;
  for (int k = 0; k < l; k++)
    s += a[i * l + k] * a[j * l + k];
  c[i * n + j] = s;
}
/* Tiles of 64 x 64 on and below the diagonal, 4 x 4 for each thread. */
__global__ void __launch_bounds__(256) syrk_tuned(int n, int l, const double *__restrict__ a, double *__restrict__ c)
{
  if (blockIdx.x > blockIdx.y)
    return;
  __shared__ double left[16][65], right[16][65];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, top = blockIdx.y * 64, first = blockIdx.x * 64;
  double acc[4][4] = {};
  for (int k0 = 0; k0 < l; k0 += 16) {
#pragma unroll
    for (int q = threadIdx.x; q < 64 * 16; q += 256) {
      const int i = q / 16, k = q % 16;
      const bool in = k0 + k < l;
      left[k][i] = in && top + i < n ? a[(top + i) * l + k0 + k] : 0;
      right[k][i] = in && first + i < n ? a[(first + i) * l + k0 + k] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
#pragma unroll
      for (int r = 0; r < 4; r++)
#pragma unroll
        for (int q = 0; q < 4; q++)
          acc[r][q] += left[k][ty + 16 * r] * right[k][tx + 16 * q];
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int i = top + ty + 16 * r, j = first + tx + 16 * q;
      if (i < n && j <= i)
        c[i * n + j] = acc[r][q];
    }
}
static void syrk()
{
  if (!is_wanted("syrk"))
    return;
  const int n = SIZED(2048, 100), l = SIZED(1024, 50);
  Array<double> a(n * l), c((long)n * n);
  a.fill();
  compare(
    "syrk", EXACT, [&] { syrk_naive<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, l, a.at, c.at); },
    [&] { syrk_tuned<<<dim3(blocks(n, 64), blocks(n, 64)), 256>>>(n, l, a.at, c.at); }, [&] { return c.sum(); });
}

struct Matrix4 {
  float at[4][4];
};
struct Vector4 {
  float at[4];
};
__global__ void matrices4_naive(int n, const Matrix4 *__restrict__ m, const Vector4 *__restrict__ v,
                                Vector4 *__restrict__ w)
{
  const int t = this_thread();
  if (t >= n)
    return;
  for (int i = 0; i < 4; i++) {
    float s = 0;
    for (int j = 0; j < 4; j++)
      s += m[t].at[i][j] * v[t].at[j];
    w[t].at[i] = s;
  }
}
/* A thread for each row. */
__global__ void matrices4_tuned(int n, const float4 *__restrict__ m, const float4 *__restrict__ v,
                                float *__restrict__ w)
{
  const int at = this_thread();
  if (at >= 4 * n)
    return;
  const float4 a = m[at], b = v[at / 4];
  w[at] = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
static void matrices4()
{
  if (!is_wanted("matrices4"))
    return;
  const int n = SIZED(1 << 22, 1000);
  Array<float> m(16L * n), v(4L * n), w(4L * n);
  m.fill(), v.fill();
  compare(
    "matrices4", EXACT,
    [&] { matrices4_naive<<<blocks(n, 256), 256>>>(n, (Matrix4 *)m.at, (Vector4 *)v.at, (Vector4 *)w.at); },
    [&] { matrices4_tuned<<<blocks(4 * n, 256), 256>>>(n, (float4 *)m.at, (float4 *)v.at, w.at); },
    [&] { return w.sum(); });
}

__global__ void mandelbrot_any(int size, int most, int *__restrict__ count)
{
  const int j = this_thread(), i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= size || j >= size)
    return;
  const double cx = -2.0 + 3.0 * j / size, cy = -1.5 + 3.0 * i / size;
  double x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4.0) {
    const double t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    n++;
  }
  count[i * size + j] = n;
}
static void mandelbrot()
{
  if (!is_wanted("mandelbrot"))
    return;
  const int n = SIZED(3072, 100), most = SIZED(500, 100);
  Array<int> count((long)n * n);
  /* Warps of 8 x 4 points diverge less than those of 32 x 1. */
  compare(
    "mandelbrot", ROUNDED,
    [&] { mandelbrot_any<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, most, count.at); },
    [&] { mandelbrot_any<<<dim3(blocks(n, 8), blocks(n, 16)), dim3(8, 16)>>>(n, most, count.at); },
    [&] { return count.sum(); });
}

/* All accesses are in order and nothing is used twice: naive is what one would write. */
__global__ void boltzmann_naive(int n, const double *__restrict__ f, double *__restrict__ g)
{
  constexpr int cx[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, cy[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
  constexpr double weight[9] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36 };
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n)
    return;
  double in[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const int fx = (x - cx[q] + n) % n, fy = (y - cy[q] + n) % n;
    in[q] = f[(q * n + fy) * n + fx];
    rho += in[q];
    ux += cx[q] * in[q];
    uy += cy[q] * in[q];
  }
  ux /= rho;
  uy /= rho;
  const double square = 1.5 * (ux * ux + uy * uy);
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const double cu = 3 * (cx[q] * ux + cy[q] * uy);
    const double equal = weight[q] * rho * (1 + cu + 0.5 * cu * cu - square);
    g[(q * n + y) * n + x] = in[q] + 1.2 * (equal - in[q]);
  }
}
static void boltzmann()
{
  if (!is_wanted("boltzmann"))
    return;
  const int n = SIZED(2048, 60);
  Array<double> f(9L * n * n), g(9L * n * n);
  f.fill([](long i) { return 0.1 + 0.001 * value(i); });
  only(
    "boltzmann", ROUNDED,
    [&] { boltzmann_naive<<<dim3(blocks(n, 128), n), 128>>>(n, f.at, g.at); }, [&] { return g.sum(); });
}

__global__ void softmax_naive(int m, const float *__restrict__ a, float *__restrict__ b)
{
  __shared__ float all[256];
  const int t = threadIdx.x;
  a += (long)blockIdx.x * m, b += (long)blockIdx.x * m;
  float most = a[0], total = 0;
  for (int j = t; j < m; j += 256)
    most = fmaxf(most, a[j]);
  all[t] = most;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = fmaxf(all[t], all[t + far]);
  }
  __syncthreads();
  most = all[0];
  for (int j = t; j < m; j += 256) {
    b[j] = expf(a[j] - most);
    total += b[j];
  }
  total = tree_sum(total);
  for (int j = t; j < m; j += 256)
    b[j] /= total;
}
/* A warp for each row of 1024, which it holds in registers. */
__global__ void __launch_bounds__(256) softmax_tuned(int n, const float4 *__restrict__ a, float4 *__restrict__ b)
{
  const int i = this_thread() / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  a += (long)i * 256 + lane, b += (long)i * 256 + lane;
  float4 x[8];
#pragma unroll
  for (int r = 0; r < 8; r++)
    x[r] = a[r * 32];
  float most = x[0].x, total = 0;
#pragma unroll
  for (int r = 0; r < 8; r++)
    most = fmaxf(most, fmaxf(fmaxf(x[r].x, x[r].y), fmaxf(x[r].z, x[r].w)));
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, far));
#pragma unroll
  for (int r = 0; r < 8; r++) {
    x[r] = make_float4(__expf(x[r].x - most), __expf(x[r].y - most), __expf(x[r].z - most), __expf(x[r].w - most));
    total += x[r].x + x[r].y + x[r].z + x[r].w;
  }
  const float scale = 1 / warp_sum(total);
#pragma unroll
  for (int r = 0; r < 8; r++)
    b[r * 32] = make_float4(x[r].x * scale, x[r].y * scale, x[r].z * scale, x[r].w * scale);
}
static void softmax()
{
  if (!is_wanted("softmax"))
    return;
  const int n = SIZED(32768, 30), m = 1024;
  Array<float> a((long)n * m), b((long)n * m);
  a.fill();
  compare(
    "softmax", ROUNDED, [&] { softmax_naive<<<n, 256>>>(m, a.at, b.at); },
    [&] { softmax_tuned<<<blocks(n, 8), 256>>>(n, (float4 *)a.at, (float4 *)b.at); }, [&] { return b.sum(); });
}

__global__ void grey_naive(int n, const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n)
    return;
  const unsigned char *at = &in[3 * (y * n + x)];
  out[y * n + x] = (77 * at[0] + 150 * at[1] + 29 * at[2]) >> 8;
}
/* Sixteen pixels for each thread. */
__global__ void grey_tuned(int n, const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const uint4 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  const unsigned words[12] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w };
  unsigned result[4];
#pragma unroll
  for (int w = 0; w < 4; w++) {
    result[w] = 0;
#pragma unroll
    for (int p = 0; p < 4; p++) {
      unsigned colour[3];
#pragma unroll
      for (int k = 0; k < 3; k++) {
        const int at = 3 * (4 * w + p) + k;
        colour[k] = words[at / 4] >> at % 4 * 8 & 255;
      }
      result[w] |= (77 * colour[0] + 150 * colour[1] + 29 * colour[2]) >> 8 << 8 * p;
    }
  }
  out[i] = make_uint4(result[0], result[1], result[2], result[3]);
}
static void grey()
{
  if (!is_wanted("grey"))
    return;
  const int n = SIZED(8192, 64);
  Array<unsigned char> in(3L * n * n), out((long)n * n);
  in.fill([](long i) { return (unsigned char)((unsigned)(i * 2654435761u) >> 24); });
  compare(
    "grey", EXACT, [&] { grey_naive<<<dim3(blocks(n, 32), blocks(n, 8)), dim3(32, 8)>>>(n, in.at, out.at); },
    [&] { grey_tuned<<<blocks(n * n / 16, 256), 256>>>(n * n / 16, (uint4 *)in.at, (uint4 *)out.at); },
    [&] { return out.sum(); });
}

__global__ void blur_naive(int h, int w, const float *__restrict__ in, float *__restrict__ out)
{
  const int x = this_thread(), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float s = 0;
  for (int d = 0; d < 15; d++)
    s += in[(y + d) * w + x];
  out[y * w + x] = s;
}
/* A sum that slides down over 64 rows. */
__global__ void blur_tuned(int h, int w, const float *__restrict__ in, float *__restrict__ out)
{
  const int x = this_thread(), top = blockIdx.y * 64, end = min(top + 64, h);
  if (x >= w)
    return;
  float s = 0;
#pragma unroll
  for (int d = 0; d < 14; d++)
    s += in[(top + d) * w + x];
#pragma unroll 8
  for (int y = top; y < end; y++) {
    s += in[(y + 14) * w + x];
    out[y * w + x] = s;
    s -= in[y * w + x];
  }
}
static void blur()
{
  if (!is_wanted("blur"))
    return;
  const int h = SIZED(4096, 50), w = SIZED(8192, 60);
  Array<float> in((long)(h + 14) * w), out((long)h * w);
  in.fill();
  compare(
    "blur", EXACT, [&] { blur_naive<<<dim3(blocks(w, 32), blocks(h, 8)), dim3(32, 8)>>>(h, w, in.at, out.at); },
    [&] { blur_tuned<<<dim3(blocks(w, 128), blocks(h, 64)), 128>>>(h, w, in.at, out.at); }, [&] { return out.sum(); });
}

__global__ void matvec_columns_naive(int n, const double *__restrict__ a, const double *__restrict__ x,
                                     double *__restrict__ y)
{
  const int i = this_thread();
  if (i >= n)
    return;
  double s = 0;
  for (int j = 0; j < n; j++)
    s += a[j * n + i] * x[j];
  y[i] = s;
}
/* 128 rows and 256 columns for each block. */
__global__ void __launch_bounds__(256)
  matvec_columns_tuned(int n, const double *__restrict__ a, const double *__restrict__ x, double *y)
{
  __shared__ double2 sums[4][64];
  const int part = threadIdx.x / 64, lane = threadIdx.x % 64, i = (blockIdx.x * 64 + lane) * 2;
  double2 s = make_double2(0, 0);
  if (i < n)
#pragma unroll 8
    for (int j = blockIdx.y * 256 + part; j < min(n, (int)blockIdx.y * 256 + 256); j += 4) {
      const double2 two = *(const double2 *)&a[j * n + i];
      s.x += two.x * x[j];
      s.y += two.y * x[j];
    }
  sums[part][lane] = s;
  __syncthreads();
  if (part == 0 && i < n) {
    atomicAdd(&y[i], sums[0][lane].x + sums[1][lane].x + sums[2][lane].x + sums[3][lane].x);
    atomicAdd(&y[i + 1], sums[0][lane].y + sums[1][lane].y + sums[2][lane].y + sums[3][lane].y);
  }
}
static void matvec_columns()
{
  if (!is_wanted("matvec_columns"))
    return;
  const int n = SIZED(8192, 100);
  Array<double> a((long)n * n), x(n), y(n);
  a.fill(), x.fill();
  const auto tuned = [&] {
    failed(cudaMemsetAsync(y.at, 0, sizeof(double) * n));
    matvec_columns_tuned<<<dim3(blocks(n, 128), blocks(n, 256)), 256>>>(n, a.at, x.at, y.at);
  };
  compare(
    "matvec_columns", EXACT, [&] { matvec_columns_naive<<<blocks(n, 128), 128>>>(n, a.at, x.at, y.at); }, tuned,
    [&] { return y.sum(); });
}
