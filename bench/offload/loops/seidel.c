/* Seidel's iteration in the plane: each point takes the new values of those before it, so all of it
   is in order. */
#include "loops.h"

enum { N = 400, STEPS = 4 };
struct arrays { double a[N][N]; };

static void seidel(double a[N][N]) {
  ONE(INOUT(a[0 : N]))
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                   a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) /
                  9;
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  seidel(it->a);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) it->a[i][j] = (double)(i * (j + 2) % 89 + 2) / N;
}
#endif
