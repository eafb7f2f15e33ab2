/* Runs the sides of a kernel turn about, on the same memory and the same threads, and prints
   `side seconds` for each turn. Ends with status 1 if a result differs from the serial one. With PLAIN
   the host's own parallel loops are a side too. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void serial(void *arrays);
void plain(void *arrays);
void openmp(void *arrays);
void openacc(void *arrays);
void prepare(void *arrays);
extern const size_t bytes;

static const struct side {
  const char *name;
  void (*run)(void *arrays);
} sides[] = {
#ifdef PLAIN
    {"plain", plain},
#endif
    {"openmp", openmp},
    {"openacc", openacc},
};
enum { SIDES = sizeof sides / sizeof *sides };

static double seconds(void (*run)(void *), double *arrays) {
  prepare(arrays);
  double start = omp_get_wtime();
  run(arrays);
  return omp_get_wtime() - start;
}

/* Sums that threads share are rounded in another order, and differences of such sums show it more. */
static void compare(const char *side, const double *ours, const double *theirs) {
  for (size_t i = 0; i < bytes / sizeof *ours; i++) {
    double scale = fmax(fabs(ours[i]), fabs(theirs[i]));
    if (!(fabs(ours[i] - theirs[i]) <= 1e-9 * scale)) {
      fprintf(stderr, "element %zu: %.17g %s, %.17g serially\n", i, ours[i], side, theirs[i]);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  int turns = argc > 1 ? atoi(argv[1]) : 5;
  double *arrays = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  double *expected = malloc(bytes);
  if (!arrays || !expected) return 1;
  seconds(serial, arrays);
  memcpy(expected, arrays, bytes);
  for (int side = 0; side < SIDES; side++) {
    seconds(sides[side].run, arrays);
    compare(sides[side].name, arrays, expected);
  }
  for (int turn = 0; turn < turns; turn++) {
    /* Whoever runs next finds the machine as the one before left it: they take turns. */
    for (int i = 0; i < SIDES; i++) {
      struct side side = sides[(i + turn) % SIDES];
      printf("%s %.9f\n", side.name, seconds(side.run, arrays));
    }
  }
  return 0;
}
