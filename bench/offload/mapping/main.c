/* Runs the sides of a nest turn about, on the same memory and threads, and prints `side seconds` for each turn. Ends
   with status 1 if results differ. `sides.h` names them, one by one. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE(name) void name(void);
#include "sides.h"
#undef SIDE

static const struct { const char *name; void (*run)(void); } sides[] = {
#define SIDE(name) {#name, name},
#include "sides.h"
};
enum { SIDES = sizeof sides / sizeof *sides };

void prepare(void);
extern double *const result;
extern const size_t results;

static double seconds(int side) {
  prepare();
  double start = omp_get_wtime();
  sides[side].run();
  return omp_get_wtime() - start;
}

int main(int argc, char **argv) {
  int turns = argc > 1 ? atoi(argv[1]) : 5;
  double *expected = malloc(results * sizeof *expected);
  if (!expected) return 1;
  for (int side = 0; side < SIDES; side++) {
    seconds(side);
    if (side == 0) memcpy(expected, result, results * sizeof *expected);
    for (size_t i = 0; i < results; i++) {
      double scale = fmax(fabs(result[i]), fabs(expected[i]));
      if (!(fabs(result[i] - expected[i]) <= 1e-12 * scale)) {
        fprintf(stderr, "%s: element %zu: %.17g, not %.17g\n", sides[side].name, i, result[i], expected[i]);
        return 1;
      }
    }
  }
  for (int turn = 0; turn < turns; turn++)
    for (int i = 0; i < SIDES; i++) {
      int side = (i + turn) % SIDES;
      printf("%s %.9f\n", sides[side].name, seconds(side));
    }
  return 0;
}
