/* A plane electromagnetic field in steps of time: EX and EY from HZ, then HZ from them. */
#include "loops.h"

enum { N = 500, STEPS = 12 };
struct arrays { double ex[N][N], ey[N][N], hz[N][N], pulse[STEPS]; };

static void fdtd(double ex[N][N], double ey[N][N], double hz[N][N], double pulse[STEPS]) {
  DATA(INOUT(ex[0 : N], ey[0 : N], hz[0 : N]) IN(pulse[0 : STEPS]))
  for (int t = 0; t < STEPS; t++) {
    LOOP(INOUT(ey[0 : N], pulse[0 : STEPS]))
    for (int j = 0; j < N; j++) ey[0][j] = pulse[t];
    LOOP(INOUT(ey[0 : N], hz[0 : N]))
    for (int i = 1; i < N; i++)
      for (int j = 0; j < N; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    LOOP(INOUT(ex[0 : N], hz[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    LOOP(INOUT(ex[0 : N], ey[0 : N], hz[0 : N]))
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < N - 1; j++)
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  fdtd(it->ex, it->ey, it->hz, it->pulse);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int t = 0; t < STEPS; t++) it->pulse[t] = t;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->ex[i][j] = (double)(i * (j + 1) % 41) / N;
      it->ey[i][j] = (double)(i * (j + 2) % 43) / N;
      it->hz[i][j] = (double)(i * (j + 3) % 47) / N;
    }
}
#endif
