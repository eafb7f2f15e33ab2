/* Solves A x = b: A becomes its factors, then y by forward and x by backward substitution. */
#include "loops.h"

enum { N = 280 };
struct arrays { double a[N][N], b[N], x[N], y[N]; };

static void ludcmp(double a[N][N], double b[N], double x[N], double y[N]) {
  DATA(INOUT(a[0 : N]) IN(b[0 : N]) OUT(x[0 : N], y[0 : N]))
  {
    for (int i = 0; i < N - 1; i++) {
      LOOP(INOUT(a[0 : N]))
      for (int j = i + 1; j < N; j++) {
        double w = a[j][i];
        for (int k = 0; k < i; k++) w -= a[j][k] * a[k][i];
        a[j][i] = w / a[i][i];
      }
      LOOP(INOUT(a[0 : N]))
      for (int j = i + 1; j < N; j++) {
        double w = a[i + 1][j];
        for (int k = 0; k <= i; k++) w -= a[i + 1][k] * a[k][j];
        a[i + 1][j] = w;
      }
    }
    ONE(INOUT(a[0 : N], b[0 : N], x[0 : N], y[0 : N]))
    {
      for (int i = 0; i < N; i++) {
        double w = b[i];
        for (int j = 0; j < i; j++) w -= a[i][j] * y[j];
        y[i] = w;
      }
      for (int i = N - 1; i >= 0; i--) {
        double w = y[i];
        for (int j = i + 1; j < N; j++) w -= a[i][j] * x[j];
        x[i] = w / a[i][i];
      }
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  ludcmp(it->a, it->b, it->x, it->y);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->b[i] = (double)(i + 1) / N;
    it->x[i] = it->y[i] = 0;
    for (int j = 0; j < N; j++)
      it->a[i][j] = i == j ? N : (double)((i + 1) * (j + 2) % 47) / 47;
  }
}
#endif
