// run: check
void f(int n, double *p) {
#pragma omp target teams distribte parallel for map(tofrom : p[0 : n])
  for (int i = 0; i < n; i++)
    p[i] = 0;
#pragma omp target enter dat map(to : p[0 : n])
#pragma omp target updat to(p[0 : n])
#pragma omp parallel fro
  for (int i = 0; i < n; i++)
    ;
#pragma omp target parallel firstprivat(n)
  ;
#pragma acc parallel lopo copy(p[0 : n])
  for (int i = 0; i < n; i++)
    p[i] = 0;
#pragma acc kernels asinc
  ;
#pragma omp target teams distribute paralel for
  for (int i = 0; i < n; i++)
    p[i] = 0;
#pragma omp distribute parallel fro
  for (int i = 0; i < n; i++)
    p[i] = 0;
#pragma omp target teams distribute paralel nowait
  for (int i = 0; i < n; i++)
    p[i] = 0;
}
