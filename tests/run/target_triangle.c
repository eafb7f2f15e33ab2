// Loops made one although the inner bounds depend on the outer variable: each iteration runs once.
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { N = 40 };
  int hits[N * N] = { 0 }, wrong = 0, on_device = 0, i, j;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : hits, on_device)
  for (i = 0; i < N; i++)
    for (j = i * N; j < i * N + N; j++) {
      if (j == 0) on_device = !omp_is_initial_device();
      hits[j]++;
    }
#pragma omp target teams loop collapse(2) map(tofrom : hits)
  for (int k = 0; k < N; k++)
    for (int m = k; m < N; m++) hits[k * N + m]++;
  for (int k = 0; k < N * N; k++)
    if (hits[k] != 1 + (k % N >= k / N)) wrong++;
  if (wrong) printf("%d elements are wrong\n", wrong);
  return wrong != 0 || !on_device;
}
