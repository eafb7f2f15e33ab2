/* Runs the sides of a loop nest turn about, on the same memory and the same threads, and prints
   `side seconds` for each turn. Ends with status 1 if results differ. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plain(void *arrays);
void openmp(void *arrays);
void openacc(void *arrays);
void prepare(void *arrays);
extern const size_t bytes;

enum { SIDES = 3 };
static void (*const run[SIDES])(void *) = {plain, openmp, openacc};
static const char *const names[SIDES] = {"plain", "openmp", "openacc"};

static double seconds(void (*run)(void *), double *arrays) {
  prepare(arrays);
  double start = omp_get_wtime();
  run(arrays);
  return omp_get_wtime() - start;
}

static void compare(const char *side, const double *ours, const double *theirs) {
  for (size_t i = 0; i < bytes / sizeof *ours; i++) {
    double scale = fmax(fabs(ours[i]), fabs(theirs[i]));
    if (!(fabs(ours[i] - theirs[i]) <= 1e-12 * scale)) {
      fprintf(stderr, "element %zu: %.17g %s, %.17g plain\n", i, ours[i], side, theirs[i]);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  int turns = argc > 1 ? atoi(argv[1]) : 5;
  double *arrays = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  double *expected = malloc(bytes);
  if (!arrays || !expected) return 1;
  seconds(plain, arrays);
  memcpy(expected, arrays, bytes);
  for (int side = 1; side < SIDES; side++) {
    seconds(run[side], arrays);
    compare(names[side], arrays, expected);
  }
  for (int turn = 0; turn < turns; turn++) {
    /* Whoever runs next finds the machine as the one before left it: they take turns. */
    for (int i = 0; i < SIDES; i++) {
      int side = (i + turn) % SIDES;
      printf("%s %.9f\n", names[side], seconds(run[side], arrays));
    }
  }
  return 0;
}
