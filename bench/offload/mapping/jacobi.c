/* Two sweeps of a stencil, as one writes them without thinking of devices. */
#include "mapping.h"

enum { N = 1200 };
#if PLACE == 0
double a[N][N], b[N][N];
double *const result = &a[0][0];
const size_t results = (size_t)N * N;

void prepare(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
}
#else
extern double a[N][N], b[N][N];
#endif

void RUN(void) {
  L1
  for (int i = 1; i < N - 1; i++) {
    L2
    LANES
    for (int j = 1; j < N - 1; j++)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
  }
  L1
  for (int i = 1; i < N - 1; i++) {
    L2
    LANES
    for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];
  }
}
