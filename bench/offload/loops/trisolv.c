/* Solves L x = c: each element of x needs all before it. */
#include "loops.h"

enum { N = 2000 };
struct arrays { double l[N][N], x[N], c[N]; };

static void trisolv(double l[N][N], double x[N], double c[N]) {
  ONE(IN(l[0 : N], c[0 : N]) OUT(x[0 : N]))
  for (int i = 0; i < N; i++) {
    double sum = c[i];
    for (int j = 0; j < i; j++) sum -= l[i][j] * x[j];
    x[i] = sum / l[i][i];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  trisolv(it->l, it->x, it->c);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->x[i] = 0;
    it->c[i] = (double)(i % 19) / N;
    for (int j = 0; j < N; j++) it->l[i][j] = i == j ? 2 : (double)((i + j) % 23) / (23 * N);
  }
}
#endif
