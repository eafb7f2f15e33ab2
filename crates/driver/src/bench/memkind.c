// Cost of memory that each thread uses in parallel regions: allocated and released in each, or its own by the directive.
// Prints a line for each size and run: size, nanoseconds of a region beyond an empty one with malloc, and with memkind. What is
// The same follows for iterations of all threads within one region, after the word "inside". What is
// compared runs turn about in short rounds, and the middle of the differences of all rounds is the run's: a busy moment of the machine meets both sides.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef RUNS
#define RUNS 50
#endif
enum { ITERATIONS = 4096, ROUNDS = 64 };

static char a8[8], a16[16], a64[64], a1024[1024], a65536[65536];
#pragma omp memkind(fastmem : val : a8, a16, a64, a1024, a65536)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

#define USE(array, size)                                                                                               \
  do {                                                                                                                 \
    volatile char *p_ = (array);                                                                                       \
    p_[0] = 1;                                                                                                         \
    p_[(size) - 1] = p_[0];                                                                                            \
  } while (0)

#define TIMED(variable, ...)                                                                                           \
  do {                                                                                                                 \
    double begin_ = now();                                                                                             \
    for (int i_ = 0; i_ < ITERATIONS / ROUNDS; i_++) {                                                                 \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
    variable = (now() - begin_) / (ITERATIONS / ROUNDS);                                                               \
  } while (0)

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle(double *all) {
  qsort(all, ROUNDS, sizeof *all, by_value);
  return (all[ROUNDS / 2 - 1] + all[ROUNDS / 2]) / 2;
}

#define MEASURE(size)                                                                                                  \
  for (int run = 0; run < RUNS; run++) {                                                                               \
    double base[ROUNDS], own[ROUNDS];                                                                                  \
    for (int round = 0; round < ROUNDS; round++) {                                                                     \
      double empty;                                                                                                    \
      TIMED(empty, _Pragma("omp parallel") { __asm__ volatile("" ::: "memory"); });                                    \
      TIMED(base[round], _Pragma("omp parallel") {                                                                     \
        char *p = malloc(size);                                                                                        \
        USE(p, size);                                                                                                  \
        free(p);                                                                                                       \
      });                                                                                                              \
      TIMED(own[round], _Pragma("omp parallel") { USE(a##size, size); });                                              \
      base[round] -= empty;                                                                                            \
      own[round] -= empty;                                                                                             \
    }                                                                                                                  \
    printf("%d %f %f\n", size, middle(base), middle(own));                                                             \
  }

#define INSIDE(variable, ...)                                                                                          \
  do {                                                                                                                 \
    double begin_ = now();                                                                                             \
    _Pragma("omp parallel") for (int i_ = 0; i_ < ITERATIONS; i_++) { __VA_ARGS__ }                                    \
    variable = (now() - begin_) / ITERATIONS;                                                                          \
  } while (0)

#define MEASURE_INSIDE(size)                                                                                           \
  for (int run = 0; run < RUNS; run++) {                                                                               \
    double base[ROUNDS], own[ROUNDS];                                                                                  \
    for (int round = 0; round < ROUNDS; round++) {                                                                     \
      double empty;                                                                                                    \
      INSIDE(empty, __asm__ volatile("" ::: "memory"););                                                               \
      INSIDE(base[round], {                                                                                            \
        char *p = malloc(size);                                                                                        \
        USE(p, size);                                                                                                  \
        free(p);                                                                                                       \
      });                                                                                                              \
      INSIDE(own[round], USE(a##size, size););                                                                         \
      base[round] -= empty;                                                                                            \
      own[round] -= empty;                                                                                             \
    }                                                                                                                  \
    printf("inside %d %f %f\n", size, middle(base), middle(own));                                                      \
  }

int main(void) {
  // Threads and their memory are there before anything is timed.
  double ready;
  TIMED(ready, _Pragma("omp parallel") {
    USE(a8, 8);
    USE(a16, 16);
    USE(a64, 64);
    USE(a1024, 1024);
    USE(a65536, 65536);
  });
  (void)ready;
  MEASURE(8)
  MEASURE(16)
  MEASURE(64)
  MEASURE(1024)
  MEASURE(65536)
  MEASURE_INSIDE(8)
  MEASURE_INSIDE(16)
  MEASURE_INSIDE(64)
  MEASURE_INSIDE(1024)
  MEASURE_INSIDE(65536)
  return 0;
}
