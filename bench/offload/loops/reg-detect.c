/* Finds regions of an image: sums of differences per grid point, and paths along the diagonals. */
#include "loops.h"

enum { N = 64, LENGTH = 80, STEPS = 10 };
struct arrays {
  double tangents[N][N], mean[N][N], path[N][N], diff[N][N][LENGTH], sum[N][N][LENGTH];
};

static void detect(double tangents[N][N], double mean[N][N], double path[N][N],
                   double diff[N][N][LENGTH], double sum[N][N][LENGTH]) {
  DATA(IN(tangents[0 : N]) INOUT(mean[0 : N], path[0 : N]) LOCAL(diff[0 : N], sum[0 : N]))
  for (int step = 0; step < STEPS; step++) {
    LOOP(INOUT(tangents[0 : N], diff[0 : N]))
    for (int j = 0; j < N; j++)
      for (int i = j; i < N; i++)
        for (int k = 0; k < LENGTH; k++) diff[j][i][k] = tangents[j][i];
    LOOP(INOUT(mean[0 : N], diff[0 : N], sum[0 : N]))
    for (int j = 0; j < N; j++)
      for (int i = j; i < N; i++) {
        sum[j][i][0] = diff[j][i][0];
        for (int k = 1; k < LENGTH; k++) sum[j][i][k] = sum[j][i][k - 1] + diff[j][i][k];
        mean[j][i] = sum[j][i][LENGTH - 1];
      }
    LOOP(INOUT(mean[0 : N], path[0 : N]))
    for (int i = 0; i < N; i++) path[0][i] = mean[0][i];
    for (int j = 1; j < N; j++)
      LOOP(INOUT(mean[0 : N], path[0 : N]))
      for (int i = j; i < N; i++) path[j][i] = path[j - 1][i - 1] + mean[j][i];
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  detect(it->tangents, it->mean, it->path, it->diff, it->sum);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      it->tangents[j][i] = (double)((i + 1) * (j + 1)) / N;
      it->mean[j][i] = it->path[j][i] = 0;
      for (int k = 0; k < LENGTH; k++) it->diff[j][i][k] = it->sum[j][i][k] = 0;
    }
}
#endif
