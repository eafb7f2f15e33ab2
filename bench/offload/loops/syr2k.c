/* C = alpha A B' + alpha B A' + beta C. */
#include "loops.h"

enum { N = 220, M = 240 };
struct arrays { double a[N][M], b[N][M], c[N][N]; };

static void syr2k(double alpha, double beta, double a[N][M], double b[N][M], double c[N][N]) {
  DATA(IN(a[0 : N], b[0 : N]) INOUT(c[0 : N]))
  {
    LOOP(INOUT(c[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) c[i][j] *= beta;
    LOOP(INOUT(a[0 : N], b[0 : N], c[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < M; k++) sum += a[i][k] * b[j][k] + b[i][k] * a[j][k];
        c[i][j] += alpha * sum;
      }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  syr2k(1.5, 1.2, it->a, it->b, it->c);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) it->c[i][j] = (double)((i + 2) * j % 11) / N;
    for (int k = 0; k < M; k++) {
      it->a[i][k] = (double)(i * k % 17) / N;
      it->b[i][k] = (double)((i + 1) * k % 13) / N;
    }
  }
}
#endif
