// Constructs on a device with memory of its own; the sums are the same everywhere.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200 };

static long checksum(const int *a, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) sum = (sum * 31 + a[i]) % 1000003;
  return sum;
}

static void maps(int *a, int *b) {
  // Sections that do not begin at the base, of nothing, and room that is not copied.
  int none = 7;
#pragma omp target map(tofrom: a[50:100]) map(to: b[3:60]) map(tofrom: none)
  for (int i = 50; i < 110; i++) a[i] += b[i - 47];
#pragma omp target map(tofrom: a[20:0]) map(tofrom: none)
  none++;
  int *scratch = malloc(N * sizeof *scratch);
#pragma omp target data map(alloc: scratch[0:N]) map(tofrom: a[0:N])
  {
#pragma omp target data map(tofrom: b[0:N])
    {
#pragma omp target
      for (int i = 0; i < N; i++) scratch[i] = a[i] * 3, b[i]++;
#pragma omp target map(to: a[0:N])
      for (int i = 0; i < N; i++) a[i] = scratch[N - 1 - i] - b[i];
    }
#pragma omp target update from(a[10:20])
    printf("%ld\n", checksum(a + 10, 20));
  }
  free(scratch);
  printf("maps %ld %ld %d\n", checksum(a, N), checksum(b, N), none);
}

static void pointers(int *a) {
  int device = omp_get_default_device(), host = omp_get_initial_device();
  int *there = omp_target_alloc(N * sizeof *there, device), *inner = a + 5;
  omp_target_memcpy(there, a, N * sizeof *there, 0, 0, device, host);
#pragma omp target is_device_ptr(there)
  for (int i = 0; i < N; i++) there[i] ^= i;
  omp_target_memcpy(a, there, N * sizeof *there, 0, 0, host, device);
  omp_target_free(there, device);
#pragma omp target data map(tofrom: a[0:N]) use_device_ptr(a)
  {
#pragma omp target is_device_ptr(a)
    for (int i = 0; i < N; i += 2) a[i] -= i;
  }
#pragma omp target data map(tofrom: a[0:N])
#pragma omp target
  for (int i = 0; i < 50; i++) inner[i] += 1000, inner[i] *= 2;
  printf("pointers %ld\n", checksum(a, N));
}

static void teams_of_threads(int *a) {
  for (int threads = 1; threads <= 12; threads += threads < 8 ? 1 : 4) {
    long sum = 0;
    int most = 0, odd = 0, once = 0, parts = 0;
#pragma omp target map(tofrom: a[0:N], sum, most, odd, once, parts)
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) reduction(+: sum)
      for (int i = 0; i < N; i++) sum += a[i];
#pragma omp for schedule(static, 3) reduction(max: most)
      for (int i = 0; i < N; i++) most = a[i] > most ? a[i] : most;
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < N; i++) a[i]++;
#pragma omp for schedule(guided)
      for (int i = 0; i < N; i++)
        if (a[i] & 1) {
#pragma omp critical
          odd++;
        }
#pragma omp for
      for (int i = 5; i < 5; i++) a[i] = -1;
#pragma omp single
      once++;
#pragma omp sections
      {
#pragma omp section
#pragma omp atomic
        parts += 1;
#pragma omp section
#pragma omp atomic
        parts += 10;
#pragma omp section
#pragma omp atomic
        parts += 100;
      }
    }
    printf("threads %d: %ld %d %d %d %d\n", threads, sum, most, odd, once, parts);
  }
}

static void nests(int *a) {
  long sum = 0;
#pragma omp target map(tofrom: a[0:N], sum)
  {
#pragma omp parallel for collapse(2) reduction(+: sum)
    for (long i = -5; i < 5; i++)
      for (long j = 20; j > 0; j -= 1) sum += (i + 7) * j, a[(i + 5) * 20 + j - 1] += (int)i;
    // A region inside of a region has one thread.
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      sum += 1000 + omp_get_thread_num();
    }
  }
  printf("nests %ld %ld\n", sum, checksum(a, N));
}

int main(void) {
  int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++) a[i] = i * 7 % 50, b[i] = 100 - i;
  maps(a, b);
  pointers(a);
  teams_of_threads(a);
  nests(a);
  return 0;
}
