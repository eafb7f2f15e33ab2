// What the last iteration of a taskloop leaves: one loop, a nest, chunks, and loops without iterations, which leave nothing.
#include <omp.h>
#include <stdio.h>

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
  int n = 12, none = 0, one = -1, chunks = -1, nest = -1, nothing = -1, below = -1, cells[12][10];
  double pair[2] = { -1, -1 };
  int here = 1;
#pragma omp target map(from: here)
  here = omp_is_initial_device();
  expect(!here, "regions run on a device");
#pragma omp target map(from: cells) map(tofrom: one, chunks, nest, nothing, below, pair) firstprivate(n, none)
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop lastprivate(one)
    for (int i = 0; i < n; i++) one = i;
#pragma omp taskloop lastprivate(chunks, pair) grainsize(5)
    for (int i = n; i > 0; i -= 5) {
      chunks = i;
      pair[0] = pair[1] = i * 0.5;
    }
#pragma omp taskloop collapse(2) lastprivate(nest) num_tasks(7)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < 10; j++) {
        cells[i][j] = i * j;
        nest = i * 100 + j;
      }
#pragma omp taskloop lastprivate(nothing)
    for (int i = 0; i < none; i++) nothing = i;
#pragma omp taskloop lastprivate(below)
    for (int i = 5; i < none; i++) below = i;
  }
  expect(one == 11, "a loop");
  expect(chunks == 2 && pair[0] == 1 && pair[1] == 1, "chunks, downwards, with an array");
  expect(nest == 1109, "a nest");
  expect(nothing == -1, "no iterations");
  expect(below == -1, "a bound below the first value");
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 10; j++) expect(cells[i][j] == i * j, "an element");
  return failures != 0;
}
