// Values that come out of loops on a device: reductions of all kinds, last values, copies per thread.
#include <omp.h>
#include <stdio.h>

#define N 1000

typedef struct { double re, im; } number;
#pragma omp declare reduction(add : number : omp_out.re += omp_in.re, omp_out.im += omp_in.im) \
  initializer(omp_priv = (number){ 0, 0 })

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  int a[N], on_device = 0, threads = 0;
  for (int i = 0; i < N; i++) a[i] = i;

  long sum = 7;
  int largest = -1, all = 1, any = 0, bits = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : largest) \
  reduction(&& : all) reduction(|| : any) reduction(| : bits) map(to : a)
  for (int i = 0; i < N; i++) {
    sum += a[i];
    if (a[i] > largest) largest = a[i];
    all = all && a[i] >= 0;
    any = any || a[i] == 500;
    bits |= a[i];
  }
  expect(sum == 7 + N * (N - 1L) / 2, "sum");
  expect(largest == N - 1 && all && any && bits == 1023, "max, and, or, bits");

  int bins[4] = { 1, 1, 1, 1 };
#pragma omp target parallel for reduction(+ : bins) map(to : a)
  for (int i = 0; i < N; i++) bins[a[i] % 4]++;
  expect(bins[0] == 251 && bins[3] == 251, "a whole array");

  int part[6] = { 0 };
#pragma omp target parallel for reduction(+ : part[1 : 4]) map(tofrom : part)
  for (int i = 0; i < N; i++) part[1 + i % 4] += i % 3;
  expect(part[0] == 0 && part[1] + part[2] + part[3] + part[4] == 999 && part[5] == 0, "a section");

  number z = { 1, 1 };
#pragma omp target teams distribute parallel for reduction(add : z)
  for (int i = 0; i < N; i++) {
    z.re += 1;
    z.im += 2;
  }
  expect(z.re == N + 1 && z.im == 2 * N + 1, "the user's own");

  int last = -1, seen[2] = { 0 };
#pragma omp target teams distribute parallel for lastprivate(last, seen)
  for (int i = 0; i < N; i++) {
    last = i;
    seen[0] = i;
    seen[1] = 2 * i;
  }
  expect(last == N - 1 && seen[0] == N - 1 && seen[1] == 2 * N - 2, "last values");

  int start = 3, scratch = 9, total = 0;
#pragma omp target map(tofrom : total, threads, on_device) map(to : start)
  {
    on_device = !omp_is_initial_device();
#pragma omp parallel num_threads(4) firstprivate(start) private(scratch) reduction(+ : total)
    {
#pragma omp single
      threads = omp_get_num_threads();
      scratch = start + omp_get_thread_num();
      total += scratch;
    }
  }
  expect(threads == 4 && total == 4 * 3 + 6, "copies per thread");
  expect(start == 3 && scratch == 9, "which stay there");
  expect(on_device, "the region runs on a device");
  return failures != 0;
}
