/* A = Q R with orthogonal columns in Q, by the modified process of Gram and Schmidt. */
#include "loops.h"

#include <math.h>

enum { N = 200 };
struct arrays { double a[N][N], r[N][N], q[N][N]; };

static void gramschmidt(double a[N][N], double r[N][N], double q[N][N]) {
  DATA(INOUT(a[0 : N]) OUT(r[0 : N], q[0 : N]))
  for (int k = 0; k < N; k++) {
    double square = 0;
    LOOP(INOUT(a[0 : N]) reduction(+ : square))
    for (int i = 0; i < N; i++) square += a[i][k] * a[i][k];
    double norm = sqrt(square);
    LOOP(INOUT(a[0 : N], q[0 : N]))
    for (int i = 0; i < N; i++) q[i][k] = a[i][k] / norm;
    LOOP(INOUT(a[0 : N], r[0 : N], q[0 : N]))
    for (int j = 0; j < N; j++) {
      double along = 0;
      if (j == k) along = norm;
      if (j > k) {
        for (int i = 0; i < N; i++) along += q[i][k] * a[i][j];
        for (int i = 0; i < N; i++) a[i][j] -= q[i][k] * along;
      }
      r[k][j] = along;
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  gramschmidt(it->a, it->r, it->q);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->a[i][j] = i == j ? N : 1 + (double)((i + 2) * (j + 1) % 41) / 41;
      it->r[i][j] = it->q[i][j] = 0;
    }
}
#endif
