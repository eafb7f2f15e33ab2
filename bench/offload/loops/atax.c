/* y = A' (A x). */
#include "loops.h"

enum { N = 2400 };
struct arrays { double a[N][N], x[N], y[N], t[N]; };

static void atax(double a[N][N], double x[N], double y[N], double t[N]) {
  DATA(IN(a[0 : N], x[0 : N]) OUT(y[0 : N]) LOCAL(t[0 : N]))
  {
    LOOP(INOUT(a[0 : N], x[0 : N], t[0 : N]))
    for (int i = 0; i < N; i++) {
      t[i] = 0;
      for (int j = 0; j < N; j++) t[i] += a[i][j] * x[j];
    }
    LOOP(INOUT(a[0 : N], y[0 : N], t[0 : N]))
    for (int j = 0; j < N; j++) {
      y[j] = 0;
      for (int i = 0; i < N; i++) y[j] += a[i][j] * t[i];
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  atax(it->a, it->x, it->y, it->t);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->x[i] = 1 + (double)i / N;
    it->y[i] = it->t[i] = 0;
    for (int j = 0; j < N; j++) it->a[i][j] = (double)((i + j) % N) / (5 * N);
  }
}
#endif
