// Regions, copies and updates that are not waited for, in the order of their dependences.
#include <omp.h>

#include <cstdio>
#include <vector>

int main() {
  int faults = 0;
  const int n = 4000, parts = 8;
  std::vector<int> v(n * parts, 1);
  int *p = v.data(), on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
#pragma omp parallel
#pragma omp single
  {
    for (int k = 0; k < parts; k++) {
      int *q = p + k * n;
#pragma omp target enter data map(to : q[0 : n]) depend(out : q[0]) nowait
      for (int step = 0; step < 3; step++) {
#pragma omp target teams distribute parallel for map(to : q[0 : n]) depend(inout : q[0]) nowait
        for (int i = 0; i < n; i++)
          q[i] = q[i] * 2 + k;
      }
#pragma omp target exit data map(from : q[0 : n]) depend(inout : q[0]) nowait
    }
#pragma omp taskwait
  }
  for (int k = 0; k < parts; k++)
    for (int i = 0; i < n; i++)
      faults += v[k * n + i] != 8 + 7 * k;
  faults += on_host;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
