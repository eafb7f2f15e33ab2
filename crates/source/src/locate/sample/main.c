#include "h.h"
#define N 100
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define PAR _Pragma("omp parallel for") for
#define EMPTY
#define CL(x) map(to: x)
int f(int *v,	int n) {
	int x = MAX(n, N) + hdr(2); /* it's a comment
	   that don't end */ int   y = 3;
  x = MAX(n,
          y) + c;
#pragma omp target teams distribute \
      parallel for   CL(v[0:N]) \
      num_teams(N)
  for (int i = 0; i < N; i++) v[i] = EMPTY MAX(v[i], 2) + undeclared;
  PAR (int i = 0; i < n; i++) v[i]++;
  _Pragma("omp barrier") x = y; y = 2;
  x \
   = 4;
  print("ä" "b\"c", 'x', 1.5e+3f, N);
  return MAX(MAX(x, y), N);
}
