/* Those of public.c with matrices and layers of networks. */
#ifndef PUBLIC_LAYERS_H
#define PUBLIC_LAYERS_H

#include "kinds.h"
#include <stddef.h>

/* A layer of convolutions of all channels, with steps and a border of zeros. */
void conv_forward(float *in, float *weight, float *bias, float *out, int batch, int channels, int h, int w, int filters,
                  int size, int step, int pad)
{
  int oh = (h + 2 * pad - size) / step + 1, ow = (w + 2 * pad - size) / step + 1;
#pragma omp target teams distribute parallel for collapse(4)
  for (int b = 0; b < batch; b++)
    for (int k = 0; k < filters; k++)
      for (int y = 0; y < oh; y++)
        for (int x = 0; x < ow; x++) {
          float sum = bias[k];
          for (int c = 0; c < channels; c++)
            for (int r = 0; r < size; r++)
              for (int s = 0; s < size; s++) {
                int iy = y * step + r - pad, ix = x * step + s - pad;
                if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                  sum += in[((b * channels + c) * h + iy) * w + ix] * weight[((k * channels + c) * size + r) * size + s];
              }
          out[((b * filters + k) * oh + y) * ow + x] = sum;
        }
}

static void conv_layer(void)
{
  if (!is_wanted("conv_layer"))
    return;
  const int batch = SIZED(8, 2), channels = SIZED(32, 5), h = SIZED(112, 19), w = SIZED(110, 22), step = 2, pad = 1;
  const int filters = SIZED(64, 16), oh = (h + 2 * pad - 3) / step + 1, ow = (w + 2 * pad - 3) / step + 1;
  const int all_in = batch * channels * h * w, all_out = batch * filters * oh * ow, weights = filters * channels * 9;
  float *in = malloc(sizeof(float) * all_in), *out = malloc(sizeof(float) * all_out);
  float *weight = malloc(sizeof(float) * weights), *bias = malloc(sizeof(float) * filters);
  FILL(in, all_in);
  FILL(weight, weights);
  FILL(bias, filters);
#pragma omp target data map(to: in[0:all_in], weight[0:weights], bias[0:filters]) map(from: out[0:all_out])
  {
    MEASURE {
      conv_forward(in, weight, bias, out, batch, channels, h, w, filters, 3, step, pad);
    }
  }
  SUM(out, all_out);
  tell("conv_layer", sum);
  free(in), free(out), free(weight), free(bias);
}

/* Each channel has a filter of its own; what is below zero becomes zero. */
void depthwise_forward(float *in, float *weight, float *out, int batch, int channels, int h, int w, int size)
{
  int pad = size / 2;
#pragma acc parallel loop gang collapse(2) present(in, weight, out)
  for (int b = 0; b < batch; b++)
    for (int c = 0; c < channels; c++) {
      float *plane = in + (size_t)(b * channels + c) * h * w;
      float *result = out + (size_t)(b * channels + c) * h * w;
#pragma acc loop vector collapse(2)
      for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
          float sum = 0;
          for (int r = 0; r < size; r++)
            for (int s = 0; s < size; s++) {
              int iy = y + r - pad, ix = x + s - pad;
              if (iy < 0 || iy >= h || ix < 0 || ix >= w)
                continue;
              sum += plane[iy * w + ix] * weight[(c * size + r) * size + s];
            }
          result[y * w + x] = sum > 0 ? sum : 0;
        }
    }
}

static void depthwise(void)
{
  if (!is_wanted("depthwise"))
    return;
  const int batch = SIZED(16, 2), channels = SIZED(128, 3), h = SIZED(56, 15), w = SIZED(56, 18), size = 3;
  const int n = batch * channels * h * w, weights = channels * size * size;
  float *in = malloc(sizeof(float) * n), *out = malloc(sizeof(float) * n), *weight = malloc(sizeof(float) * weights);
  FILL(in, n);
  FILL(weight, weights);
#pragma acc data copyin(in[0:n], weight[0:weights]) copyout(out[0:n])
  {
    MEASURE {
      depthwise_forward(in, weight, out, batch, channels, h, w, size);
    }
  }
  SUM(out, n);
  tell("depthwise", sum);
  free(in), free(out), free(weight);
}

/* Mean and spread of each channel in all images, which are then taken out. */
void batch_norm_forward(float *in, float *out, float *gain, float *shift, float *mean, float *spread, int batch,
                        int channels, int pixels, float epsilon)
{
#pragma omp target teams distribute
  for (int c = 0; c < channels; c++) {
    float sum = 0, square = 0;
#pragma omp parallel for collapse(2) reduction(+: sum, square)
    for (int b = 0; b < batch; b++)
      for (int p = 0; p < pixels; p++) {
        float x = in[(b * channels + c) * pixels + p];
        sum += x;
        square += x * x;
      }
    float m = sum / (batch * pixels), s = square / (batch * pixels) - m * m;
    mean[c] = m;
    spread[c] = s;
    float scale = gain[c] / sqrtf(s + epsilon);
#pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++)
      for (int p = 0; p < pixels; p++) {
        float y = (in[(b * channels + c) * pixels + p] - m) * scale + shift[c];
        out[(b * channels + c) * pixels + p] = y > 0 ? y : 0;
      }
  }
}

static void batch_norm(void)
{
  if (!is_wanted("batch_norm"))
    return;
  const int batch = SIZED(32, 3), channels = SIZED(64, 5), pixels = SIZED(56 * 56, 60), n = batch * channels * pixels;
  float *in = malloc(sizeof(float) * n), *out = malloc(sizeof(float) * n);
  float *gain = malloc(sizeof(float) * channels), *shift = malloc(sizeof(float) * channels);
  float *mean = malloc(sizeof(float) * channels), *spread = malloc(sizeof(float) * channels);
  FILL(in, n);
  for (int c = 0; c < channels; c++)
    gain[c] = 2 + 0.125f * value(c), shift[c] = 0.25f * value(c + 1);
#pragma omp target data map(to: in[0:n], gain[0:channels], shift[0:channels]) \
  map(from: out[0:n], mean[0:channels], spread[0:channels])
  {
    MEASURE {
      batch_norm_forward(in, out, gain, shift, mean, spread, batch, channels, pixels, 1e-5f);
    }
  }
  SUM_SIZES(out, n);
  for (int c = 0; c < channels; c++)
    sum += spread[c];
  tell_rounded("batch_norm", sum);
  free(in), free(out), free(gain), free(shift), free(mean), free(spread);
}

/* C = alpha A B + beta C where rows lie apart. */
void gemm_run(int m, int n, int k, double alpha, double *a, int lda, double *b, int ldb, double beta, double *c, int ldc,
              double *result)
{
  int i, j, l;
#pragma omp target teams distribute parallel for collapse(2) private(i, j, l)
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++) {
      double sum = 0;
      for (l = 0; l < k; l++)
        sum += a[i * lda + l] * b[l * ldb + j];
      result[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
    }
}

static void gemm_strided(void)
{
  if (!is_wanted("gemm_strided"))
    return;
  const int m = SIZED(701, 37), n = SIZED(802, 70), k = SIZED(603, 25), lda = k + 5, ldb = n + 6, ldc = n + 3;
  double *a = malloc(sizeof(double) * m * lda), *b = malloc(sizeof(double) * k * ldb);
  double *c = malloc(sizeof(double) * m * ldc), *d = calloc((size_t)m * ldc, sizeof(double));
  FILL(a, m * lda);
  FILL(b, k * ldb);
  FILL(c, m * ldc);
#pragma omp target data map(to: a[0:m * lda], b[0:k * ldb], c[0:m * ldc]) map(tofrom: d[0:m * ldc])
  {
    MEASURE {
      gemm_run(m, n, k, 3, a, lda, b, ldb, 2, c, ldc, d);
    }
  }
  SUM(d, m * ldc);
  tell("gemm_strided", sum);
  free(a), free(b), free(c), free(d);
}

/* C = A^T B */
void gemm_tn_run(size_t m, size_t n, size_t k, float *a, float *b, float *c)
{
#pragma omp target teams loop collapse(2) map(to: a[0:k * m], b[0:k * n]) map(from: c[0:m * n])
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float sum = 0.0f;
      for (size_t l = 0; l < k; l++)
        sum += a[l * m + i] * b[l * n + j];
      c[i * n + j] = sum;
    }
}

static void gemm_tn(void)
{
  if (!is_wanted("gemm_tn"))
    return;
  const size_t m = SIZED(1000, 37), n = SIZED(1100, 70), k = SIZED(900, 25);
  float *a = malloc(sizeof(float) * k * m), *b = malloc(sizeof(float) * k * n), *c = malloc(sizeof(float) * m * n);
  FILL(a, k * m);
  FILL(b, k * n);
#pragma omp target data map(to: a[0:k * m], b[0:k * n]) map(from: c[0:m * n])
  {
    MEASURE {
      gemm_tn_run(m, n, k, a, b, c);
    }
  }
  SUM(c, m * n);
  tell("gemm_tn", sum);
  free(a), free(b), free(c);
}

/* How columns of some data depend on each other. */
void covariance_run(int m, int n, double (*data)[m], double (*cov)[m], double *mean)
{
#pragma omp target teams distribute parallel for
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= n;
  }
#pragma omp target teams distribute
  for (int i = 0; i < m; i++) {
#pragma omp parallel for
    for (int j = i; j < m; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < n; k++)
        cov[i][j] += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
      cov[i][j] /= n - 1.0;
      cov[j][i] = cov[i][j];
    }
  }
}

static void covariance(void)
{
  if (!is_wanted("covariance"))
    return;
  const int m = SIZED(500, 70), n = SIZED(600, 40);
  double *data = malloc(sizeof(double) * n * m), *cov = malloc(sizeof(double) * m * m);
  double *mean = malloc(sizeof(double) * m);
  for (int i = 0; i < n * m; i++)
    data[i] = value(i) + value(i / m + 1);
#pragma omp target data map(to: data[0:n * m]) map(from: cov[0:m * m], mean[0:m])
  {
    MEASURE {
      covariance_run(m, n, (double(*)[m])data, (double(*)[m])cov, mean);
    }
  }
  SUM_SIZES(cov, m * m);
  tell_rounded("covariance", sum);
  free(data), free(cov), free(mean);
}

#pragma omp declare target
float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
#pragma omp end declare target

/* A cell with a memory: four gates from what comes in and from what was there, then the new state. */
void lstm_cell(float *x, float *h, float *c, float *w, float *u, float *bias, float *gates, float *h_next, float *c_next,
               int batch, int inputs, int hidden)
{
#pragma omp target teams distribute parallel for collapse(2)
  for (int b = 0; b < batch; b++)
    for (int g = 0; g < 4 * hidden; g++) {
      float sum = bias[g];
      for (int i = 0; i < inputs; i++)
        sum += w[g * inputs + i] * x[b * inputs + i];
      for (int i = 0; i < hidden; i++)
        sum += u[g * hidden + i] * h[b * hidden + i];
      gates[b * 4 * hidden + g] = sum;
    }
#pragma omp target teams distribute parallel for
  for (int at = 0; at < batch * hidden; at++) {
    int b = at / hidden, j = at % hidden;
    float *gate = gates + b * 4 * hidden;
    float in = sigmoid(gate[j]), forget = sigmoid(gate[hidden + j]);
    float next = tanhf(gate[2 * hidden + j]), out = sigmoid(gate[3 * hidden + j]);
    c_next[at] = forget * c[at] + in * next;
    h_next[at] = out * tanhf(c_next[at]);
  }
}

static void lstm(void)
{
  if (!is_wanted("lstm"))
    return;
  const int batch = SIZED(128, 35), inputs = SIZED(320, 24), hidden = SIZED(384, 40), many = batch * hidden;
  float *x = malloc(sizeof(float) * batch * inputs), *h = malloc(sizeof(float) * many);
  float *c = malloc(sizeof(float) * many), *w = malloc(sizeof(float) * 4 * hidden * inputs);
  float *u = malloc(sizeof(float) * 4 * hidden * hidden), *bias = malloc(sizeof(float) * 4 * hidden);
  float *gates = malloc(sizeof(float) * 4 * many), *h_next = malloc(sizeof(float) * many);
  float *c_next = malloc(sizeof(float) * many);
  FILL(x, batch * inputs);
  for (int i = 0; i < many; i++)
    h[i] = 0.125f * value(i + 1), c[i] = 0.25f * value(i + 2);
  for (int i = 0; i < 4 * hidden * inputs; i++)
    w[i] = 0.0009765625f * value(i + 3);
  for (int i = 0; i < 4 * hidden * hidden; i++)
    u[i] = 0.0078125f * value(i + 4);
  for (int i = 0; i < 4 * hidden; i++)
    bias[i] = 0.0625f * value(i + 5);
#pragma omp target data map(to: x[0:batch * inputs], h[0:many], c[0:many], w[0:4 * hidden * inputs]) \
  map(to: u[0:4 * hidden * hidden], bias[0:4 * hidden]) map(alloc: gates[0:4 * many]) \
  map(from: h_next[0:many], c_next[0:many])
  {
    MEASURE {
      lstm_cell(x, h, c, w, u, bias, gates, h_next, c_next, batch, inputs, hidden);
    }
  }
  SUM_SIZES(h_next, many);
  for (int i = 0; i < many; i++)
    sum += fabsf(c_next[i]);
  tell_rounded("lstm", sum);
  free(x), free(h), free(c), free(w), free(u), free(bias), free(gates), free(h_next), free(c_next);
}

/* How much each word of a text has to do with each other, for some heads. */
void attention_forward(float *q, float *k, float *v, float *score, float *out, int heads, int length, int depth)
{
  float scale = 1.0f / sqrtf((float)depth);
#pragma acc parallel loop collapse(3) present(q, k, score)
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < length; i++)
      for (int j = 0; j < length; j++) {
        float sum = 0;
        for (int d = 0; d < depth; d++)
          sum += q[(h * length + i) * depth + d] * k[(h * length + j) * depth + d];
        score[((size_t)h * length + i) * length + j] = sum * scale;
      }
#pragma acc parallel loop gang present(score)
  for (int row = 0; row < heads * length; row++) {
    float most = -1e30f, sum = 0;
#pragma acc loop vector reduction(max: most)
    for (int j = 0; j < length; j++)
      most = fmaxf(most, score[(size_t)row * length + j]);
#pragma acc loop vector reduction(+: sum)
    for (int j = 0; j < length; j++) {
      float e = expf(score[(size_t)row * length + j] - most);
      score[(size_t)row * length + j] = e;
      sum += e;
    }
#pragma acc loop vector
    for (int j = 0; j < length; j++)
      score[(size_t)row * length + j] /= sum;
  }
#pragma acc parallel loop collapse(2) present(score, v, out)
  for (int row = 0; row < heads * length; row++)
    for (int d = 0; d < depth; d++) {
      float sum = 0;
      for (int j = 0; j < length; j++)
        sum += score[(size_t)row * length + j] * v[(row / length * length + j) * depth + d];
      out[row * depth + d] = sum;
    }
}

static void attention(void)
{
  if (!is_wanted("attention"))
    return;
  const int heads = SIZED(8, 2), length = SIZED(600, 50), depth = 64, n = heads * length * depth;
  const size_t scores = (size_t)heads * length * length;
  float *q = malloc(sizeof(float) * n), *k = malloc(sizeof(float) * n), *v = malloc(sizeof(float) * n);
  float *score = malloc(sizeof(float) * scores), *out = malloc(sizeof(float) * n);
  for (int i = 0; i < n; i++)
    q[i] = 0.125f * value(i), k[i] = 0.0625f * value(i + 1), v[i] = value(i + 2);
#pragma acc data copyin(q[0:n], k[0:n], v[0:n]) create(score[0:scores]) copyout(out[0:n])
  {
    MEASURE {
      attention_forward(q, k, v, score, out, heads, length, depth);
    }
  }
  SUM_SIZES(out, n);
  tell_rounded("attention", sum);
  free(q), free(k), free(v), free(score), free(out);
}

#endif
