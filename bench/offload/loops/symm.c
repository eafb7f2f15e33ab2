/* C = alpha A B + beta C, of A only the upper triangle is read: columns are independent, rows are not. */
#include "loops.h"

enum { N = 220 };
struct arrays { double a[N][N], b[N][N], c[N][N]; };

static void symm(double alpha, double beta, double a[N][N], double b[N][N], double c[N][N]) {
  LOOP(IN(a[0 : N], b[0 : N]) INOUT(c[0 : N]))
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < j - 1; k++) {
        c[k][j] += alpha * a[k][i] * b[i][j];
        sum += b[k][j] * a[k][i];
      }
      c[i][j] = beta * c[i][j] + alpha * a[i][i] * b[i][j] + alpha * sum;
    }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  symm(1.5, 1.2, it->a, it->b, it->c);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)(i * j % 17) / N;
      it->b[i][j] = (double)((i + 1) * j % 13) / N;
      it->c[i][j] = (double)((i + 2) * j % 11) / N;
    }
}
#endif
