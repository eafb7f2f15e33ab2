/* A becomes its factors L and U. */
#include "loops.h"

enum { N = 400 };
struct arrays { double a[N][N]; };

static void lu(double a[N][N]) {
  DATA(INOUT(a[0 : N]))
  for (int k = 0; k < N; k++) {
    LOOP(INOUT(a[0 : N]))
    for (int j = k + 1; j < N; j++) a[k][j] /= a[k][k];
    LOOP(INOUT(a[0 : N]))
    for (int i = k + 1; i < N; i++)
      for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  lu(it->a);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      it->a[i][j] = i == j ? N : (double)((i + 1) * (j + 1) % 43) / 43;
}
#endif
