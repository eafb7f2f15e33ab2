/* PATH becomes the lengths of the shortest ways between any two nodes. */
#include "loops.h"

enum { N = 250 };
struct arrays { double path[N][N]; };

static void shortest(double path[N][N]) {
  DATA(INOUT(path[0 : N]))
  for (int k = 0; k < N; k++)
    LOOP(INOUT(path[0 : N]))
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double by = path[i][k] + path[k][j];
        if (by < path[i][j]) path[i][j] = by;
      }
}

void RUN(void *arrays) {
  struct arrays *it = arrays;
  shortest(it->path);
}

#ifdef SERIAL
const size_t bytes = sizeof(struct arrays);

void prepare(void *arrays) {
  struct arrays *it = arrays;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) it->path[i][j] = i == j ? 0 : 1 + (7 * i + 11 * j) % 997;
}
#endif
