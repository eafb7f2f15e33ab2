// C by Ferry, C++ by clang, Fortran by flang: one table of mappings, one copy of each variable on a device.
#include <omp.h>
#include <stdio.h>

#pragma omp begin declare target
int of_c = 10;
int add_in_c(int x) { return x + of_c; }
extern int of_cpp;
int add_in_cpp(int x);
#pragma omp end declare target

void scale_in_cpp(double *data, int n);
int regions_of_cpp(int *data, int n);
void fill_in_fortran(int *data, const int *n);

int main(void) {
  int faults = 0, a[100], n = 100;
  double d[64];
  for (int i = 0; i < 64; i++)
    d[i] = i;
  // Mapped here, used there.
#pragma omp target data map(tofrom : d)
  {
    scale_in_cpp(d, 64);
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 64; i++)
      d[i] += 1;
  }
  for (int i = 0; i < 64; i++)
    faults += d[i] != 3.0 * i + 1;
  // Variables and functions of the other language.
#pragma omp target map(from : a)
  {
    of_c += 1;
    of_cpp += 1;
    for (int i = 0; i < 100; i++)
      a[i] = add_in_cpp(i);
  }
  for (int i = 0; i < 100; i++)
    faults += a[i] != i + 21;
  faults += regions_of_cpp(a, n) != 0;
  fill_in_fortran(a, &n);
  for (int i = 0; i < 100; i++)
    faults += a[i] != 7 * (i + 1);
  int host = 1;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  faults += host;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
