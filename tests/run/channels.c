// What one region writes into a channel another reads: on devices without channels these are arrays there.
#include <stdlib.h>
#define N 300

// A chain of three regions with a channel between each two, of a type each.
static int chain(int n, const int *a, long *out) {
  float first[N];
  double *second = malloc(n * sizeof *second);
  for (int i = 0; i < n; i++) first[i] = -1, second[i] = -1;
#pragma acc data copyin(a[0:n]) copyout(out[0:n]) pipe(first, second[0:n])
  {
#pragma acc parallel loop num_gangs(1) num_workers(1) pipeout(first) present(a[0:n])
    for (int i = 0; i < n; i++) first[i] = a[i] + 0.5f;
#pragma acc parallel loop gang worker pipein(first) pipeout(second)
    for (int i = 0; i < n; i++) second[i] = first[i] * 4;
#pragma acc serial pipein(second) present(out[0:n])
    for (int i = 0; i < n; i++) out[i] = (long)second[i] * 1000000000;
  }
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong |= out[i] != (long)(a[i] * 4 + 2) * 1000000000;
  // Nothing of a channel comes back, where the device has memory of its own.
  wrong |= first[n - 1] != -1 && first[n - 1] != a[n - 1] + 0.5f;
  free(second);
  return wrong;
}

int main(void) {
  int a[N], read = 0;
  long out[N];
  for (int i = 0; i < N; i++) a[i] = i - 20;
#ifdef _OPENACC
  read = 1;
#endif
  return chain(N, a, out) || chain(7, a + 50, out) || !read;
}
