// Functions chosen by context, at each call.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(const char *what, int got, int want) {
  if (got != want) {
    printf("%s: %d, not %d\n", what, got, want);
    wrong = 1;
  }
}

static int on_device(int), in_parallel(int), in_all(int), on_condition(int);
static int flag;

#pragma omp declare variant(on_device) match(device = {kind(nohost)})
#pragma omp declare variant(in_parallel) match(construct = {parallel})
#pragma omp declare variant(in_all) match(construct = {target, teams, parallel}, device = {kind(any)})
#pragma omp declare variant(on_condition) match(user = {condition(score(100) : flag)})
static int f(int x) { return x; }

static int on_device(int x) { return x + 100; }
static int in_parallel(int x) { return x + 200; }
static int in_all(int x) { return x + 300; }
static int on_condition(int x) { return x + 400; }

// Runs on both sides, and so asks.
static int twice(int x) { return f(f(x)); }

static int other(int);
#pragma omp declare variant(other) \
    match(implementation = {extension(match_any)}, device = {kind(gpu)}, construct = {parallel})
#pragma omp declare variant(other) \
    match(implementation = {extension(match_none)}, construct = {parallel, target})
static int any_or_none(int x) { return x; }
static int other(int x) { return x + 1000; }

static int heavier(int), lighter(int);
#pragma omp declare variant(lighter) match(implementation = {vendor(score(2) : ferry)})
#pragma omp declare variant(heavier) match(implementation = {vendor(score(7) : ferry)})
static int weighed(int x) { return x; }
static int heavier(int x) { return x + 7; }
static int lighter(int x) { return x + 2; }

static int same_name(int x) { return x; }
#ifdef __FERRY__
#ifdef _OPENMP
#pragma omp begin declare variant match(device = {kind(host)})
static int same_name(int x) { return x + 50; }
#pragma omp end declare variant
#pragma omp begin declare variant match(device = {arch(nvptx)})
static int same_name(int x) { return __nvvm_no_such_builtin(x); }
#pragma omp end declare variant
#endif
#endif

static int many(int, const int *), one(int, const int *);
#pragma omp declare variant(many) match(user = {condition(score(2) : count > 3)})
#pragma omp declare variant(one) match(user = {condition(count == 1 && values[0] > 0)})
static int some(int count, const int *values) { return count + values[0]; }
static int many(int count, const int *values) { return 1000 + count + values[0]; }
static int one(int count, const int *values) { return 2000 + count + values[0]; }

int main(void) {
  int got = 0;
  int values[] = {5, -5}, count = 2;
  expect("asked of arguments: no", some(++count, values), 8);
  expect("asked of arguments: yes", some(++count, values), 1009);
  expect("computed once", count, 4);
  expect("two arguments", some(count - 3, values), 2006);
  expect("two arguments: no", some(count - 3, values + 1), -4);
  expect("a call in a call", some(some(1, values + 1) + 9, values), 1010);
#pragma omp target map(from : got)
  got = some(7, (int[]){1}) + some(2, (int[]){1});
  expect("asked on a device", got, 1011);
  expect("plain", f(1), 1);
#pragma omp parallel num_threads(2)
  {
    int mine = f(2);
#pragma omp single
    got = mine;
  }
  expect("in parallel", got, 202);
#pragma omp target map(from : got)
  got = f(3);
  expect("in target", got, 103);
  flag = 1;
  expect("on condition", f(1), 401);
  flag = 0;
  expect("twice on the host", twice(1), 1);
#pragma omp target map(from : got)
  got = twice(3);
  expect("twice on a device", got, 203);
  expect("none of them", any_or_none(1), 1001);
#pragma omp parallel num_threads(1)
  got = any_or_none(2);
  expect("any of them", got, 1002);
#pragma omp target map(from : got)
  got = any_or_none(3);
  expect("neither", got, 3);
  expect("weighed", weighed(1), 8);
  expect("same name on the host", same_name(1), 51);
#pragma omp target map(from : got)
  got = same_name(1);
  expect("same name on a device", got, 1);
  int (*pointer)(int) = f;
#pragma omp parallel num_threads(1)
  got = pointer(1);
  expect("through a pointer", got, 1);
  return wrong;
}
