/* What regions cost on a device, and what kernels take there: lines of a name, a number and what the kernel computed. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RUNS
#define RUNS 200
#endif

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double times[RUNS];

static double middle(int count) {
  qsort(times, count, sizeof *times, by_value);
  return times[count / 2];
}

/* Microseconds of a construct, the middle of RUNS rounds. */
#define COST(name, ...)                                        \
  for (int round = 0; round < RUNS; round++) {                 \
    double start = omp_get_wtime();                            \
    __VA_ARGS__                                                \
    times[round] = (omp_get_wtime() - start) * 1e6;            \
  }                                                            \
  printf("cost %s\t%.2f\t0\n", name, middle(RUNS));

/* Seconds of a kernel, and a number that tells whether it is right. */
#define KERNEL(name, answer, ...)                              \
  for (int round = 0; round < 3; round++) {                    \
    double start = omp_get_wtime();                            \
    __VA_ARGS__                                                \
    times[round] = omp_get_wtime() - start;                    \
  }                                                            \
  printf("kernel %s\t%.4f\t%.10g\n", name, middle(3), (double)(answer));

#define N 512
static double grid[2][N][N];

static double stencil(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) grid[0][i][j] = grid[1][i][j] = (i * 7 + j * 3) % 11;
#pragma omp target data map(tofrom: grid)
  for (int step = 0; step < 20; step++) {
    int from = step & 1;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(from)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        grid[!from][i][j] = 0.25 * (grid[from][i - 1][j] + grid[from][i + 1][j] + grid[from][i][j - 1] + grid[from][i][j + 1]);
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += grid[0][i][j];
  return sum;
}

/* Pairs of random numbers that lie in a circle. */
static long pairs(void) {
  long count = 0;
#pragma omp target teams distribute parallel for reduction(+: count) map(tofrom: count)
  for (long k = 0; k < 2000000; k++) {
    unsigned long x = (k + 1) * 6364136223846793005ul;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ul;
    x ^= x >> 32;
    double a = (x & 0xffffffff) / 4294967296.0, b = (x >> 32) / 4294967296.0;
    count += a * a + b * b < 1.0;
  }
  return count;
}

#define ROWS 20000
#define WIDE 16
static double value[ROWS * WIDE], vector[ROWS], result[ROWS];
static int column[ROWS * WIDE];

/* A sparse matrix and a vector, ten times. */
static double sparse(void) {
  for (int i = 0; i < ROWS * WIDE; i++) {
    value[i] = 1.0 / (1 + i % 13);
    column[i] = (int)((i * 7919l) % ROWS);
  }
  for (int i = 0; i < ROWS; i++) vector[i] = i % 5;
#pragma omp target data map(to: value, column, vector) map(from: result)
  for (int round = 0; round < 10; round++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int j = i * WIDE; j < (i + 1) * WIDE; j++) sum += value[j] * vector[column[j]];
      result[i] = sum;
    }
  }
  double sum = 0;
  for (int i = 0; i < ROWS; i++) sum += result[i];
  return sum;
}

int main(void) {
  int x = 0;
  double answer = 0;
#pragma omp target map(tofrom: x)
  x = !omp_is_initial_device();
  printf("away\t%d\t0\n", x);
  COST("target", _Pragma("omp target") { })
  COST("target map(tofrom: x)", _Pragma("omp target map(tofrom: x)") x++;)
  COST("target parallel", _Pragma("omp target parallel") { })
  COST("target teams", _Pragma("omp target teams") { })
  COST("target nowait, taskwait", _Pragma("omp target nowait") { } _Pragma("omp taskwait"))
  size_t bytes = (size_t)MIB << 20;
  char *data = malloc(bytes), *copy = malloc(bytes);
  if (!data || !copy) return 1;
  memset(data, 1, bytes);
  memset(copy, 1, bytes);
  /* Pages are there before times are taken. */
#pragma omp target enter data map(to: data[:bytes])
#pragma omp target update from(data[:bytes])
  double memory[3];
  for (int way = 0; way < 3; way++) {
    for (int round = 0; round < 5; round++) {
      double start = omp_get_wtime();
      if (way == 0) memcpy(copy, data, bytes);
      if (way == 1) {
#pragma omp target update to(data[:bytes])
      }
      if (way == 2) {
#pragma omp target update from(data[:bytes])
      }
      times[round] = omp_get_wtime() - start;
    }
    memory[way] = bytes / middle(5) / 1e9;
  }
#pragma omp target exit data map(delete: data[:bytes])
  printf("memory memcpy\t%.2f\t0\nmemory to\t%.2f\t0\nmemory from\t%.2f\t0\n", memory[0], memory[1], memory[2]);
  KERNEL("stencil", answer, answer = stencil();)
  KERNEL("pairs", answer, answer = pairs();)
  KERNEL("sparse", answer, answer = sparse();)
  return copy[bytes / 2] != 1;
}
