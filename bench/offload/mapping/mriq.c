/* Many points, for each of which a short sum is computed: threads inside would be started for every point. */
#include "mapping.h"
#include <math.h>

enum { POINTS = 4096, TERMS = 256 };
#if PLACE == 0
double x[POINTS], y[POINTS], kx[TERMS], ky[TERMS], phi[TERMS], q[2][POINTS];
double *const result = &q[0][0];
const size_t results = 2 * (size_t)POINTS;

void prepare(void) {
  for (int i = 0; i < POINTS; i++) x[i] = (i % 97) / 97.0, y[i] = (i % 89) / 89.0;
  for (int k = 0; k < TERMS; k++) kx[k] = (k % 13) / 13.0, ky[k] = (k % 17) / 17.0, phi[k] = (k % 7) / 7.0;
}
#else
extern double x[POINTS], y[POINTS], kx[TERMS], ky[TERMS], phi[TERMS], q[2][POINTS];
#endif

#if PLACE == 2
#define SUM DO(omp parallel for reduction(+ : real, imaginary))
#elif PLACE == 20
#define SUM DO(omp parallel for reduction(+ : real, imaginary))
#else
#define SUM
#endif

void RUN(void) {
  L1
  for (int i = 0; i < POINTS; i++) {
    double real = 0, imaginary = 0;
    SUM
    for (int k = 0; k < TERMS; k++) {
      double angle = 6.2831853 * (kx[k] * x[i] + ky[k] * y[i]);
      real += phi[k] * cos(angle);
      imaginary += phi[k] * sin(angle);
    }
    q[0][i] = real;
    q[1][i] = imaginary;
  }
}
