// run: explain --device cpu,opencl,cuda,riscv,fpga-rtl
// run: explain --json --device cpu,opencl
// What `ferry cc` makes of each region on devices; a file of which one region is refused is not compiled, and that is told.
struct pair {
  long double wide;
  int count;
};

static double halves(double x) {
  long double wide = x;
  return (double)(wide / 2);
}

void f(int n, double *restrict a, struct pair *p) {
#pragma omp target teams distribute parallel for map(a[0:n])
  for (int i = 0; i < n; i++)
    a[i] = halves(a[i]);
#pragma acc parallel loop copy(a[0:n])
  for (int i = 0; i < n; i++)
    a[i] += 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] += 1;
#pragma omp target update to(a[0:n])
}
