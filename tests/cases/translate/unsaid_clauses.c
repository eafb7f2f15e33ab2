// run: translate --to openmp --partial -v
// run: translate --to openmp --profile clang --partial -v
// What no clause of the other standard says is refused by name, or said otherwise; nothing vanishes.
static double g[16];
#pragma acc declare create(g)
void f(int n, double *a, double *b, double m[8][8]) {
  double t[64];
#pragma acc data copyin(a[0:n]) pipe(t)
  {
#pragma acc parallel loop pipeout(t) present(a[0:n])
    for (int i = 0; i < 64; i++) t[i] = a[i];
#pragma acc parallel loop pipein(t) copyout(b[0:64])
    for (int i = 0; i < 64; i++) b[i] = t[i];
  }
#pragma acc data copyin(always: a[0:n]) copy(b[0:n])
  {
#pragma acc parallel loop copy(alwaysout: b[0:n])
    for (int i = 0; i < n; i++) b[i] += a[i];
  }
#pragma acc enter data copyin(always: a[0:n]) create(b[0:n])
#pragma acc update self(m[0:8][1:2])
#pragma acc update self(m[2:3][0:8], m[1][2:3])
#pragma acc update device(g[2:4])
}
void own(int n, int k, double a[n][k], double *y) {
  double s = 0, t = 1;
#pragma acc parallel num_gangs(8) copyin(a[0:n][0:k]) copyout(y[0:n])
  {
    t = 2;
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
      s = 0;
#pragma acc loop worker vector reduction(+: s)
      for (int j = 0; j < k; j++) s += a[i][j] * t;
      y[i] = s;
    }
  }
}
