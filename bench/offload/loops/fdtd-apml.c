/* An electromagnetic field with absorbing layers: HZ and BZ from the curl of EX and EY; the outermost
   row and column take what lies beyond them from AX and RY. */
#include "loops.h"

enum { C = 90, N = C + 1 };
struct arrays {
  double ax[N][N], ry[N][N], bz[N][N][N], ex[N][N][N], ey[N][N][N], hz[N][N][N];
  double zm[N], zp[N], xm[N], xp[N], ym[N], yp[N];
};

static void fdtd(double mu, double ch, double ax[N][N], double ry[N][N], double bz[N][N][N],
                 double ex[N][N][N], double ey[N][N][N], double hz[N][N][N], double zm[N],
                 double zp[N], double xm[N], double xp[N], double ym[N], double yp[N]) {
  LOOP(IN(ax[0 : N], ry[0 : N], ex[0 : N], ey[0 : N]) INOUT(bz[0 : N], hz[0 : N])
           IN(zm[0 : N], zp[0 : N], xm[0 : N], xp[0 : N], ym[0 : N], yp[0 : N]))
  for (int z = 0; z < N; z++)
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) {
        double above = y < C ? ex[z][y + 1][x] : ax[z][x];
        double right = x < C ? ey[z][y][x + 1] : ry[z][y];
        double curl = ex[z][y][x] - above + right - ey[z][y][x];
        double b = ym[y] / yp[y] * bz[z][y][x] - ch / yp[y] * curl;
        hz[z][y][x] = xm[x] / xp[x] * hz[z][y][x] + mu * zp[z] / xp[x] * b -
                      mu * zm[z] / xp[x] * bz[z][y][x];
        bz[z][y][x] = b;
      }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  fdtd(2341, 42, it->ax, it->ry, it->bz, it->ex, it->ey, it->hz, it->zm, it->zp, it->xm, it->xp,
       it->ym, it->yp);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++) {
    it->zm[i] = (double)(i + 1) / N, it->zp[i] = (double)(i + 2) / N;
    it->xm[i] = (double)(i + 3) / N, it->xp[i] = (double)(i + 4) / N;
    it->ym[i] = (double)(i + 5) / N, it->yp[i] = (double)(i + 6) / N;
    for (int j = 0; j < N; j++) {
      it->ax[i][j] = (double)((i + 1) * (j + 3) % 53) / N;
      it->ry[i][j] = (double)((i + 2) * (j + 1) % 59) / N;
      for (int k = 0; k < N; k++) {
        it->ex[i][j][k] = (double)((i + j) * (k + 1) % 61) / N;
        it->ey[i][j][k] = (double)((i + j) * (k + 2) % 67) / N;
        it->hz[i][j][k] = (double)((i + j) * (k + 3) % 71) / N;
        it->bz[i][j][k] = 0;
      }
    }
  }
}
#endif
