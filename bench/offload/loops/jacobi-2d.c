/* Jacobi's iteration in the plane: each point becomes the mean of itself and its four neighbours. */
#include "loops.h"

enum { N = 600, STEPS = 16 };
struct arrays { double a[N][N], b[N][N]; };

static void jacobi(double a[N][N], double b[N][N]) {
  DATA(INOUT(a[0 : N], b[0 : N]))
  for (int t = 0; t < STEPS; t++) {
    LOOP(INOUT(a[0 : N], b[0 : N]))
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
    LOOP(INOUT(a[0 : N], b[0 : N]))
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  jacobi(it->a, it->b);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)(i * (j + 2) % 97) / N;
      it->b[i][j] = 0;
    }
}
#endif
