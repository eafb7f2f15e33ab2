/* B += alpha A B', A a lower triangle: row i needs the rows before it, and its element on the diagonal
   all to the left of it. */
#include "loops.h"

enum { N = 340 };
struct arrays { double a[N][N], b[N][N]; };

static void trmm(double alpha, double a[N][N], double b[N][N]) {
  DATA(IN(a[0 : N]) INOUT(b[0 : N]))
  for (int i = 1; i < N; i++) {
    LOOP(INOUT(a[0 : N], b[0 : N]))
    for (int j = 0; j < N; j++) {
      if (j == i) continue;
      double sum = 0;
      for (int k = 0; k < i; k++) sum += a[i][k] * b[j][k];
      b[i][j] += alpha * sum;
    }
    ONE(INOUT(a[0 : N], b[0 : N]))
    {
      double sum = 0;
      for (int k = 0; k < i; k++) sum += a[i][k] * b[i][k];
      b[i][i] += alpha * sum;
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  trmm(1.5, it->a, it->b);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)((i + 1) * (j + 1) % 17) / (17 * N);
      it->b[i][j] = (double)((i + 2) * (j + 3) % 13) / N;
    }
}
#endif
