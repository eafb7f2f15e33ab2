/* Chains of small regions inside `target data`: microseconds each until they were put, and until they were done. `chain.cu` is the same in CUDA. */
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
#define N 384
int main(void) {
  int *d = calloc(N * 4, sizeof *d); unsigned char p[N] = {1}, q[N] = {2};
#pragma omp target data map(to: p, q) map(tofrom: d[0:N])
  {
    for (int round = 0; round < 4; round++) {
      double t = omp_get_wtime();
      for (int k = 0; k < 4000; k++) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++) d[i] += 1;
      }
      double u = omp_get_wtime();
#pragma omp target update from(d[0:1])
      double v = omp_get_wtime();
      printf("one array: put %.2f us, done %.2f us each\n", (u - t) / 4000 * 1e6, (v - t) / 4000 * 1e6);
      t = omp_get_wtime();
      for (int k = 0; k < 4000; k++) {
        int from = k % 3, to = N - k % 5;
#pragma omp target teams distribute parallel for
        for (int i = from; i < to; i++) d[i] += p[i] + q[i] + k;
      }
      u = omp_get_wtime();
#pragma omp target update from(d[0:1])
      v = omp_get_wtime();
      printf("three arrays, three numbers: put %.2f us, done %.2f us each\n", (u - t) / 4000 * 1e6, (v - t) / 4000 * 1e6);
    }
  }
  free(d);
}
