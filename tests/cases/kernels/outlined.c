// run: emit --dialect kernel
// Each region that leaves the host is a kernel; one that has none is named, and the others are printed.
void scale(int n, float a, float *x) {
#pragma omp target teams distribute parallel for map(tofrom: x[0:n])
  for (int i = 0; i < n; i++) x[i] *= a;
}
int several(int n) {
  int all = 0;
#pragma omp target map(tofrom: all)
  {
    int done = 0;
  again:
#pragma omp parallel num_threads(2)
    all += 1;
    if (++done < n) goto again;
  }
  return all;
}
