/* The seven kernels of `ferry bench mixed-data-model` as a user writes them: regions with mapped data, nothing said of scratchpads.
 *
 *   ferry cc --device riscv -O2 -DN=64 bench/programs/tiles.c -o tiles && FERRY_DEVICE=riscv FERRY_INFO=cycles ./tiles
 *
 * and the same with --ferry-no-tiles. Each region's cycles are printed; those of one kernel are added up. The program
 * compares its answers with the host's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef N
#define N 64
#endif
#define ALL (N * N)

static int m[7][ALL], known[7][ALL], mean[N];

static void fill(int to[7][ALL]) {
  for (int k = 0; k < 7; k++)
    for (int i = 0; i < ALL; i++) to[k][i] = (i * 7 + k * 5) % 13 - 6;
}

/* c = first + alpha a b */
static void product(int *c, const int *a, const int *b, int alpha, int beta) {
#pragma omp target teams distribute parallel for map(to: a[0:ALL], b[0:ALL]) map(tofrom: c[0:ALL])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      c[i * N + j] *= beta;
      for (int k = 0; k < N; k++) c[i * N + j] += alpha * a[i * N + k] * b[k * N + j];
    }
}
/* The same by threads that are there before the loop. */
static void product_apart(int *c, const int *a, const int *b) {
#pragma omp target map(to: a[0:ALL], b[0:ALL]) map(tofrom: c[0:ALL])
#pragma omp parallel
#pragma omp for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      c[i * N + j] *= 2;
      for (int k = 0; k < N; k++) c[i * N + j] += 3 * a[i * N + k] * b[k * N + j];
    }
}
static void rows(int *y, const int *a, const int *x) {
#pragma omp target teams distribute parallel for map(to: a[0:ALL], x[0:N]) map(from: y[0:N])
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++) y[i] += a[i * N + j] * x[j];
  }
}
static void columns(int *y, const int *a, const int *x) {
#pragma omp target teams distribute parallel for map(to: a[0:ALL], x[0:N]) map(from: y[0:N])
  for (int j = 0; j < N; j++) {
    y[j] = 0;
    for (int i = 0; i < N; i++) y[j] += a[i * N + j] * x[i];
  }
}
static void conv2d(int *b, const int *a) {
#pragma omp target teams distribute parallel for map(to: a[0:ALL]) map(tofrom: b[0:ALL])
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      b[i * N + j] = 2 * a[(i - 1) * N + j - 1] + 5 * a[(i - 1) * N + j] - 8 * a[(i - 1) * N + j + 1] -
                     3 * a[i * N + j - 1] + 6 * a[i * N + j] - 9 * a[i * N + j + 1] +
                     4 * a[(i + 1) * N + j - 1] + 7 * a[(i + 1) * N + j] + a[(i + 1) * N + j + 1];
}
static void covar(int *s, int *d, int *mean) {
#pragma omp target data map(tofrom: d[0:ALL]) map(from: s[0:ALL], mean[0:N])
  {
#pragma omp target teams distribute parallel for
    for (int j = 0; j < N; j++) {
      mean[j] = 0;
      for (int i = 0; i < N; i++) mean[j] += d[i * N + j];
      mean[j] /= N;
    }
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) d[i * N + j] -= mean[j];
#pragma omp target teams distribute parallel for
    for (int p = 0; p < N; p++)
      for (int q = 0; q < N; q++) {
        s[p * N + q] = 0;
        for (int i = 0; i < N; i++) s[p * N + q] += d[i * N + p] * d[i * N + q];
      }
  }
}

/* Regions in this order: gemm 1, 2mm 2, 3mm 3, atax 2, bicg 2, conv2d 1, covar 3. */
static void all(int m[7][ALL]) {
  product(m[2], m[0], m[1], 3, 2);
  product(m[3], m[0], m[1], 3, 0);
  product(m[4], m[3], m[5], 1, 2);
  product(m[2], m[0], m[1], 1, 0);
  product(m[3], m[5], m[6], 1, 0);
  product(m[4], m[2], m[3], 1, 0);
  rows(m[2], m[0], m[1]);
  columns(m[3], m[0], m[2]);
  rows(m[5], m[0], m[1]);
  columns(m[6], m[0], m[1]);
  conv2d(m[5], m[0]);
  covar(m[1], m[0], mean);
  product_apart(m[2], m[5], m[6]);
}

int main(void) {
  fill(m);
  all(m);
  fill(known);
  omp_set_default_device(omp_get_initial_device());
  all(known);
  int is_right = !memcmp(m, known, sizeof m);
  puts(is_right ? "right" : "wrong");
  return !is_right;
}
