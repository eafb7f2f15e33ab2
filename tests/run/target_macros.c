// Regions that macros make run on the device; the same macro for threads of the host is another matter.
#include <omp.h>

#define N 100
#define OMP(x) _Pragma(#x)
#define SHARE OMP(omp target teams distribute parallel for map(tofrom: a[0:N]))
#define HELD(list) OMP(omp target data map(tofrom: list[0:N]))
#define HOST OMP(omp parallel for)

int main(void) {
  int a[N], on_host = 1;
  for (int i = 0; i < N; i++) a[i] = i;
  HELD(a)
  {
    SHARE
    for (int i = 0; i < N; i++) a[i] *= 2;
    _Pragma("omp target teams distribute parallel for") for (int i = 0; i < N; i++) a[i] += 1;
  }
  HOST
  for (int i = 0; i < N; i++) a[i] -= 1;
#pragma omp target map(from: on_host)
  on_host = omp_is_initial_device();
  for (int i = 0; i < N; i++) {
    if (a[i] != 2 * i) return 1;
  }
  return on_host;
}
