/* Each vector A[r][q] is multiplied by the matrix C. */
#include "loops.h"

enum { R = 70, Q = 60, P = 64 };
struct arrays { double a[R][Q][P], c[P][P], sum[R][Q][P]; };

static void doitgen(double a[R][Q][P], double c[P][P], double sum[R][Q][P]) {
  LOOP(INOUT(a[0 : R]) IN(c[0 : P]) LOCAL(sum[0 : R]))
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++) {
      for (int p = 0; p < P; p++) {
        double x = 0;
        for (int s = 0; s < P; s++) x += a[r][q][s] * c[s][p];
        sum[r][q][p] = x;
      }
      for (int p = 0; p < P; p++) a[r][q][p] = sum[r][q][p];
    }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  doitgen(it->a, it->c, it->sum);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++)
      for (int p = 0; p < P; p++) {
        it->a[r][q][p] = (double)((r * q + p) % 17) / 17;
        it->sum[r][q][p] = 0;
      }
  for (int s = 0; s < P; s++)
    for (int p = 0; p < P; p++) it->c[s][p] = (double)(s * (p + 1) % 19) / 19;
}
#endif
