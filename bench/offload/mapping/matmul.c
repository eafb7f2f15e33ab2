/* C = A B, a sum for each element. */
#include "mapping.h"

enum { N = 400 };
#if PLACE == 0
double a[N][N], b[N][N], c[N][N];
double *const result = &c[0][0];
const size_t results = (size_t)N * N;

void prepare(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (double)((i * j + 1) % 19) / N;
      b[i][j] = (double)(i * (j + 1) % 13) / N;
      c[i][j] = 0;
    }
}
#else
extern double a[N][N], b[N][N], c[N][N];
#endif

void RUN(void) {
  L1
  for (int i = 0; i < N; i++) {
    L2
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}
