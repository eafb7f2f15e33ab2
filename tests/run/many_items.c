// Iterators with more values than a stack has room for: items that follow each other, items in another order, dependences.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300000

int main(void)
{
  int *data = malloc(2 * N * sizeof *data), failures = 0, is_away = 0;
  long sum = 0;
  for (int i = 0; i < 2 * N; i++) data[i] = i;
#pragma omp target map(iterator(i = 0 : N), to : data[i]) map(tofrom : sum, is_away)
  {
    is_away = !omp_is_initial_device();
    for (int i = 0; i < N; i++) sum += data[i];
  }
  if (!is_away || sum != (long)N * (N - 1) / 2) {
    printf("items in a row: %ld\n", sum);
    failures++;
  }
#pragma omp target data map(alloc : data[0 : 2 * N])
  {
    // Every second one, backwards: none follows another.
#pragma omp target update to(iterator(i = 0 : N / 10) : data[2 * (N - 1 - i)])
    sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < N / 10; i++) sum += data[2 * (N - 1 - i)];
  }
  if (sum != 2 * ((long)N * (N - 1) / 2 - (long)(N - N / 10) * (N - N / 10 - 1) / 2)) {
    printf("items of their own: %ld\n", sum);
    failures++;
  }
  sum = 0;
#pragma omp target depend(iterator(i = 0 : N), out : data[i]) map(tofrom : sum) nowait
  sum = 3;
#pragma omp taskwait
  if (sum != 3) {
    printf("dependences: %ld\n", sum);
    failures++;
  }
  free(data);
  if (!failures) puts("ok");
  return failures;
}
