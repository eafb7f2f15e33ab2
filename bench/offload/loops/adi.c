/* Alternating directions: each step sweeps X along the rows, then along the columns. */
#include "loops.h"

enum { N = 500, STEPS = 2 };
struct arrays { double x[N][N], a[N][N], b[N][N]; };

static void rows(double x[N][N], double a[N][N], double b[N][N]) {
  LOOP(INOUT(x[0 : N], a[0 : N], b[0 : N]))
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++) {
      x[i][j] -= x[i][j - 1] * a[i][j] / b[i][j - 1];
      b[i][j] -= a[i][j] * a[i][j] / b[i][j - 1];
    }
  LOOP(INOUT(x[0 : N], b[0 : N]))
  for (int i = 0; i < N; i++) x[i][N - 1] /= b[i][N - 1];
  LOOP(INOUT(x[0 : N], a[0 : N], b[0 : N]))
  for (int i = 0; i < N; i++)
    for (int j = N - 2; j > 0; j--) x[i][j] = (x[i][j] - x[i][j - 1] * a[i][j - 1]) / b[i][j - 1];
}

static void columns(double x[N][N], double a[N][N], double b[N][N]) {
  for (int i = 1; i < N; i++)
    LOOP(INOUT(x[0 : N], a[0 : N], b[0 : N]))
    for (int j = 0; j < N; j++) {
      x[i][j] -= x[i - 1][j] * a[i][j] / b[i - 1][j];
      b[i][j] -= a[i][j] * a[i][j] / b[i - 1][j];
    }
  LOOP(INOUT(x[0 : N], b[0 : N]))
  for (int j = 0; j < N; j++) x[N - 1][j] /= b[N - 1][j];
  for (int i = N - 2; i > 0; i--)
    LOOP(INOUT(x[0 : N], a[0 : N], b[0 : N]))
    for (int j = 0; j < N; j++) x[i][j] = (x[i][j] - x[i - 1][j] * a[i - 1][j]) / b[i][j];
}

static void adi(double x[N][N], double a[N][N], double b[N][N]) {
  DATA(INOUT(x[0 : N], b[0 : N]) IN(a[0 : N]))
  for (int step = 0; step < STEPS; step++) {
    rows(x, a, b);
    columns(x, a, b);
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  adi(it->x, it->a, it->b);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->x[i][j] = (double)((i + 2) * (j + 1) % 23) / 23;
      it->a[i][j] = (double)((i + 3) * (j + 2) % 29) / 290;
      it->b[i][j] = 2 + (double)((i + 1) * (j + 4) % 31) / 31;
    }
}
#endif
