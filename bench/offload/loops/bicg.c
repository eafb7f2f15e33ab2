/* s = A' r and q = A p. */
#include "loops.h"

enum { N = 2400 };
struct arrays { double a[N][N], r[N], s[N], p[N], q[N]; };

static void bicg(double a[N][N], double r[N], double s[N], double p[N], double q[N]) {
  DATA(IN(a[0 : N], r[0 : N], p[0 : N]) OUT(s[0 : N], q[0 : N]))
  {
    LOOP(INOUT(a[0 : N], r[0 : N], s[0 : N]))
    for (int j = 0; j < N; j++) {
      s[j] = 0;
      for (int i = 0; i < N; i++) s[j] += r[i] * a[i][j];
    }
    LOOP(INOUT(a[0 : N], p[0 : N], q[0 : N]))
    for (int i = 0; i < N; i++) {
      q[i] = 0;
      for (int j = 0; j < N; j++) q[i] += a[i][j] * p[j];
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  bicg(it->a, it->r, it->s, it->p, it->q);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->r[i] = (double)(i % 23) / N;
    it->p[i] = (double)(i % 29) / N;
    it->s[i] = it->q[i] = 0;
    for (int j = 0; j < N; j++) it->a[i][j] = (double)(i * (j + 1) % 31) / N;
  }
}
#endif
