/* x1 += A y1 and x2 += A' y2. */
#include "loops.h"

enum { N = 2000 };
struct arrays { double a[N][N], x1[N], x2[N], y1[N], y2[N]; };

static void mvt(double a[N][N], double x1[N], double x2[N], double y1[N], double y2[N]) {
  DATA(IN(a[0 : N], y1[0 : N], y2[0 : N]) INOUT(x1[0 : N], x2[0 : N]))
  {
    LOOP(INOUT(a[0 : N], x1[0 : N], y1[0 : N]))
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < N; j++) sum += a[i][j] * y1[j];
      x1[i] += sum;
    }
    LOOP(INOUT(a[0 : N], x2[0 : N], y2[0 : N]))
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < N; j++) sum += a[j][i] * y2[j];
      x2[i] += sum;
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  mvt(it->a, it->x1, it->x2, it->y1, it->y2);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->x1[i] = (double)(i % 23) / N, it->x2[i] = (double)((i + 1) % 23) / N;
    it->y1[i] = (double)((i + 3) % 29) / N, it->y2[i] = (double)((i + 4) % 29) / N;
    for (int j = 0; j < N; j++) it->a[i][j] = (double)(i * (j + 1) % 31) / N;
  }
}
#endif
