// run: check
// What goes wrong for certain when iterations run at once is told; nothing else is.
void scan(int n, double *a, double *b) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma omp parallel for
  for (int i = 0; i < n - 16; i++) a[i] = a[i + 16] * 2;
#pragma omp simd
  for (int i = 0; i < n - 1; i++) a[i] = a[i + 1];
#pragma omp parallel for schedule(static, 4096)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma omp parallel for num_threads(1)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma omp parallel for ordered
  for (int i = 1; i < n; i++)
#pragma omp ordered
    a[i] = a[i - 1] + 1;
#pragma omp parallel for
  for (int i = 1; i < n; i++)
    if (b[i] > 0) a[i] = a[i - 1] + 1;
#pragma omp parallel for
  for (int i = 0; i < 1; i++) a[i] = a[i + 1];
#pragma acc parallel loop copy(a[0:n])
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma acc kernels loop copy(a[0:n])
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
}

double sums(int n, int m, const double *a, double c[n][m]) {
  double s = 0, t = 0, u = 0, v = 0, w = 0, x = 0;
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(tofrom: s)
  for (int i = 0; i < n; i++) s += a[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) t += c[i][j];
#pragma omp parallel for reduction(+: u)
  for (int i = 0; i < n; i++) u += a[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
#pragma omp atomic
    v += a[i];
#pragma omp parallel private(w)
  {
    w = 0;
    double own = 0;
#pragma omp for
    for (int i = 0; i < n; i++) {
      w += a[i];
      own += a[i];
    }
#pragma omp critical
    v += w + own;
  }
#pragma acc parallel loop copyin(a[0:n])
  for (int i = 0; i < n; i++) x += a[i];
  return s + t + u + v + x;
}

void scalars(int n, const double *a, double *b) {
  double t, u, v = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    t = a[i];
    b[i] = t * t;
  }
#pragma omp parallel for private(u)
  for (int i = 0; i < n; i++) {
    u = a[i];
    b[i] = u * u;
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    b[i] = v;
    v = a[i];
  }
}
