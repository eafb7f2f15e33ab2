// Scalars of a gang: each has its own, and workers and lanes of a gang combine into that one only.
#include <stdio.h>

enum { N = 600, M = 64, TIMES = 10 };

static double a[N][M], y[N], z[N];

int main(void)
{
  double s = 7;
  int bad = 0, t = 3;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++) a[i][k] = i;
  for (int time = 0; time < TIMES; time++) {
    for (int i = 0; i < N; i++) y[i] = z[i] = -1;
#pragma acc parallel num_gangs(8) copyin(a) copyout(y)
    {
#pragma acc loop gang
      for (int i = 0; i < N; i++) {
        s = 0;
#pragma acc loop worker vector reduction(+ : s)
        for (int k = 0; k < M; k++) s += a[i][k];
        y[i] = s;
      }
    }
    // The same without a reduction: what an iteration leaves there is nobody else's.
#pragma acc parallel loop gang num_gangs(8) copyin(a) copyout(z)
    for (int i = 0; i < N; i++) {
      t = i * 2;
      for (int k = 0; k < M; k++) t += (int)a[i][k];
      z[i] = t;
    }
    for (int i = 0; i < N; i++) bad += y[i] != (double)i * M || z[i] != i * 2 + i * M;
  }
  // The host's own are as they were.
  bad += s != 7 || t != 3;
  printf("%d differences, s %g, t %d\n", bad, s, t);
  return bad != 0;
}
