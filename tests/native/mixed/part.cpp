#include <omp.h>

#include <memory>

extern "C" {
#pragma omp begin declare target
extern int of_c;
int add_in_c(int x);
int of_cpp = 20;
int add_in_cpp(int x) { return x + of_cpp; }
#pragma omp end declare target
void scale_in_cpp(double *data, int n);
int regions_of_cpp(int *data, int n);
}

void scale_in_cpp(double *data, int n) {
#pragma omp target teams distribute parallel for map(present, alloc : data[0 : n])
  for (int i = 0; i < n; i++)
    data[i] *= 3;
}

// What the region in C has changed is seen here: of_c is 11, of_cpp 21.
int regions_of_cpp(int *data, int n) {
  auto faults = std::make_unique<int>(0);
#pragma omp target map(tofrom : data[0 : n])
  for (int i = 0; i < n; i++)
    data[i] = add_in_c(i) + of_c + add_in_cpp(0);
  for (int i = 0; i < n; i++)
    *faults += data[i] != i + 11 + 11 + 21;
  int host = 1;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  return *faults + host;
}
