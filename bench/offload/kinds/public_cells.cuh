/* Those of public.cu for networks: a cell with a memory, and attention. */
#pragma once
#include "kinds.cuh"

static __device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__global__ void lstm_gates(const float *__restrict__ x, const float *__restrict__ h, const float *__restrict__ w,
                           const float *__restrict__ u, const float *__restrict__ bias, float *__restrict__ gates,
                           int inputs, int hidden)
{
  const int g = this_thread(), b = blockIdx.y;
  if (g >= 4 * hidden)
    return;
  float sum = bias[g];
  for (int i = 0; i < inputs; i++)
    sum += w[g * inputs + i] * x[b * inputs + i];
  for (int i = 0; i < hidden; i++)
    sum += u[g * hidden + i] * h[b * hidden + i];
  gates[b * 4 * hidden + g] = sum;
}
__global__ void lstm_rest(const float *__restrict__ c, const float *__restrict__ gates, float *__restrict__ h_next,
                          float *__restrict__ c_next, int batch, int hidden)
{
  const int at = this_thread();
  if (at >= batch * hidden)
    return;
  const int b = at / hidden, j = at % hidden;
  const float *gate = gates + b * 4 * hidden;
  const float in = sigmoid(gate[j]), forget = sigmoid(gate[hidden + j]);
  const float next = tanhf(gate[2 * hidden + j]), out = sigmoid(gate[3 * hidden + j]);
  const float state = forget * c[at] + in * next;
  c_next[at] = state;
  h_next[at] = out * tanhf(state);
}
/* In one kernel: a block has 16 cells of 32 in the batch, a thread the four gates of four of them. */
__global__ void __launch_bounds__(128)
  lstm_tuned(const float *__restrict__ x, const float *__restrict__ h, const float *__restrict__ c,
             const float *__restrict__ w, const float *__restrict__ u, const float *__restrict__ bias,
             float *__restrict__ h_next, float *__restrict__ c_next, int batch, int inputs, int hidden)
{
  __shared__ float from[32][33], weight[32][65];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, j0 = blockIdx.x * 16, b0 = blockIdx.y * 32, j = j0 + tx;
  float sum[4][4];
#pragma unroll
  for (int g = 0; g < 4; g++)
#pragma unroll
    for (int q = 0; q < 4; q++)
      sum[g][q] = j < hidden ? bias[g * hidden + j] : 0;
  for (int part = 0; part < 2; part++) {
    const float *in = part ? h : x, *matrix = part ? u : w;
    const int depth = part ? hidden : inputs;
    for (int k0 = 0; k0 < depth; k0 += 32) {
      const int k = k0 + t % 32;
      __syncthreads();
#pragma unroll
      for (int row = t / 32; row < 32; row += 4)
        from[row][t % 32] = b0 + row < batch && k < depth ? in[(b0 + row) * depth + k] : 0;
#pragma unroll
      for (int row = t / 32; row < 64; row += 4) {
        const int cell = j0 + row % 16;
        weight[t % 32][row] = cell < hidden && k < depth ? matrix[(row / 16 * hidden + cell) * depth + k] : 0;
      }
      __syncthreads();
#pragma unroll 8
      for (int i = 0; i < 32; i++) {
        float f[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
          f[q] = from[ty + 8 * q][i];
#pragma unroll
        for (int g = 0; g < 4; g++) {
          const float v = weight[i][16 * g + tx];
#pragma unroll
          for (int q = 0; q < 4; q++)
            sum[g][q] += v * f[q];
        }
      }
    }
  }
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int b = b0 + ty + 8 * q, at = b * hidden + j;
    if (b >= batch || j >= hidden)
      continue;
    const float state = sigmoid(sum[1][q]) * c[at] + sigmoid(sum[0][q]) * tanhf(sum[2][q]);
    c_next[at] = state;
    h_next[at] = sigmoid(sum[3][q]) * tanhf(state);
  }
}
static void lstm()
{
  if (!is_wanted("lstm"))
    return;
  const int batch = SIZED(128, 35), inputs = SIZED(320, 24), hidden = SIZED(384, 40), many = batch * hidden;
  Array<float> x(batch * inputs), h(many), c(many), w(4 * hidden * inputs), u(4 * hidden * hidden), bias(4 * hidden);
  Array<float> gates(4 * many), h_next(many), c_next(many);
  x.fill();
  h.fill([](long i) { return 0.125f * value(i + 1); });
  c.fill([](long i) { return 0.25f * value(i + 2); });
  w.fill([](long i) { return 0.0009765625f * value(i + 3); });
  u.fill([](long i) { return 0.0078125f * value(i + 4); });
  bias.fill([](long i) { return 0.0625f * value(i + 5); });
  const auto naive = [&] {
    lstm_gates<<<dim3(blocks(4 * hidden, 128), batch), 128>>>(x.at, h.at, w.at, u.at, bias.at, gates.at, inputs, hidden);
    lstm_rest<<<blocks(many, 128), 128>>>(c.at, gates.at, h_next.at, c_next.at, batch, hidden);
  };
  const auto tuned = [&] {
    lstm_tuned<<<dim3(blocks(hidden, 16), blocks(batch, 32)), 128>>>(x.at, h.at, c.at, w.at, u.at, bias.at, h_next.at,
                                                                     c_next.at, batch, inputs, hidden);
  };
  compare("lstm", ROUNDED, naive, tuned, [&] {
    double sum = h_next.sum(true);
    for (const float state : c_next.get())
      sum += std::fabs(state);
    c_next.clear();
    return sum;
  });
}

__global__ void attention_scores(const float *__restrict__ q, const float *__restrict__ k, float *__restrict__ score,
                                 int length, int depth, float scale)
{
  const int j = this_thread(), i = blockIdx.y, h = blockIdx.z;
  if (j >= length)
    return;
  float sum = 0;
  for (int d = 0; d < depth; d++)
    sum += q[(h * length + i) * depth + d] * k[(h * length + j) * depth + d];
  score[((size_t)h * length + i) * length + j] = sum * scale;
}
/* A block for each row. */
__global__ void attention_rows(float *score, int length)
{
  __shared__ float all[256];
  float *row = score + (size_t)blockIdx.x * length;
  const int t = threadIdx.x;
  float most = -1e30f, sum = 0;
  for (int j = t; j < length; j += blockDim.x)
    most = fmaxf(most, row[j]);
  all[t] = most;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = fmaxf(all[t], all[t + far]);
  }
  __syncthreads();
  most = all[0];
  for (int j = t; j < length; j += blockDim.x) {
    const float e = expf(row[j] - most);
    row[j] = e;
    sum += e;
  }
  sum = tree_sum(sum);
  for (int j = t; j < length; j += blockDim.x)
    row[j] /= sum;
}
__global__ void attention_values(const float *__restrict__ score, const float *__restrict__ v, float *__restrict__ out,
                                 int rows, int length, int depth)
{
  const int at = this_thread(), row = at / depth, d = at % depth;
  if (row >= rows)
    return;
  float sum = 0;
  for (int j = 0; j < length; j++)
    sum += score[(size_t)row * length + j] * v[(row / length * length + j) * depth + d];
  out[at] = sum;
}
/* All in one: 32 rows of a block, 32 keys at a time; the largest so far and the sum of a row go on from tile to tile.
   Four neighbouring threads have a row: eight keys each, then 16 of the results. */
__global__ void __launch_bounds__(128)
  attention_tuned(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                  float *__restrict__ out, int length, float scale)
{
  constexpr int D = 64;
  __shared__ float queries[32][D + 1], keys[32][D + 1], weight[32][33];
  __shared__ float4 values[32][D / 4];
  const int t = threadIdx.x, row = t / 4, part = t % 4, i0 = blockIdx.x * 32;
  const long first = (long)blockIdx.y * length;
  for (int at = t; at < 32 * D; at += 128)
    queries[at / D][at % D] = i0 + at / D < length ? q[(first + i0) * D + at] * scale : 0;
  float most = -1e30f, all = 0;
  float4 sum[4];
#pragma unroll
  for (int d = 0; d < 4; d++)
    sum[d] = make_float4(0, 0, 0, 0);
  for (int j0 = 0; j0 < length; j0 += 32) {
    __syncthreads();
#pragma unroll 4
    for (int at = t; at < 32 * D; at += 128) {
      const bool inside = j0 + at / D < length;
      keys[at / D][at % D] = inside ? k[(first + j0) * D + at] : 0;
      ((float *)values)[at] = inside ? v[(first + j0) * D + at] : 0;
    }
    __syncthreads();
    float s[8] = {};
#pragma unroll 8
    for (int d = 0; d < D; d++) {
      const float mine = queries[row][d];
#pragma unroll
      for (int c = 0; c < 8; c++)
        s[c] += mine * keys[c * 4 + part][d];
    }
    float largest = most;
#pragma unroll
    for (int c = 0; c < 8; c++) {
      if (j0 + c * 4 + part >= length)
        s[c] = -1e30f;
      largest = fmaxf(largest, s[c]);
    }
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    const float less = __expf(most - largest);
    most = largest;
    all *= less;
#pragma unroll
    for (int c = 0; c < 8; c++) {
      const float e = j0 + c * 4 + part < length ? __expf(s[c] - largest) : 0;
      weight[row][c * 4 + part] = e;
      all += e;
    }
    __syncwarp();
#pragma unroll
    for (int d = 0; d < 4; d++)
      sum[d].x *= less, sum[d].y *= less, sum[d].z *= less, sum[d].w *= less;
#pragma unroll 4
    for (int c = 0; c < 32; c++) {
      const float e = weight[row][c];
#pragma unroll
      for (int d = 0; d < 4; d++) {
        const float4 x = values[c][d * 4 + part];
        sum[d].x += e * x.x, sum[d].y += e * x.y, sum[d].z += e * x.z, sum[d].w += e * x.w;
      }
    }
  }
  all += __shfl_xor_sync(~0u, all, 1);
  all += __shfl_xor_sync(~0u, all, 2);
  const float one = 1 / all;
  if (i0 + row < length)
#pragma unroll
    for (int d = 0; d < 4; d++)
      ((float4 *)out)[(first + i0 + row) * (D / 4) + d * 4 + part] =
        make_float4(sum[d].x * one, sum[d].y * one, sum[d].z * one, sum[d].w * one);
}
static void attention()
{
  if (!is_wanted("attention"))
    return;
  const int heads = SIZED(8, 2), length = SIZED(600, 50), depth = 64, n = heads * length * depth, rows = heads * length;
  Array<float> q(n), k(n), v(n), score((long)rows * length), out(n);
  q.fill([](long i) { return 0.125f * value(i); });
  k.fill([](long i) { return 0.0625f * value(i + 1); });
  v.fill([](long i) { return (float)value(i + 2); });
  const float scale = 1.0f / sqrtf((float)depth);
  const auto naive = [&] {
    attention_scores<<<dim3(blocks(length, 128), length, heads), 128>>>(q.at, k.at, score.at, length, depth, scale);
    attention_rows<<<rows, 256>>>(score.at, length);
    attention_values<<<blocks(n, 128), 128>>>(score.at, v.at, out.at, rows, length, depth);
  };
  const auto tuned = [&] {
    attention_tuned<<<dim3(blocks(length, 32), heads), 128>>>(q.at, k.at, v.at, out.at, length, scale);
  };
  compare("attention", ROUNDED, naive, tuned, [&] { return out.sum(true); });
}
