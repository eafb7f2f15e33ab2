/* What it costs to map, to unmap and to look up beside others that are mapped: prints `name nanoseconds`
   for batches of each, beside 1,000 to 1,000,000 live mappings. Beside them the yardstick: a binary search
   among as many addresses, which takes log n steps, and as memory gets further away each takes longer. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000000, BATCH = 1000 };
/* Every second of these is mapped for long; the others are mapped and unmapped between them. */
struct piece { int lasting, passing; };
static struct piece *pieces;
static int **addresses;

/* Places without a pattern: the state of a linear congruence. */
static unsigned draw(unsigned below) {
  static unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return (unsigned)((unsigned long)state * below >> 32);
}

static void report(long count, const char *what, double seconds) {
  printf("%ld %s %.3f\n", count, what, seconds / BATCH * 1e9);
}

static void map_and_unmap(long count) {
  double start = omp_get_wtime();
  for (int i = 0; i < BATCH; i++) {
    int *at = &pieces[draw(count)].passing;
#pragma omp target enter data map(alloc : at[0 : 1])
#pragma omp target exit data map(release : at[0 : 1])
  }
  report(count, "map", omp_get_wtime() - start);
}

static int look_up(long count) {
  int device = omp_get_default_device(), found = 0;
  double start = omp_get_wtime();
  for (int i = 0; i < BATCH; i++) found += omp_target_is_present(&pieces[draw(count)].lasting, device);
  report(count, "look-up", omp_get_wtime() - start);
  return found;
}

/* One after another: what is needed lies in the caches. */
static int look_up_in_order(long count) {
  int device = omp_get_default_device(), found = 0;
  long from = draw(count - BATCH + 1);
  double start = omp_get_wtime();
  for (int i = 0; i < BATCH; i++) found += omp_target_is_present(&pieces[from + i].lasting, device);
  report(count, "in-order", omp_get_wtime() - start);
  return found;
}

static int by_address(const void *a, const void *b) {
  const int *left = *(int *const *)a, *right = *(int *const *)b;
  return (left > right) - (left < right);
}

static int search(long count) {
  int found = 0;
  double start = omp_get_wtime();
  for (int i = 0; i < BATCH; i++) {
    int *at = &pieces[draw(count)].lasting;
    found += bsearch(&at, addresses, count, sizeof *addresses, by_address) != 0;
  }
  report(count, "search", omp_get_wtime() - start);
  return found;
}

int main(int argc, char **argv) {
  int batches = argc > 1 ? atoi(argv[1]) : 5;
  pieces = calloc(MOST, sizeof *pieces);
  addresses = calloc(MOST, sizeof *addresses);
  if (!pieces || !addresses) return 1;
  long mapped = 0;
  for (long count = 1000; count <= MOST; count *= 10) {
    for (; mapped < count; mapped++) {
      int *at = addresses[mapped] = &pieces[mapped].lasting;
#pragma omp target enter data map(alloc : at[0 : 1])
    }
    for (int batch = 0; batch < batches; batch++) {
      map_and_unmap(count);
      int found = look_up(count) + look_up_in_order(count) + search(count);
      if (found != 3 * BATCH) {
        fprintf(stderr, "something is not found\n");
        return 1;
      }
    }
  }
  return 0;
}
