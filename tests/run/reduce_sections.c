// Parts of arrays are reduced by more teams of threads than there are iterations for: a thread without one adds nothing.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240, FROM = 3, PARTS = 10, ROOM = 20 };

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  long *most = calloc(ROOM, sizeof *most), *counts = calloc(ROOM, sizeof *counts);
  float sums[ROOM] = { 0 };
  int n = N, far = -1;
  most[FROM - 1] = 99;
  int here = 1;
#pragma omp target map(from: here)
  here = omp_is_initial_device();
  expect(!here, "regions run on a device");
#pragma omp target teams distribute parallel for reduction(max: most[FROM:PARTS]) map(tofrom: most[0:ROOM], far)
  for (int i = 0; i < n; i++) {
    if (i >= N) far = i;
    if (most[FROM + i % PARTS] < i) most[FROM + i % PARTS] = i;
  }
#pragma omp target teams distribute parallel for reduction(+: counts[FROM:PARTS]) map(tofrom: counts[0:ROOM]) num_teams(16)
  for (int i = 0; i < n; i++) counts[FROM + i % PARTS]++;
#pragma omp target teams distribute parallel for reduction(+: sums[FROM:PARTS]) map(tofrom: sums) num_teams(40) thread_limit(32)
  for (int i = n - 1; i >= 0; i -= 2) sums[FROM + i % PARTS] += 0.5f;
  expect(far == -1, "an iteration that there is not");
  expect(most[FROM - 1] == 99 && most[FROM + PARTS] == 0, "what stands beside the part");
  for (int i = 0; i < PARTS; i++) {
    expect(most[FROM + i] == N - PARTS + i, "the largest");
    expect(counts[FROM + i] == N / PARTS, "how many");
    expect(sums[FROM + i] == (i % 2 ? N / PARTS * 0.5f : 0), "a sum");
  }
  free(most);
  free(counts);
  return failures != 0;
}
