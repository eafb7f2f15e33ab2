/* C = alpha A B + beta C. */
#include "loops.h"

enum { NI = 300, NJ = 320, NK = 340 };
struct arrays { double a[NI][NK], b[NK][NJ], c[NI][NJ]; };

static void gemm(double alpha, double beta, double a[NI][NK], double b[NK][NJ], double c[NI][NJ]) {
  LOOP(IN(a[0 : NI], b[0 : NK]) INOUT(c[0 : NI]))
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      c[i][j] *= beta;
      for (int k = 0; k < NK; k++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  gemm(1.5, 1.2, it->a, it->b, it->c);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < NI; i++)
    for (int k = 0; k < NK; k++) it->a[i][k] = (double)(i * k % 17) / NI;
  for (int k = 0; k < NK; k++)
    for (int j = 0; j < NJ; j++) it->b[k][j] = (double)(k * (j + 1) % 13) / NJ;
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) it->c[i][j] = (double)((i + 2) * j % 11) / NK;
}
#endif
