/* Every inner point of B is a weighted sum of eleven points of A. */
#include "loops.h"

enum { N = 150 };
struct arrays { double a[N][N][N], b[N][N][N]; };

static void convolve(double a[N][N][N], double b[N][N][N]) {
  LOOP(IN(a[0 : N]) INOUT(b[0 : N]))
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        b[i][j][k] = -a[i - 1][j - 1][k - 1] + 21 * a[i + 1][j - 1][k - 1] -
                     3 * a[i][j - 1][k] + 6 * a[i][j][k] - 9 * a[i][j + 1][k] +
                     2 * a[i - 1][j - 1][k + 1] + 4 * a[i + 1][j - 1][k + 1] +
                     5 * a[i - 1][j][k + 1] + 7 * a[i + 1][j][k + 1] -
                     8 * a[i - 1][j + 1][k + 1] + 10 * a[i + 1][j + 1][k + 1];
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  convolve(it->a, it->b);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) {
        it->a[i][j][k] = (double)((i + 2 * j + 3 * k) % 103) / 103;
        it->b[i][j][k] = 0;
      }
}
#endif
