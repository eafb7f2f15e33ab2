/* The covariance of the columns of D. */
#include "loops.h"

enum { M = 280, N = 300 };
struct arrays { double d[N][M], s[M][M], mean[M]; };

static void covariance(double count, double d[N][M], double s[M][M], double mean[M]) {
  DATA(INOUT(d[0 : N]) LOCAL(mean[0 : M]) OUT(s[0 : M]))
  {
    LOOP(INOUT(d[0 : N], mean[0 : M]))
    for (int j = 0; j < M; j++) {
      mean[j] = 0;
      for (int i = 0; i < N; i++) mean[j] += d[i][j];
      mean[j] /= count;
    }
    LOOP(INOUT(d[0 : N], mean[0 : M]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) d[i][j] -= mean[j];
    LOOP(INOUT(d[0 : N], s[0 : M]))
    for (int k = 0; k < M; k++)
      for (int l = k; l < M; l++) {
        s[k][l] = 0;
        for (int i = 0; i < N; i++) s[k][l] += d[i][k] * d[i][l];
        s[k][l] /= count - 1;
        s[l][k] = s[k][l];
      }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  covariance(N, it->d, it->s, it->mean);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) it->d[i][j] = (double)(i * (j + 1) % 37) / M;
  for (int k = 0; k < M; k++) {
    it->mean[k] = 0;
    for (int l = 0; l < M; l++) it->s[k][l] = 0;
  }
}
#endif
