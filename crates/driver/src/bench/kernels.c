/* Seven kernels of linear algebra, as an accelerator with a scratchpad runs them: all data of a phase are copied in,
 * computed with by all cores, and copied out. N is the size, INDEX the type of loop variables.
 * slots: the matrices, N * N numbers each; the last slot says by how many banks each buffer in the scratchpad is moved, in
 * four bits for each. */
typedef unsigned long size_t;
void *ferry_l1_malloc(size_t);
void ferry_l1_free(void *);
unsigned ferry_dma(void *, const void *, size_t);
void ferry_dma_wait(unsigned);

#define ALL (N * N)
/* Phases are part of their kernels in all builds, whatever the compiler thinks of their size. */
#define PHASE static inline __attribute__((always_inline))
#define PLACES 7
#define MOVES 64
unsigned ferry_bench_cycles;

static inline unsigned now(void) {
  unsigned it;
  __asm__ volatile("csrr %0, cycle" : "=r"(it)::"memory");
  return it;
}
static int *buffer(int **room, unsigned *places, int count) {
  int *it = *room + (*places & 15);
  *room = it + count;
  *places >>= 4;
  return it;
}
#define IN(to, from, count) unsigned in_##to = ferry_dma(to, from, (count) * sizeof(int))
#define READY(to) ferry_dma_wait(in_##to)
#define OUT(to, from, count) ferry_dma_wait(ferry_dma(to, from, (count) * sizeof(int)))
#define BEGIN(bytes) \
  int *memory = ferry_l1_malloc((bytes) + 3 * MOVES), *room = memory; \
  unsigned places = (unsigned)(size_t)slots[PLACES]; \
  unsigned start = now();
#define END \
  ferry_bench_cycles = now() - start; \
  ferry_l1_free(memory);

/* c = beta c + alpha a b, or without the first part */
#define PRODUCT(c, first, alpha, a, b) \
  _Pragma("omp parallel for collapse(2)") for (INDEX i = 0; i < N; i++) for (INDEX j = 0; j < N; j++) { \
    first; \
    for (INDEX k = 0; k < N; k++) c[i * N + j] += alpha a[i * N + k] * b[k * N + j]; \
  }

void __ferry_k_2mm(void *const *slots) {
  int alpha = 3, beta = 2;
  BEGIN(3 * ALL * sizeof(int))
  int *a = buffer(&room, &places, ALL), *b = buffer(&room, &places, ALL), *t = buffer(&room, &places, ALL);
  {
    IN(a, slots[0], ALL);
    IN(b, slots[1], ALL);
    READY(a), READY(b);
    PRODUCT(t, t[i * N + j] = 0, alpha *, a, b)
    OUT(slots[2], t, ALL);
  }
  {
    int *c = a, *d = b;
    IN(t, slots[2], ALL);
    IN(c, slots[3], ALL);
    READY(t);
    IN(d, slots[4], ALL);
    READY(c), READY(d);
    PRODUCT(d, d[i * N + j] *= beta, , t, c)
    OUT(slots[4], d, ALL);
  }
  END
}

PHASE void multiply(int *room, unsigned places, void *c_there, const void *a_there, const void *b_there) {
  int *a = buffer(&room, &places, ALL), *b = buffer(&room, &places, ALL), *c = buffer(&room, &places, ALL);
  IN(a, a_there, ALL);
  IN(b, b_there, ALL);
  READY(a), READY(b);
  PRODUCT(c, c[i * N + j] = 0, , a, b)
  OUT(c_there, c, ALL);
}
void __ferry_k_3mm(void *const *slots) {
  BEGIN(3 * ALL * sizeof(int))
  multiply(room, places, slots[4], slots[0], slots[1]);
  multiply(room, places, slots[5], slots[2], slots[3]);
  multiply(room, places, slots[6], slots[4], slots[5]);
  END
}

PHASE void by_rows(int *room, unsigned places, void *y_there, const void *a_there, const void *x_there) {
  int *a = buffer(&room, &places, ALL), *x = buffer(&room, &places, N), *y = buffer(&room, &places, N);
  IN(a, a_there, ALL);
  IN(x, x_there, N);
  READY(a), READY(x);
#pragma omp parallel for
  for (INDEX i = 0; i < N; i++) {
    y[i] = 0;
    for (INDEX j = 0; j < N; j++) y[i] += a[i * N + j] * x[j];
  }
  OUT(y_there, y, N);
}
PHASE void by_columns(int *room, unsigned places, void *y_there, const void *a_there, const void *x_there) {
  int *a = buffer(&room, &places, ALL), *x = buffer(&room, &places, N), *y = buffer(&room, &places, N);
  IN(a, a_there, ALL);
  IN(x, x_there, N);
  READY(a), READY(x);
#pragma omp parallel for
  for (INDEX j = 0; j < N; j++) {
    y[j] = 0;
    for (INDEX i = 0; i < N; i++) y[j] += a[i * N + j] * x[i];
  }
  OUT(y_there, y, N);
}
void __ferry_k_atax(void *const *slots) {
  BEGIN((ALL + 2 * N) * sizeof(int))
  by_rows(room, places, slots[2], slots[0], slots[1]);
  by_columns(room, places, slots[3], slots[0], slots[2]);
  END
}
void __ferry_k_bicg(void *const *slots) {
  BEGIN((ALL + 2 * N) * sizeof(int))
  by_rows(room, places, slots[2], slots[0], slots[1]);
  by_columns(room, places, slots[4], slots[0], slots[3]);
  END
}

void __ferry_k_conv2d(void *const *slots) {
  BEGIN(2 * ALL * sizeof(int))
  int *a = buffer(&room, &places, ALL), *b = buffer(&room, &places, ALL);
  IN(a, slots[0], ALL);
  READY(a);
#pragma omp parallel for collapse(2)
  for (INDEX i = 1; i < N - 1; i++)
    for (INDEX j = 1; j < N - 1; j++)
      b[i * N + j] = 2 * a[(i - 1) * N + j - 1] + 5 * a[(i - 1) * N + j] - 8 * a[(i - 1) * N + j + 1] -
                     3 * a[i * N + j - 1] + 6 * a[i * N + j] - 9 * a[i * N + j + 1] +
                     4 * a[(i + 1) * N + j - 1] + 7 * a[(i + 1) * N + j] + a[(i + 1) * N + j + 1];
  OUT((char *)slots[1] + N * sizeof(int), b + N, (N - 2) * N);
  END
}

void __ferry_k_covar(void *const *slots) {
  int rows = N;
  BEGIN((2 * ALL + N) * sizeof(int))
  int *d = buffer(&room, &places, ALL), *s = buffer(&room, &places, ALL), *mean = buffer(&room, &places, N);
  IN(d, slots[0], ALL);
  READY(d);
#pragma omp parallel
  {
#pragma omp for
    for (INDEX j = 0; j < N; j++) {
      mean[j] = 0;
      for (INDEX i = 0; i < N; i++) mean[j] += d[i * N + j];
      mean[j] /= rows;
    }
#pragma omp for
    for (INDEX i = 0; i < N; i++)
      for (INDEX j = 0; j < N; j++) d[i * N + j] -= mean[j];
#pragma omp for
    for (INDEX p = 0; p < N; p++)
      for (INDEX q = p; q < N; q++) {
        s[p * N + q] = 0;
        for (INDEX i = 0; i < N; i++) s[p * N + q] += d[i * N + p] * d[i * N + q];
        s[q * N + p] = s[p * N + q];
      }
  }
  OUT(slots[1], s, ALL);
  END
}

void __ferry_k_gemm(void *const *slots) {
  int alpha = 3, beta = 2;
  BEGIN(3 * ALL * sizeof(int))
  int *a = buffer(&room, &places, ALL), *b = buffer(&room, &places, ALL), *c = buffer(&room, &places, ALL);
  IN(a, slots[0], ALL);
  IN(b, slots[1], ALL);
  READY(a);
  IN(c, slots[2], ALL);
  READY(b), READY(c);
  PRODUCT(c, c[i * N + j] *= beta, alpha *, a, b)
  OUT(slots[2], c, ALL);
  END
}
