/* Runs both sides of a loop nest turn about, on the same memory and the same threads, and prints
   `plain seconds` and `offloaded seconds` for each turn. Ends with status 1 if results differ. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plain(void *arrays);
void offloaded(void *arrays);
void prepare(void *arrays);
extern const size_t bytes;

static double seconds(void (*run)(void *), double *arrays) {
  prepare(arrays);
  double start = omp_get_wtime();
  run(arrays);
  return omp_get_wtime() - start;
}

static void compare(const double *ours, const double *theirs) {
  for (size_t i = 0; i < bytes / sizeof *ours; i++) {
    double scale = fmax(fabs(ours[i]), fabs(theirs[i]));
    if (!(fabs(ours[i] - theirs[i]) <= 1e-12 * scale)) {
      fprintf(stderr, "element %zu: %.17g offloaded, %.17g plain\n", i, ours[i], theirs[i]);
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
  seconds(offloaded, arrays);
  compare(arrays, expected);
  for (int turn = 0; turn < turns; turn++) {
    /* Whoever runs second finds the machine as the first left it: they take turns. */
    for (int side = 0; side < 2; side++) {
      int is_plain = (side + turn) % 2;
      double time = seconds(is_plain ? plain : offloaded, arrays);
      printf("%s %.9f\n", is_plain ? "plain" : "offloaded", time);
    }
  }
  return 0;
}
