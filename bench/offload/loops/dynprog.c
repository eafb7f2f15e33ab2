/* Dynamic programming: each element of C is made of those before it in its row and of W. */
#include "loops.h"

enum { N = 90, STEPS = 40 };
struct arrays { double c[N][N], w[N][N], sum[N][N][N], out[1]; };

static void dynprog(double c[N][N], double w[N][N], double sum[N][N][N], double out[1]) {
  DATA(INOUT(c[0 : N], out[0 : 1]) IN(w[0 : N]) LOCAL(sum[0 : N]))
  for (int step = 0; step < STEPS; step++) {
    LOOP(INOUT(c[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) c[i][j] = 0;
    ONE(INOUT(c[0 : N], w[0 : N], sum[0 : N], out[0 : 1]))
    {
      for (int i = 0; i < N - 1; i++)
        for (int j = i + 1; j < N; j++) {
          sum[i][j][i] = 0;
          for (int k = i + 1; k < j; k++) sum[i][j][k] = sum[i][j][k - 1] + c[i][k] + c[k][j];
          c[i][j] = sum[i][j][j - 1] + w[i][j];
        }
      out[0] += c[0][N - 1];
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  dynprog(it->c, it->w, it->sum, it->out);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  it->out[0] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->c[i][j] = 0;
      it->w[i][j] = (double)(j - i) / N;
      for (int k = 0; k < N; k++) it->sum[i][j][k] = 0;
    }
}
#endif
