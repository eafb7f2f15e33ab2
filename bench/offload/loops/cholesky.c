/* The lower triangle of A becomes L with A = L L'; P holds one over its diagonal. */
#include "loops.h"

#include <math.h>

enum { N = 400 };
struct arrays { double a[N][N], p[N]; };

static void cholesky(double a[N][N], double p[N]) {
  DATA(INOUT(a[0 : N]) OUT(p[0 : N]))
  for (int i = 0; i < N; i++) {
    ONE(INOUT(a[0 : N], p[0 : N]))
    {
      double x = a[i][i];
      for (int k = 0; k < i; k++) x -= a[i][k] * a[i][k];
      p[i] = 1 / sqrt(x);
    }
    LOOP(INOUT(a[0 : N], p[0 : N]))
    for (int j = i + 1; j < N; j++) {
      double x = a[i][j];
      for (int k = 0; k < i; k++) x -= a[j][k] * a[i][k];
      a[j][i] = x * p[i];
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  cholesky(it->a, it->p);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->p[i] = 0;
    for (int j = 0; j < N; j++) it->a[i][j] = i == j ? N : (double)((i + j) % 13) / 13;
  }
}
#endif
