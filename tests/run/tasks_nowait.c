// Regions that are not waited for: in the order of their dependences, inside and outside of parallel
// regions, together with tasks of the host.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int failures;

static void expect(int is_right, const char *what) {
  if (!is_right) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static void chain(int is_parallel) {
  int x = 0, y = 0, seen = 0, length = 100;
  double begin = omp_get_wtime();
#pragma omp target nowait map(tofrom : x) depend(out : x)
  {
    usleep(200000);
    x = 1;
  }
  for (int step = 0; step < length; step++) {
    int add = 2;
#pragma omp target nowait map(tofrom : x) firstprivate(add) depend(inout : x)
    x += add;
    add = 1000;
  }
#pragma omp target nowait map(to : x) map(from : y) depend(in : x) depend(out : y)
  y = x;
  double begun = omp_get_wtime() - begin;
#pragma omp task depend(in : y) shared(y, seen)
  seen = y;
#pragma omp taskwait
  expect(begun < 0.15, is_parallel ? "begun at once, in parallel" : "begun at once");
  expect(x == 201 && y == 201, "a chain is in order");
  expect(seen == 201, "a task of the host comes after the region that it depends on");
}

static void data(void) {
  int a[8] = {0}, sum = 0;
#pragma omp target enter data map(to : a) nowait depend(out : a)
#pragma omp target nowait map(tofrom : a) depend(inout : a)
  for (int i = 0; i < 8; i++)
    a[i] += i;
#pragma omp target update from(a) nowait depend(inout : a)
#pragma omp taskwait depend(in : a)
  for (int i = 0; i < 8; i++)
    sum += a[i];
  expect(sum == 28, "an update comes after the region");
#pragma omp target exit data map(delete : a) nowait depend(inout : a)
#pragma omp taskgroup
  {
#pragma omp target nowait map(from : sum) depend(in : a)
    {
      usleep(50000);
      sum = 5;
    }
  }
  expect(sum == 5, "the end of a group waits");
  // Waits for what it depends on, and is waited for.
#pragma omp target map(tofrom : sum) nowait depend(out : sum)
  {
    usleep(50000);
    sum += 1;
  }
#pragma omp target map(tofrom : sum) depend(inout : sum)
  sum *= 2;
  expect(sum == 12, "a region in place comes after one that is not");
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : sum)
#pragma omp target map(tofrom : sum) nowait depend(depobj : object)
  {
    usleep(50000);
    sum += 1;
  }
#pragma omp target map(tofrom : sum) nowait depend(iterator(i = 0 : 1), in : (&sum)[i])
  sum += 100;
#pragma omp taskwait
#pragma omp depobj(object) destroy
  expect(sum == 113, "objects and iterators name dependences");
}

static void copies(void) {
  int host = omp_get_initial_device(), from[4] = {1, 2, 3, 4}, to[4] = {0};
  int *there = omp_target_alloc(sizeof from, 0);
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : from)
  omp_target_memcpy_async(there, from, sizeof from, 0, 0, 0, host, 1, &object);
#pragma omp target nowait is_device_ptr(there) depend(inout : from)
  {
    usleep(50000);
    there[2] += 10;
  }
  omp_target_memcpy_async(to, there, sizeof to, 0, 0, host, 0, 1, &object);
#pragma omp taskwait
#pragma omp depobj(object) destroy
  expect(to[0] == 1 && to[2] == 13, "copies are in the order of their dependences");
  omp_target_free(there, 0);
}

// The end of a data region waits for what was begun in it, unless that is said not to be a group.
static void grouped(void) {
  int a = 0, b = 0;
#pragma omp target data map(tofrom : a)
  {
#pragma omp target map(tofrom : a) nowait
    {
      usleep(2000);
      a++;
    }
  }
  expect(a == 1, "a data region waits for its regions");
  double begin = omp_get_wtime();
#pragma omp target_data map(tofrom : b) nogroup
  {
#pragma omp target map(tofrom : b) nowait
    {
      usleep(200000);
      b++;
    }
  }
  double passed = omp_get_wtime() - begin;
#pragma omp taskwait
  expect(passed < 0.15, "without a group it does not");
  expect(b == 1, "whoever waits sees the result");
}

int main(void) {
  // To open a device takes its time.
#pragma omp target
  ;
  chain(0);
  data();
  copies();
  grouped();
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    chain(1);
    data();
    copies();
    grouped();
  }
  return failures != 0;
}
