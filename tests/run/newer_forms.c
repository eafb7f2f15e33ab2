/* Forms of clauses that are newer than the host's compiler, and names that constructs inside regions make. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

#pragma omp declare simd linear(x : step(1)) uniform(p) notinbranch
static int near(int x, const int *p) { return x + *p; }

static uintptr_t aligned_static(int add) {
  static char room[3] = {1, 2, 3};
#pragma omp allocate(room) align(256)
  room[0] += add;
  return (uintptr_t)room % 256 + room[0] + room[2];
}

static void iterators_inside(void) {
  int a[10] = {0}, sum = 0, ended = 0;
#pragma omp target map(tofrom : a) map(from : sum, ended)
  {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(iterator(i = 0 : 10), out : a[i]) shared(a)
      for (int k = 0; k < 10; k++)
        a[k] = k + !omp_is_initial_device();
      int part = 0;
#pragma omp task depend(iterator(i = 0 : 10 : 3), in : a[i]) affinity(iterator(i = 0 : 10) : a[i]) \
    shared(a, part)
      for (int k = 0; k < 10; k++)
        part += a[k];
#pragma omp taskwait
      sum = part;
      omp_event_handle_t event;
      int done = 0;
#pragma omp task detach(event) shared(done)
      {
        done = 1;
        omp_fulfill_event(event);
      }
#pragma omp taskwait
      ended = done;
    }
  }
  expect(sum == 55, "iterators of tasks in a region");
  expect(ended == 1, "events of tasks in a region");
}

int main(void) {
  int offset = 5, got[8];
#pragma omp simd
  for (int i = 0; i < 8; i++)
    got[i] = near(i, &offset);
  expect(got[7] == 12, "a linear parameter with a step");
  expect(aligned_static(1) == 5 && aligned_static(1) == 6, "a static variable with an alignment");
  iterators_inside();
  omp_interop_t object = omp_interop_none;
#pragma omp interop init(targetsync : object)
#pragma omp interop destroy(object)
  expect(object == omp_interop_none, "an object that is destroyed");
  return failures != 0;
}
