/* y = alpha A x + beta B x. */
#include "loops.h"

enum { N = 2000 };
struct arrays { double a[N][N], b[N][N], x[N], y[N]; };

static void gesummv(double alpha, double beta, double a[N][N], double b[N][N], double x[N],
                    double y[N]) {
  LOOP(IN(a[0 : N], b[0 : N], x[0 : N]) OUT(y[0 : N]))
  for (int i = 0; i < N; i++) {
    double ax = 0, bx = 0;
    for (int j = 0; j < N; j++) {
      ax += a[i][j] * x[j];
      bx += b[i][j] * x[j];
    }
    y[i] = alpha * ax + beta * bx;
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  gesummv(1.5, 1.2, it->a, it->b, it->x, it->y);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->x[i] = (double)(i % 29) / N;
    it->y[i] = 0;
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)(i * (j + 1) % 31) / N;
      it->b[i][j] = (double)(i * (j + 2) % 37) / N;
    }
  }
}
#endif
