/* The correlation of the columns of D. */
#include "loops.h"

#include <math.h>

enum { M = 280, N = 300 };
struct arrays { double d[N][M], s[M][M], mean[M], spread[M]; };

static void correlation(double count, double d[N][M], double s[M][M], double mean[M],
                        double spread[M]) {
  DATA(INOUT(d[0 : N]) LOCAL(mean[0 : M], spread[0 : M]) OUT(s[0 : M]))
  {
    LOOP(INOUT(d[0 : N], mean[0 : M]))
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int i = 0; i < N; i++) sum += d[i][j];
      mean[j] = sum / count;
    }
    LOOP(INOUT(d[0 : N], mean[0 : M], spread[0 : M]))
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int i = 0; i < N; i++) sum += (d[i][j] - mean[j]) * (d[i][j] - mean[j]);
      double root = sqrt(sum / count);
      /* A column that does not vary is not divided by nearly nothing. */
      spread[j] = root > 0.005 ? root : 1;
    }
    LOOP(INOUT(d[0 : N], mean[0 : M], spread[0 : M]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) d[i][j] = (d[i][j] - mean[j]) / (sqrt(count) * spread[j]);
    LOOP(INOUT(d[0 : N], s[0 : M]))
    for (int k = 0; k < M; k++) {
      s[k][k] = 1;
      for (int l = k + 1; l < M; l++) {
        double sum = 0;
        for (int i = 0; i < N; i++) sum += d[i][k] * d[i][l];
        s[k][l] = s[l][k] = sum;
      }
    }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  correlation(N, it->d, it->s, it->mean, it->spread);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) it->d[i][j] = (double)(i * (j + 1) % 37) / M;
  for (int k = 0; k < M; k++) {
    it->mean[k] = it->spread[k] = 0;
    for (int l = 0; l < M; l++) it->s[k][l] = 0;
  }
}
#endif
