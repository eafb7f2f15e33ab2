// One thread with parallel regions in it, shared variables, critical sections, atomics, schedules, nests.
#include <omp.h>

#include <cstdio>

#pragma omp declare target
static int square(int x) { return x * x; }
static void fill(int *to, int n) {
#pragma omp parallel for schedule(dynamic, 3)
  for (int i = 0; i < n; i++)
    to[i] = square(i);
}
#pragma omp end declare target

int main() {
  int faults = 0;
  const int n = 500;
  static int a[500], b[500];
  int total = 0, most = 0, entered = 0, on_host = 1;
#pragma omp target map(from : a) map(tofrom : total, most, entered, on_host)
  {
    on_host = omp_is_initial_device();
    int local[8] = {0};
    fill(a, n);
#pragma omp parallel for reduction(+ : total) schedule(static, 7)
    for (int i = 0; i < n; i++)
      total += a[i] % 5;
#pragma omp parallel num_threads(8)
    {
      if (omp_get_thread_num() < 8)
        local[omp_get_thread_num()] = omp_get_thread_num() + 1;
#pragma omp atomic
      entered += 1;
#pragma omp critical
      if (omp_get_num_threads() > most)
        most = omp_get_num_threads();
#pragma omp barrier
#pragma omp single
      local[0] += 100;
    }
    if (local[0] != 101)
      total = -1;
  }
  int expect = 0;
  for (int i = 0; i < n; i++)
    expect += i * i % 5, faults += a[i] != i * i;
  faults += total != expect || on_host || entered != most || most < 1;
#pragma omp target teams distribute num_teams(2) map(from : b)
  for (int t = 0; t < 10; t++) {
    int base = t * 50;
#pragma omp parallel for
    for (int i = 0; i < 50; i++)
      b[base + i] = base + 2 * i;
  }
  for (int t = 0; t < 10; t++)
    for (int i = 0; i < 50; i++)
      faults += b[t * 50 + i] != t * 50 + 2 * i;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
