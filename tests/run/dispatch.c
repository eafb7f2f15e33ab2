// Dispatched calls: variants, their arguments, devices and dependences.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(const char *what, int got, int want) {
  if (got != want) {
    printf("%s: %d, not %d\n", what, got, want);
    wrong = 1;
  }
}

static void sum_on_device(int *p, int n, int *sum);
#pragma omp declare variant(sum_on_device) match(construct = {dispatch}) \
    adjust_args(need_device_ptr : p) adjust_args(nothing : sum)
static void sum_of(int *p, int n, int *sum) {
  (void)p;
  (void)n;
  *sum = -1;
}

static void sum_on_device(int *p, int n, int *sum) {
  int s = 0;
#pragma omp target is_device_ptr(p) map(tofrom : s)
  for (int i = 0; i < n; i++)
    s += p[i];
  *sum = s;
}

static int with_object(int, void *);
#pragma omp declare variant(with_object) match(construct = {dispatch}) append_args(interop(target))
static int plain(int x) { return x; }
static int with_object(int x, void *object) {
  return object == 0 ? x + 1000 + omp_get_default_device() : -1;
}

int main(void) {
  int a[10], got = 0;
  for (int i = 0; i < 10; i++)
    a[i] = i;
  sum_of(a, 10, &got);
  expect("not dispatched", got, -1);
#pragma omp target enter data map(to : a)
#pragma omp dispatch
  sum_of(a, 10, &got);
  expect("dispatched", got, 45);
  int refuse = 1;
#pragma omp dispatch novariants(refuse)
  sum_of(a, 10, &got);
  expect("no variants", got, -1);
  refuse = 0;
#pragma omp dispatch novariants(refuse) nocontext(refuse)
  sum_of(a, 10, &got);
  expect("variants", got, 45);
#pragma omp dispatch nocontext(1)
  sum_of(a, 10, &got);
  expect("no context", got, -1);
#pragma omp target exit data map(release : a)
  omp_set_default_device(omp_get_initial_device());
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int first = 0;
#pragma omp task depend(out : first) shared(first)
    first = 1;
#pragma omp dispatch device(0) depend(in : first) nowait
    got = plain(first);
  }
  expect("after its dependence, on its device", got, 1001);
  expect("the default device is as before", omp_get_default_device(), omp_get_initial_device());
  return wrong;
}
