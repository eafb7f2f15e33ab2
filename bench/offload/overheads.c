/* What directives cost by themselves. Prints `row side nanoseconds` for every batch of repetitions:
   side `target` is the directive on or for a device, side `host` the same without `target`.
   Sides take turns batch by batch, so that a busy moment of the machine meets both.
   Without TARGET only the host's sides are built. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1024 };

#define PRAGMA(text) _Pragma(#text)

/* The constructs that are timed inside of one region, and again outside of any. */
#define PARALLEL(times)                                                                            \
  for (int r = 0; r < times; r++) {                                                                \
    PRAGMA(omp parallel)                                                                           \
    work();                                                                                        \
  }
#define PARALLEL_FOR(times)                                                                        \
  for (int r = 0; r < times; r++) {                                                                \
    PRAGMA(omp parallel for)                                                                       \
    for (int i = 0; i < LENGTH; i++) a[i] += i;                                                    \
  }
#define BARRIER(times)                                                                             \
  PRAGMA(omp parallel)                                                                             \
  for (int r = 0; r < times; r++) {                                                                \
    work();                                                                                        \
    PRAGMA(omp barrier)                                                                            \
  }
#define REDUCTION(times)                                                                           \
  for (int r = 0; r < times; r++) {                                                                \
    int sum = 0;                                                                                   \
    PRAGMA(omp parallel for reduction(+ : sum))                                                    \
    for (int i = 0; i < LENGTH; i++) sum += a[i];                                                  \
    a[0] = sum & 1;                                                                                \
  }

#ifdef TARGET
#pragma omp begin declare target
#endif
/* A little of it, that no compiler leaves out. */
static inline void work(void) {
  for (volatile int i = 0; i < 10; i++) {
  }
}
#ifdef TARGET
#pragma omp end declare target
#endif

static void parallel_host(int times, int *a) {
  (void)a;
  PARALLEL(times)
}
static void parallel_for_host(int times, int *a) { PARALLEL_FOR(times) }
static void barrier_host(int times, int *a) {
  (void)a;
  BARRIER(times)
}
static void reduction_host(int times, int *a) { REDUCTION(times) }

static void loop_host(int times, int *a) {
  for (int r = 0; r < times; r++) {
#pragma omp parallel for
    for (int i = 0; i < LENGTH; i++) a[i] += i;
  }
}

#ifdef TARGET

#define TEN(list, name)                                                                            \
  list(name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9)
#define COMMAS(a, b, c, d, e, f, g, h, i, j) a, b, c, d, e, f, g, h, i, j
#define PLUS(a, b, c, d, e, f, g, h, i, j)                                                         \
  a++, b++, c++, d++, e++, f++, g++, h++, i++, j++
#define ZERO(a, b, c, d, e, f, g, h, i, j)                                                         \
  a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0
#define HUNDRED(list)                                                                              \
  TEN(list, v0), TEN(list, v1), TEN(list, v2), TEN(list, v3), TEN(list, v4), TEN(list, v5),        \
      TEN(list, v6), TEN(list, v7), TEN(list, v8), TEN(list, v9)

static void empty_target(int times, int *a) {
  (void)a;
  for (int r = 0; r < times; r++) {
#pragma omp target
    {
    }
  }
}

static void one_target(int times, int *a) {
  int v = a[0];
  for (int r = 0; r < times; r++) {
#pragma omp target map(tofrom : v)
    v++;
  }
  a[0] = v & 1;
}

static void ten_target(int times, int *a) {
  int TEN(ZERO, v);
  for (int r = 0; r < times; r++) {
    PRAGMA(omp target map(tofrom : TEN(COMMAS, v)))
    {
      TEN(PLUS, v);
    }
  }
  a[0] = v9 & 1;
}

static void hundred_target(int times, int *a) {
  int HUNDRED(ZERO);
  for (int r = 0; r < times; r++) {
    PRAGMA(omp target map(tofrom : HUNDRED(COMMAS)))
    {
      HUNDRED(PLUS);
    }
  }
  a[0] = v99 & 1;
}

static void data_target(int times, int *a) {
  for (int r = 0; r < times; r++) {
#pragma omp target data map(tofrom : a[0 : LENGTH])
    {
    }
  }
}

static void inside_data_target(int times, int *a) {
#pragma omp target data map(tofrom : a[0 : LENGTH])
  for (int r = 0; r < times; r++) {
#pragma omp target map(a[0 : LENGTH])
    a[0] ^= 1;
  }
}

static void ten_inside_data_target(int times, int *a) {
  int TEN(ZERO, v);
  PRAGMA(omp target data map(tofrom : TEN(COMMAS, v)))
  for (int r = 0; r < times; r++) {
    PRAGMA(omp target map(tofrom : TEN(COMMAS, v)))
    {
      TEN(PLUS, v);
    }
  }
  a[0] = v9 & 1;
}

static void update_target(int times, int *a) {
#pragma omp target data map(tofrom : a[0 : LENGTH])
  for (int r = 0; r < times; r++) {
#pragma omp target update to(a[0 : LENGTH])
  }
}

static void parallel_target(int times, int *a) {
  (void)a;
#pragma omp target
  {
    PARALLEL(times)
  }
}

static void parallel_for_target(int times, int *a) {
#pragma omp target map(a[0 : LENGTH])
  {
    PARALLEL_FOR(times)
  }
}

static void barrier_target(int times, int *a) {
  (void)a;
#pragma omp target
  {
    BARRIER(times)
  }
}

static void reduction_target(int times, int *a) {
#pragma omp target map(a[0 : LENGTH])
  {
    REDUCTION(times)
  }
}

static void loop_target(int times, int *a) {
  for (int r = 0; r < times; r++) {
#pragma omp target teams distribute parallel for map(a[0 : LENGTH])
    for (int i = 0; i < LENGTH; i++) a[i] += i;
  }
}

#else
#define empty_target 0
#define one_target 0
#define ten_target 0
#define hundred_target 0
#define data_target 0
#define inside_data_target 0
#define ten_inside_data_target 0
#define update_target 0
#define parallel_target 0
#define parallel_for_target 0
#define barrier_target 0
#define reduction_target 0
#define loop_target 0
#endif

static const struct row {
  const char *name;
  void (*target)(int times, int *a), (*host)(int times, int *a);
  int times;
} rows[] = {
  {"empty", empty_target, 0, 1000},
  {"one", one_target, 0, 500},
  {"ten", ten_target, 0, 100},
  {"hundred", hundred_target, 0, 20},
  {"data", data_target, 0, 500},
  {"inside-data", inside_data_target, 0, 500},
  {"ten-inside-data", ten_inside_data_target, 0, 100},
  {"update", update_target, 0, 500},
  {"parallel", parallel_target, parallel_host, 200},
  {"parallel-for", parallel_for_target, parallel_for_host, 200},
  {"barrier", barrier_target, barrier_host, 500},
  {"reduction", reduction_target, reduction_host, 200},
  {"loop", loop_target, loop_host, 200},
};

static void batch(const struct row *row, const char *side, void (*run)(int, int *), int *a) {
  if (!run) return;
  double start = omp_get_wtime();
  run(row->times, a);
  printf("%s %s %.1f\n", row->name, side, (omp_get_wtime() - start) * 1e9 / row->times);
}

int main(int argc, char **argv) {
  int batches = argc > 1 ? atoi(argv[1]) : 20;
  int *a = calloc(LENGTH, sizeof *a);
  if (!a) return 1;
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    const struct row *row = &rows[at];
    if (row->target) row->target(2, a);
    if (row->host) row->host(2, a);
    for (int i = 0; i < batches; i++) {
      batch(row, "target", row->target, a);
      batch(row, "host", row->host, a);
    }
  }
  free(a);
  return 0;
}
