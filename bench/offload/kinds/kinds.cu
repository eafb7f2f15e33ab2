/* The kernels of kinds.c in CUDA: as they are written there, a thread for each iteration ("naive"), and as one would
   write them for the GPU ("tuned"). nvcc -O3 -arch=sm_90 kinds.cu -o kinds_cuda && ./kinds_cuda */
#include "kinds.cuh"

/* Operand layouts: row-major, or transposed. */
template <class T, bool TA, bool TB>
__global__ void product_naive(int m, int n, int l, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n)
    return;
  T s = 0;
  for (int k = 0; k < l; k++)
    s += a[TA ? k * m + i : i * l + k] * b[TB ? j * l + k : k * n + j];
  c[i * n + j] = s;
}

template <class T, bool TA, bool TB, int TM, int TN>
__global__ void __launch_bounds__(256)
  product_tuned(int m, int n, int l, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c)
{
  constexpr int BM = 16 * TM, BN = 16 * TN, BK = sizeof(T) > 4 ? 8 : 16;
  __shared__ T as[BK][BM + 4], bs[BK][BN + 4];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, top = blockIdx.y * BM, left = blockIdx.x * BN;
  T acc[TM][TN] = {};
  for (int k0 = 0; k0 < l; k0 += BK) {
#pragma unroll
    for (int q = threadIdx.x; q < BM * BK; q += 256) {
      const int i = TA ? q % BM : q / BK, k = TA ? q / BM : q % BK;
      const bool in = top + i < m && k0 + k < l;
      as[k][i] = in ? a[TA ? (k0 + k) * m + top + i : (top + i) * l + k0 + k] : T(0);
    }
#pragma unroll
    for (int q = threadIdx.x; q < BN * BK; q += 256) {
      const int j = TB ? q / BK : q % BN, k = TB ? q % BK : q / BN;
      const bool in = left + j < n && k0 + k < l;
      bs[k][j] = in ? b[TB ? (left + j) * l + k0 + k : (k0 + k) * n + left + j] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      T ra[TM], rb[TN];
#pragma unroll
      for (int r = 0; r < TM; r++)
        ra[r] = as[k][ty * TM + r];
#pragma unroll
      for (int q = 0; q < TN; q++)
        rb[q] = bs[k][q * 16 + tx];
#pragma unroll
      for (int r = 0; r < TM; r++)
#pragma unroll
        for (int q = 0; q < TN; q++)
          acc[r][q] += ra[r] * rb[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; r++)
#pragma unroll
    for (int q = 0; q < TN; q++) {
      const int i = top + ty * TM + r, j = left + q * 16 + tx;
      if (i < m && j < n)
        c[i * n + j] = acc[r][q];
    }
}

template <class T, bool TA, bool TB, int TM, int TN> static void product(const char *name, int m, int n, int l)
{
  if (!is_wanted(name))
    return;
  Array<T> a((long)m * l), b((long)l * n), c((long)m * n);
  a.fill(), b.fill();
  const dim3 threads(32, 8), blocks((n + 31) / 32, (m + 7) / 8);
  double time = median([&] { product_naive<T, TA, TB><<<blocks, threads>>>(m, n, l, a.at, b.at, c.at); });
  tell(name, "naive", time, c.sum());
  const dim3 tiles((n + 16 * TN - 1) / (16 * TN), (m + 16 * TM - 1) / (16 * TM));
  time = median([&] { product_tuned<T, TA, TB, TM, TN><<<tiles, 256>>>(m, n, l, a.at, b.at, c.at); });
  tell(name, "tuned", time, c.sum());
}

__global__ void batched_naive(int many, const float *__restrict__ a, const float *__restrict__ b,
                              float *__restrict__ c)
{
  const int at = blockIdx.x * blockDim.x + threadIdx.x, t = at / 1024, i = at / 32 % 32, j = at % 32;
  if (t >= many)
    return;
  float s = 0;
  for (int k = 0; k < 32; k++)
    s += a[t * 1024 + i * 32 + k] * b[t * 1024 + k * 32 + j];
  c[at] = s;
}
__global__ void batched_tuned(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
  __shared__ float as[32][33], bs[32][32];
  const int t = blockIdx.x;
  for (int q = threadIdx.x; q < 1024; q += 256) {
    as[q / 32][q % 32] = a[t * 1024 + q];
    bs[q / 32][q % 32] = b[t * 1024 + q];
  }
  __syncthreads();
  const int j = threadIdx.x % 32, i = threadIdx.x / 32;
  float s[4] = {};
#pragma unroll
  for (int k = 0; k < 32; k++)
#pragma unroll
    for (int r = 0; r < 4; r++)
      s[r] += as[i + 8 * r][k] * bs[k][j];
#pragma unroll
  for (int r = 0; r < 4; r++)
    c[t * 1024 + (i + 8 * r) * 32 + j] = s[r];
}
static void batched()
{
  if (!is_wanted("batched"))
    return;
  const int many = 8192;
  Array<float> a(many * 1024l), b(many * 1024l), c(many * 1024l);
  a.fill(), b.fill();
  double time = median([&] { batched_naive<<<many * 4, 256>>>(many, a.at, b.at, c.at); });
  tell("batched", "naive", time, c.sum());
  time = median([&] { batched_tuned<<<many, 256>>>(a.at, b.at, c.at); });
  tell("batched", "tuned", time, c.sum());
}

__global__ void distances_naive(int n, const float *__restrict__ x, float *__restrict__ d)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < 64; k++) {
    const float t = x[i * 64 + k] - x[j * 64 + k];
    s += t * t;
  }
  d[(long)i * n + j] = s;
}
__global__ void __launch_bounds__(256) distances_tuned(int n, const float *__restrict__ x, float *__restrict__ d)
{
  __shared__ float as[16][132], bs[16][132];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, top = blockIdx.y * 128, left = blockIdx.x * 128;
  float acc[8][8] = {};
  for (int k0 = 0; k0 < 64; k0 += 16) {
#pragma unroll
    for (int q = threadIdx.x; q < 2048; q += 256) {
      as[q % 16][q / 16] = x[(top + q / 16) * 64 + k0 + q % 16];
      bs[q % 16][q / 16] = x[(left + q / 16) * 64 + k0 + q % 16];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
#pragma unroll
      for (int r = 0; r < 8; r++)
#pragma unroll
        for (int q = 0; q < 8; q++) {
          const float t = as[k][ty * 8 + r] - bs[k][q * 16 + tx];
          acc[r][q] += t * t;
        }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; r++)
#pragma unroll
    for (int q = 0; q < 8; q++)
      d[(long)(top + ty * 8 + r) * n + left + q * 16 + tx] = acc[r][q];
}
static void distances()
{
  if (!is_wanted("distances"))
    return;
  const int n = 8192;
  Array<float> x(n * 64l), d((long)n * n);
  x.fill();
  double time = median([&] { distances_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, x.at, d.at); });
  tell("distances", "naive", time, d.sum());
  time = median([&] { distances_tuned<<<dim3(n / 128, n / 128), 256>>>(n, x.at, d.at); });
  tell("distances", "tuned", time, d.sum());
}

__global__ void transpose_naive(int n, const float *__restrict__ a, float *__restrict__ b)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  b[(long)j * n + i] = a[(long)i * n + j];
}
__global__ void transpose_tuned(int n, const float *__restrict__ a, float *__restrict__ b)
{
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += 8)
    tile[r][threadIdx.x] = a[(long)(y + r) * n + x];
  __syncthreads();
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += 8)
    b[(long)(blockIdx.x * 32 + r) * n + y + threadIdx.x] = tile[threadIdx.x][r];
}
static void transpose()
{
  if (!is_wanted("transpose"))
    return;
  const int n = 8192;
  Array<float> a((long)n * n), b((long)n * n);
  a.fill();
  double time = median([&] { transpose_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, a.at, b.at); });
  tell("transpose", "naive", time, b.sum());
  time = median([&] { transpose_tuned<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(n, a.at, b.at); });
  tell("transpose", "tuned", time, b.sum());
}

__global__ void convolution_naive(int n, int pad, const float *__restrict__ in, const float *__restrict__ w,
                                  float *__restrict__ out)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++)
      s += in[(y + i) * pad + x + j] * w[i * 5 + j];
  out[y * n + x] = s;
}
__global__ void convolution_tuned(int n, int pad, const float *__restrict__ in, const float *__restrict__ w,
                                  float *__restrict__ out)
{
  __shared__ float tile[36][68];
  float weights[25];
#pragma unroll
  for (int i = 0; i < 25; i++)
    weights[i] = w[i];
  const int left = blockIdx.x * 64, top = blockIdx.y * 32;
  for (int q = threadIdx.x; q < 36 * 68; q += 256)
    tile[q / 68][q % 68] = in[(top + q / 68) * pad + left + q % 68];
  __syncthreads();
  const int x = threadIdx.x % 64, y = threadIdx.x / 64 * 8;
  float s[8] = {};
#pragma unroll
  for (int r = 0; r < 12; r++) {
    float row[5];
#pragma unroll
    for (int j = 0; j < 5; j++)
      row[j] = tile[y + r][x + j];
#pragma unroll
    for (int i = 0; i < 5; i++)
      if (r - i >= 0 && r - i < 8)
#pragma unroll
        for (int j = 0; j < 5; j++)
          s[r - i] += row[j] * weights[i * 5 + j];
  }
#pragma unroll
  for (int r = 0; r < 8; r++)
    out[(top + y + r) * n + left + x] = s[r];
}
static void convolution()
{
  if (!is_wanted("convolution"))
    return;
  const int n = 4096, pad = n + 4;
  Array<float> in((long)pad * pad), out((long)n * n), w(25);
  in.fill(), w.fill();
  double time = median([&] { convolution_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, pad, in.at, w.at, out.at); });
  tell("convolution", "naive", time, out.sum());
  time = median([&] { convolution_tuned<<<dim3(n / 64, n / 32), 256>>>(n, pad, in.at, w.at, out.at); });
  tell("convolution", "tuned", time, out.sum());
}

__global__ void stencil_naive(int n, const float *__restrict__ a, float *__restrict__ b)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
    return;
  const long at = ((long)z * n + y) * n + x;
  b[at] = 2 * a[at] + a[at - (long)n * n] + a[at + (long)n * n] + a[at - n] + a[at + n] + a[at - 1] + a[at + 1];
}
static void stencil()
{
  if (!is_wanted("stencil"))
    return;
  const int n = 384;
  Array<float> a((long)n * n * n), b((long)n * n * n);
  a.fill();
  const dim3 grid(n / 32, n / 8, n);
  only("stencil", EXACT, [&] { stencil_naive<<<grid, dim3(32, 8)>>>(n, a.at, b.at); }, [&] { return b.sum(); });
}

__global__ void compaction_naive(int n, const int *__restrict__ a, int *__restrict__ b, int *count)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (a[i] > 2)
      b[atomicAdd(count, 1)] = a[i];
}
__global__ void compaction_tuned(int n, const int *__restrict__ a, int *__restrict__ b, int *count)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const bool is_one = a[i] > 2;
    const unsigned all = __ballot_sync(__activemask(), is_one), lane = threadIdx.x % 32;
    if (!is_one)
      continue;
    int first;
    if (lane == __ffs(all) - 1)
      first = atomicAdd(count, __popc(all));
    first = __shfl_sync(all, first, __ffs(all) - 1);
    b[first + __popc(all & ((1u << lane) - 1))] = a[i];
  }
}
static void compaction()
{
  if (!is_wanted("compaction"))
    return;
  const int n = 1 << 24;
  Array<int> a(n), b(n), count(1);
  a.fill();
  for (const bool is_tuned : { false, true }) {
    const double time = median([&] {
      failed(cudaMemsetAsync(count.at, 0, 4));
      if (is_tuned)
        compaction_tuned<<<2112, 256>>>(n, a.at, b.at, count.at);
      else
        compaction_naive<<<2112, 256>>>(n, a.at, b.at, count.at);
    });
    std::vector<int> host(n);
    int many;
    failed(cudaMemcpy(&many, count.at, 4, cudaMemcpyDeviceToHost));
    failed(cudaMemcpy(host.data(), b.at, sizeof(int) * n, cudaMemcpyDeviceToHost));
    double sum = many;
    for (int i = 0; i < many; i++)
      sum += host[i];
    tell("compaction", is_tuned ? "tuned" : "naive", time, sum);
  }
}

__global__ void chain_smooth(int n, const float *a, float *b)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 1)
    b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}
__global__ void chain_copy(int n, const float *b, float *a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 1)
    a[i] = b[i];
}
static void chain()
{
  if (!is_wanted("chain"))
    return;
  const int n = 4096;
  Array<float> a(n), b(n);
  a.fill();
  const auto run = [&] {
    for (int step = 0; step < 500; step++) {
      chain_smooth<<<n / 256, 256>>>(n, a.at, b.at);
      chain_copy<<<n / 256, 256>>>(n, b.at, a.at);
    }
  };
  only("chain", EXACT, run, [&] { return a.sum(); });
}

__global__ void columns_naive(int n, const double *__restrict__ a, double *__restrict__ s)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double t = 0;
  for (int j = 0; j < n; j++)
    t += a[(long)i * n + j] * a[(long)i * n + j];
  s[i] = t;
}
__global__ void columns_tuned(int n, const double *__restrict__ a, double *__restrict__ s)
{
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  double t = 0;
  for (int j = lane; j < n; j += 32)
    t += a[(long)i * n + j] * a[(long)i * n + j];
  for (int far = 16; far > 0; far /= 2)
    t += __shfl_down_sync(~0u, t, far);
  if (lane == 0)
    s[i] = t;
}
static void columns()
{
  if (!is_wanted("columns"))
    return;
  const int n = 8192;
  Array<double> a((long)n * n), s(n);
  a.fill();
  double time = median([&] { columns_naive<<<n / 128, 128>>>(n, a.at, s.at); });
  tell("columns", "naive", time, s.sum());
  time = median([&] { columns_tuned<<<n / 8, 256>>>(n, a.at, s.at); });
  tell("columns", "tuned", time, s.sum());
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : nullptr;
  product<float, false, false, 8, 8>("product_float", 2048, 2048, 2048);
  product<double, false, false, 8, 4>("product_double", 2048, 2048, 2048);
  product<int, false, false, 8, 8>("product_int", 2048, 2048, 2048);
  product<float, false, true, 8, 8>("product_transposed", 2048, 2048, 2048);
  product<float, true, false, 8, 8>("product_left_transposed", 2048, 2048, 2048);
  product<float, false, false, 8, 8>("product_odd", 1999, 2003, 1997);
  product<double, false, true, 4, 4>("product_double_odd", 1001, 1003, 999);
  product<float, false, false, 2, 2>("product_small", 512, 512, 512);
  product<float, false, false, 2, 2>("product_deep", 256, 256, 65536);
  batched();
  distances();
  transpose();
  convolution();
  stencil();
  compaction();
  chain();
  columns();
}
