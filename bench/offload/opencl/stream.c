/* A loop that streams memory and one that sums it up, on data that stays on the device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int n = 1 << 26;
  float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  if (!x || !y)
    return 2;
  for (int i = 0; i < n; i++) {
    x[i] = i % 8;
    y[i] = 1;
  }
  double sum = 0;
#pragma omp target data map(to : x[0 : n]) map(tofrom : y[0 : n])
  for (int turn = 0; turn < 6; turn++) {
    const double begin = omp_get_wtime();
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
      y[i] = 2 * x[i] + y[i];
    const double between = omp_get_wtime();
    sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
      sum += y[i];
    const double end = omp_get_wtime();
    printf("saxpy %.3f ms, %.0f GB/s; sum %.3f ms, %.0f GB/s\n", (between - begin) * 1e3,
           12e-9 * n / (between - begin), (end - between) * 1e3, 4e-9 * n / (end - between));
  }
  double wanted = 0;
  for (int i = 0; i < n; i++)
    wanted += 1 + 6 * 2 * (i % 8);
  if (sum != wanted)
    printf("wrong: %.17g, not %.17g\n", sum, wanted);
  return sum != wanted;
}
