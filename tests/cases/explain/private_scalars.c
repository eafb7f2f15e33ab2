// run: explain --profile cpu
// Copies that clauses make end with the construct: a later round of a loop around it reads none of them.
#define N 64
static double a[N][N][N], w[N][N][N];

double rounds(void) {
  int i, j, k;
  double sum = 0, s0;
#pragma acc data copyin(a) create(i, j, k, s0)
  for (int n = 0; n < 3; n++) {
#pragma acc parallel loop private(i, j, k, s0) reduction(+ : sum)
    for (i = 1; i < N - 1; ++i)
      for (j = 1; j < N - 1; ++j)
        for (k = 1; k < N - 1; ++k) {
          s0 = a[i][j][k];
          sum = sum + s0 * s0;
          w[i][j][k] = s0;
        }
  }
  return sum;
}

double threads(void) {
  int j;
  double sum = 0, s0;
  for (int n = 0; n < 3; n++) {
#pragma omp parallel for private(j, s0) reduction(+ : sum)
    for (int i = 1; i < N - 1; ++i)
      for (j = 1; j < N - 1; ++j) {
        s0 = a[n][i][j];
        sum += s0 * s0;
        w[n][i][j] = s0;
      }
  }
  return sum;
}

// Without the clause the last value is used after the loop.
double last(void) {
  int i, j;
  double s0 = 0;
  for (i = 1; i < N - 1; ++i)
#pragma omp simd
    for (j = 1; j < N - 1; ++j) {
      s0 = a[0][i][j];
      w[0][i][j] = s0;
    }
  return s0;
}
