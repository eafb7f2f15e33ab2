/* D = alpha A B C + beta D, by way of T = alpha A B. */
#include "loops.h"

enum { N = 260 };
struct arrays { double t[N][N], a[N][N], b[N][N], c[N][N], d[N][N]; };

static void two(double alpha, double beta, double t[N][N], double a[N][N], double b[N][N],
                double c[N][N], double d[N][N]) {
  DATA(LOCAL(t[0 : N]) IN(a[0 : N], b[0 : N], c[0 : N]) INOUT(d[0 : N]))
  {
    LOOP(INOUT(t[0 : N], a[0 : N], b[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        t[i][j] = 0;
        for (int k = 0; k < N; k++) t[i][j] += alpha * a[i][k] * b[k][j];
      }
    LOOP(INOUT(t[0 : N], c[0 : N], d[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        d[i][j] *= beta;
        for (int k = 0; k < N; k++) d[i][j] += t[i][k] * c[k][j];
      }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  two(1.5, 1.2, it->t, it->a, it->b, it->c, it->d);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->t[i][j] = 0;
      it->a[i][j] = (double)((i * j + 1) % 19) / N;
      it->b[i][j] = (double)(i * (j + 1) % 13) / N;
      it->c[i][j] = (double)(i * (j + 3) % 11) / N;
      it->d[i][j] = (double)(i * (j + 2) % 7) / N;
    }
}
#endif
