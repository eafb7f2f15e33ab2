/* Kernels of many kinds, each timed alone with its data on the device; kinds.cu has the same in CUDA.
   ferry cc -O3 --device cuda:sm_90 kinds.c -o kinds -lm && FERRY_DEVICE=cuda ./kinds
   Prints for each: its name, microseconds (the median of some runs), and a sum of its results. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9 };

/* Microseconds, when regions before are done. */
static double now(void) { return 1e6 * omp_get_wtime(); }

static int less(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static const char *wanted;
static double times[RUNS];

static double begin;

static void ended(int run)
{
  if (run >= 0)
    times[run] = now() - begin;
}

/* What follows is run some times and timed. */
#define MEASURE for (int run = -2; run < RUNS && (begin = now()) > 0; ended(run++))

static void tell(const char *name, double sum)
{
  qsort(times, RUNS, sizeof *times, less);
  printf("%-24s %10.1f  %.9g\n", name, times[RUNS / 2], sum);
  fflush(stdout);
}

static int is_wanted(const char *name) { return !wanted || strstr(name, wanted); }

/* Small whole numbers: sums are exact in any order. */
static int value(long i) { return (int)((unsigned)(i * 2654435761u) >> 28) - 8; }

#define FILL(array, count) \
  for (long fill = 0; fill < (long)(count); fill++) \
  (array)[fill] = value(fill)
#define SUM(array, count) \
  double sum = 0; \
  for (long at = 0; at < (long)(count); at++) \
  sum += (double)(array)[at] * (1 + at % 7)

/* c = a * b, with operands as the two expressions say. */
#define PRODUCT(name, type, rows, columns, depth, left, right) \
  static void name(void) \
  { \
    if (!is_wanted(#name)) \
      return; \
    const int m = rows, n = columns, l = depth; \
    type *a = malloc(sizeof(type) * m * l), *b = malloc(sizeof(type) * l * n), *c = malloc(sizeof(type) * m * n); \
    FILL(a, (long)m *l); \
    FILL(b, (long)l *n); \
    _Pragma("omp target data map(to: a[0:m * l], b[0:l * n]) map(from: c[0:m * n])") \
    { \
      MEASURE { \
        _Pragma("omp target teams distribute parallel for collapse(2)") \
        for (int i = 0; i < m; i++) \
          for (int j = 0; j < n; j++) { \
            type s = 0; \
            for (int k = 0; k < l; k++) \
              s += a[left] * b[right]; \
            c[i * n + j] = s; \
          } \
      } \
    } \
    SUM(c, (long)m *n); \
    tell(#name, sum); \
    free(a), free(b), free(c); \
  }

PRODUCT(product_float, float, 2048, 2048, 2048, i *l + k, k *n + j)
PRODUCT(product_double, double, 2048, 2048, 2048, i *l + k, k *n + j)
PRODUCT(product_int, int, 2048, 2048, 2048, i *l + k, k *n + j)
PRODUCT(product_transposed, float, 2048, 2048, 2048, i *l + k, j *l + k)
PRODUCT(product_left_transposed, float, 2048, 2048, 2048, k *m + i, k *n + j)
PRODUCT(product_odd, float, 1999, 2003, 1997, i *l + k, k *n + j)
PRODUCT(product_double_odd, double, 1001, 1003, 999, i *l + k, j *l + k)
PRODUCT(product_small, float, 512, 512, 512, i *l + k, k *n + j)
PRODUCT(product_deep, float, 256, 256, 65536, i *l + k, k *n + j)

static void batched(void)
{
  if (!is_wanted("batched"))
    return;
  enum { N = 32, MANY = 8192 };
  float(*a)[N][N] = malloc(sizeof *a * MANY), (*b)[N][N] = malloc(sizeof *b * MANY), (*c)[N][N] = malloc(sizeof *c * MANY);
  FILL(&a[0][0][0], MANY * N * N);
  FILL(&b[0][0][0], MANY * N * N);
#pragma omp target data map(to: a[0:MANY], b[0:MANY]) map(from: c[0:MANY])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int t = 0; t < MANY; t++)
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++)
              s += a[t][i][k] * b[t][k][j];
            c[t][i][j] = s;
          }
    }
  }
  SUM(&c[0][0][0], MANY * N * N);
  tell("batched", sum);
  free(a), free(b), free(c);
}

static void distances(void)
{
  if (!is_wanted("distances"))
    return;
  enum { N = 8192, DIM = 64 };
  float(*x)[DIM] = malloc(sizeof *x * N), *d = malloc(sizeof *d * N * N);
  FILL(&x[0][0], N * DIM);
#pragma omp target data map(to: x[0:N]) map(from: d[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
          float s = 0;
          for (int k = 0; k < DIM; k++) {
            const float t = x[i][k] - x[j][k];
            s += t * t;
          }
          d[(long)i * N + j] = s;
        }
    }
  }
  SUM(d, (long)N * N);
  tell("distances", sum);
  free(x), free(d);
}

static void transpose(void)
{
  if (!is_wanted("transpose"))
    return;
  enum { N = 8192 };
  float *a = malloc(sizeof *a * N * N), *b = malloc(sizeof *b * N * N);
  FILL(a, (long)N * N);
#pragma omp target data map(to: a[0:N * N]) map(from: b[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          b[(long)j * N + i] = a[(long)i * N + j];
    }
  }
  SUM(b, (long)N * N);
  tell("transpose", sum);
  free(a), free(b);
}

static void convolution(void)
{
  if (!is_wanted("convolution"))
    return;
  enum { N = 4096, W = 5, PAD = N + W - 1 };
  float *in = malloc(sizeof *in * PAD * PAD), *out = malloc(sizeof *out * N * N), w[W * W];
  FILL(in, (long)PAD * PAD);
  FILL(w, W * W);
#pragma omp target data map(to: in[0:PAD * PAD], w) map(from: out[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
          float s = 0;
          for (int i = 0; i < W; i++)
            for (int j = 0; j < W; j++)
              s += in[(y + i) * PAD + x + j] * w[i * W + j];
          out[y * N + x] = s;
        }
    }
  }
  SUM(out, (long)N * N);
  tell("convolution", sum);
  free(in), free(out);
}

static void stencil(void)
{
  if (!is_wanted("stencil"))
    return;
  enum { N = 384 };
#define AT(z, y, x) (((long)(z) * N + (y)) * N + (x))
  float *a = malloc(sizeof *a * N * N * N), *b = calloc((size_t)N * N * N, sizeof *b);
  FILL(a, (long)N * N * N);
#pragma omp target data map(to: a[0:N * N * N]) map(tofrom: b[0:N * N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int z = 1; z < N - 1; z++)
        for (int y = 1; y < N - 1; y++)
          for (int x = 1; x < N - 1; x++)
            b[AT(z, y, x)] = 2 * a[AT(z, y, x)] + a[AT(z - 1, y, x)] + a[AT(z + 1, y, x)] + a[AT(z, y - 1, x)]
              + a[AT(z, y + 1, x)] + a[AT(z, y, x - 1)] + a[AT(z, y, x + 1)];
    }
  }
  SUM(b, (long)N * N * N);
  tell("stencil", sum);
  free(a), free(b);
}

static void compaction(void)
{
  if (!is_wanted("compaction"))
    return;
  enum { N = 1 << 24 };
  int *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N), count = 0;
  FILL(a, N);
#pragma omp target data map(to: a[0:N]) map(from: b[0:N]) map(tofrom: count)
  {
    MEASURE {
#pragma omp target map(tofrom: count)
      count = 0;
#pragma omp target teams distribute parallel for map(tofrom: count)
      for (int i = 0; i < N; i++)
        if (a[i] > 2) {
          int at;
#pragma omp atomic capture
          at = count++;
          b[at] = a[i];
        }
    }
  }
  double sum = 0;
  for (int at = 0; at < count; at++)
    sum += b[at];
  tell("compaction", sum + count);
  free(a), free(b);
}

static void chain(void)
{
  if (!is_wanted("chain"))
    return;
  enum { N = 4096, STEPS = 500 };
  float *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
  FILL(a, N);
  memset(b, 0, sizeof *b * N);
#pragma omp target data map(tofrom: a[0:N], b[0:N])
  {
    MEASURE {
      for (int step = 0; step < STEPS; step++) {
#pragma omp target teams distribute parallel for
        for (int i = 1; i < N - 1; i++)
          b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
#pragma omp target teams distribute parallel for
        for (int i = 1; i < N - 1; i++)
          a[i] = b[i];
      }
    }
  }
  SUM(a, N);
  tell("chain", sum);
  free(a), free(b);
}

static void columns(void)
{
  if (!is_wanted("columns"))
    return;
  enum { N = 8192 };
  double *a = malloc(sizeof *a * N * N), *s = malloc(sizeof *s * N);
  FILL(a, (long)N * N);
#pragma omp target data map(to: a[0:N * N]) map(from: s[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        double t = 0;
        for (int j = 0; j < N; j++)
          t += a[(long)i * N + j] * a[(long)i * N + j];
        s[i] = t;
      }
    }
  }
  SUM(s, N);
  tell("columns", sum);
  free(a), free(s);
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  product_float();
  product_double();
  product_int();
  product_transposed();
  product_left_transposed();
  product_odd();
  product_double_odd();
  product_small();
  product_deep();
  batched();
  distances();
  transpose();
  convolution();
  stencil();
  compaction();
  chain();
  columns();
  return 0;
}
