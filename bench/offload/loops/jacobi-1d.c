/* Jacobi's iteration on a line: each point becomes the mean of itself and its neighbours. */
#include "loops.h"

enum { N = 300000, STEPS = 20 };
struct arrays { double a[N], b[N]; };

static void jacobi(double a[N], double b[N]) {
  DATA(INOUT(a[0 : N], b[0 : N]))
  for (int t = 0; t < STEPS; t++) {
    LOOP(INOUT(a[0 : N], b[0 : N]))
    for (int i = 1; i < N - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
    LOOP(INOUT(a[0 : N], b[0 : N]))
    for (int i = 1; i < N - 1; i++) a[i] = b[i];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  jacobi(it->a, it->b);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->a[i] = (double)(i % 101) / 101;
    it->b[i] = 0;
  }
}
#endif
