/* G = (A B) (C D). */
#include "loops.h"

enum { N = 220 };
struct arrays { double a[N][N], b[N][N], c[N][N], d[N][N], e[N][N], f[N][N], g[N][N]; };

static void three(double a[N][N], double b[N][N], double c[N][N], double d[N][N], double e[N][N],
                  double f[N][N], double g[N][N]) {
  DATA(IN(a[0 : N], b[0 : N], c[0 : N], d[0 : N]) LOCAL(e[0 : N], f[0 : N])
           OUT(g[0 : N]))
  {
    LOOP(INOUT(a[0 : N], b[0 : N], e[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        e[i][j] = 0;
        for (int k = 0; k < N; k++) e[i][j] += a[i][k] * b[k][j];
      }
    LOOP(INOUT(c[0 : N], d[0 : N], f[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        f[i][j] = 0;
        for (int k = 0; k < N; k++) f[i][j] += c[i][k] * d[k][j];
      }
    LOOP(INOUT(e[0 : N], f[0 : N], g[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        g[i][j] = 0;
        for (int k = 0; k < N; k++) g[i][j] += e[i][k] * f[k][j];
      }
  }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  three(it->a, it->b, it->c, it->d, it->e, it->f, it->g);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      it->a[i][j] = (double)(i * j % 19) / (5 * N);
      it->b[i][j] = (double)((i * (j + 1) + 2) % 13) / (5 * N);
      it->c[i][j] = (double)(i * (j + 3) % 11) / (5 * N);
      it->d[i][j] = (double)((i * (j + 2) + 2) % 7) / (5 * N);
      it->e[i][j] = it->f[i][j] = it->g[i][j] = 0;
    }
}
#endif
