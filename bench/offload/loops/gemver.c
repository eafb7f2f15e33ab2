/* A += u1 v1' + u2 v2'; x += beta A' y + z; w = alpha A x. */
#include "loops.h"

enum { N = 1600 };
struct arrays { double a[N][N], u1[N], v1[N], u2[N], v2[N], w[N], x[N], y[N], z[N]; };

static void gemver(double alpha, double beta, double a[N][N], double u1[N], double v1[N],
                   double u2[N], double v2[N], double w[N], double x[N], double y[N], double z[N]) {
  DATA(INOUT(a[0 : N], w[0 : N], x[0 : N])
           IN(u1[0 : N], v1[0 : N], u2[0 : N], v2[0 : N], y[0 : N], z[0 : N]))
  {
    LOOP(INOUT(a[0 : N], u1[0 : N], v1[0 : N], u2[0 : N], v2[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    LOOP(INOUT(a[0 : N], x[0 : N], y[0 : N]))
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < N; j++) sum += a[j][i] * y[j];
      x[i] += beta * sum;
    }
    LOOP(INOUT(x[0 : N], z[0 : N]))
    for (int i = 0; i < N; i++) x[i] += z[i];
    LOOP(INOUT(a[0 : N], w[0 : N], x[0 : N]))
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < N; j++) sum += a[i][j] * x[j];
      w[i] += alpha * sum;
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  gemver(1.5, 1.2, it->a, it->u1, it->v1, it->u2, it->v2, it->w, it->x, it->y, it->z);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->u1[i] = (double)i / N, it->u2[i] = (double)(i + 1) / (2 * N);
    it->v1[i] = (double)(i + 1) / (4 * N), it->v2[i] = (double)(i + 1) / (6 * N);
    it->y[i] = (double)(i + 1) / (8 * N), it->z[i] = (double)(i + 1) / (9 * N);
    it->x[i] = it->w[i] = 0;
    for (int j = 0; j < N; j++) it->a[i][j] = (double)(i * (j + 1) % 31) / N;
  }
}
#endif
