/* A stencil in three dimensions: nine ways to place threads and lanes. */
#include "mapping.h"

enum { N = 130 };
#if PLACE == 0
double a[N][N][N], b[N][N][N];
double *const result = &b[0][0][0];
const size_t results = (size_t)N * N * N;

void prepare(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) a[i][j][k] = b[i][j][k] = (i * 7 + j * 3 + k * 5) % 13;
}
#else
extern double a[N][N][N], b[N][N][N];
#endif

void RUN(void) {
  L1
  for (int i = 1; i < N - 1; i++) {
    L2
    for (int j = 1; j < N - 1; j++) {
      L3
      LANES
      for (int k = 1; k < N - 1; k++)
        b[i][j][k] = 0.1 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1]
                            + a[i][j][k + 1]) + 0.4 * a[i][j][k];
    }
  }
}
