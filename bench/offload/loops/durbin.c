/* Durbin's recursion for a Toeplitz system; column k of Y is the solution of order k + 1. */
#include "loops.h"

enum { N = 500 };
struct arrays { double y[N][N], sum[N][N], alpha[N], beta[N], r[N], out[N]; };

static void durbin(double y[N][N], double sum[N][N], double alpha[N], double beta[N], double r[N],
                   double out[N]) {
  DATA(INOUT(y[0 : N], sum[0 : N], alpha[0 : N], beta[0 : N]) IN(r[0 : N]) OUT(out[0 : N]))
  {
    ONE(INOUT(y[0 : N], alpha[0 : N], beta[0 : N], r[0 : N]))
    {
      y[0][0] = alpha[0] = r[0];
      beta[0] = 1;
    }
    for (int k = 1; k < N; k++) {
      ONE(INOUT(y[0 : N], sum[0 : N], alpha[0 : N], beta[0 : N], r[0 : N]))
      {
        beta[k] = beta[k - 1] - alpha[k - 1] * alpha[k - 1] * beta[k - 1];
        sum[0][k] = r[k];
        for (int i = 0; i < k; i++) sum[i + 1][k] = sum[i][k] + r[k - i - 1] * y[i][k - 1];
        y[k][k] = alpha[k] = -sum[k][k] * beta[k];
      }
      LOOP(INOUT(y[0 : N], alpha[0 : N]))
      for (int i = 0; i < k; i++) y[i][k] = y[i][k - 1] + alpha[k] * y[k - i - 1][k - 1];
    }
    LOOP(INOUT(y[0 : N], out[0 : N]))
    for (int i = 0; i < N; i++) out[i] = y[i][N - 1];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  durbin(it->y, it->sum, it->alpha, it->beta, it->r, it->out);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->r[i] = (double)(i % 7 + 1) / (16 * (i + 1));
    it->alpha[i] = it->beta[i] = it->out[i] = 0;
    for (int j = 0; j < N; j++) it->y[i][j] = it->sum[i][j] = 0;
  }
}
#endif
