/* Every inner point of B is a weighted sum of nine points of A. */
#include "loops.h"

enum { N = 2400 };
struct arrays { double a[N][N], b[N][N]; };

static void convolve(double a[N][N], double b[N][N]) {
  const double w[3][3] = {{0.2, 0.5, -0.8}, {-0.3, 0.6, -0.9}, {0.4, 0.7, 0.10}};
  LOOP(IN(a[0 : N]) INOUT(b[0 : N]))
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      b[i][j] = w[0][0] * a[i - 1][j - 1] + w[0][1] * a[i - 1][j] + w[0][2] * a[i - 1][j + 1] +
                w[1][0] * a[i][j - 1] + w[1][1] * a[i][j] + w[1][2] * a[i][j + 1] +
                w[2][0] * a[i + 1][j - 1] + w[2][1] * a[i + 1][j] + w[2][2] * a[i + 1][j + 1];
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
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)((i + 3 * j) % 101) / 101;
      it->b[i][j] = 0;
    }
}
#endif
