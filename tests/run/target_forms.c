// Loops whose variables decide who may run them: each thread, or one after the other.
#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { N = 100 };

static int failures;

static void expect(const char *what, double got, double wanted) {
  if (got != wanted) {
    printf("%s: %g, not %g\n", what, got, wanted);
    failures++;
  }
}

int main(void) {
  int a[N], host = 1, most = -5, last = -1, seen = 0, kept = 7;
  for (int i = 0; i < N; i++)
    a[i] = (i * 37) % N;

  // A function of the library has its arguments converted, whatever they are.
#pragma omp target teams distribute parallel for reduction(max : most) map(to : a)
  for (int i = 0; i < N; i++)
    most = fmax(a[i] - 50, most);
  expect("fmax of whole numbers", most, 49);

  // The last iteration that sets it decides, not the last of all.
#pragma omp target parallel for lastprivate(conditional : last) map(to : a) map(from : host)
  for (int i = 0; i < N; i++) {
    if (i == 0)
      host = omp_is_initial_device();
    if (a[i] < 10)
      last = i;
  }
  int wanted = -1;
  for (int i = 0; i < N; i++)
    if (a[i] < 10)
      wanted = i;
  expect("conditional last value", last, wanted);
  expect("on a device", host, 0);

  // One variable for all teams of the region; the host keeps its own.
  int counter = 3;
#pragma omp target teams distribute firstprivate(counter) map(tofrom : seen)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    seen += counter;
  }
  expect("a value for each team", seen, 3 * N);
  expect("the host's counter", counter, 3);

  // A task has copies of what a clause says, arrays too.
  int copy[4] = {1, 2, 3, 4};
#pragma omp target map(tofrom : kept, copy)
  {
#pragma omp task default(firstprivate)
    {
      kept = 8;
      for (int i = 0; i < 4; i++)
        copy[i] = 0;
    }
#pragma omp taskwait
    kept += 10;
  }
  expect("a task's own", kept, 17);
  expect("a task's own array", copy[0] + copy[3], 5);
  return failures != 0;
}
