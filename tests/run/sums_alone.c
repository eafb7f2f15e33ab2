// Reductions by one gang, one team, one thread, and in order: copies begin with the value that changes nothing, and are
// combined with the variable itself, also where nobody shares the work.
#include <complex.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static void one_gang(void)
{
  int seen[9], sum = 5, product = 3, most = 40, least = -4, ones = 7, either = 8, odd = 6, all = 2, any = 0;
#pragma acc parallel num_gangs(1) copyout(seen) reduction(+ : sum) reduction(* : product) reduction(max : most) \
  reduction(min : least) reduction(& : ones) reduction(| : either) reduction(^ : odd) reduction(&& : all) reduction(|| : any)
  {
    seen[0] = sum, seen[1] = product, seen[2] = most, seen[3] = least, seen[4] = ones;
    seen[5] = either, seen[6] = odd, seen[7] = all, seen[8] = any;
    sum = 1, product = 2, most = 12, least = 12, ones = 3, either = 1, odd = 5, all = 0, any = 3;
  }
  expect(seen[0] == 0 && seen[1] == 1 && seen[2] < -2147483647 && seen[3] == 2147483647, "one gang: first values");
  expect(seen[4] == -1 && !seen[5] && !seen[6] && seen[7] && !seen[8], "one gang: first values of bits");
  expect(sum == 6 && product == 6 && most == 40 && least == -4, "one gang: numbers");
  expect(ones == 3 && either == 9 && odd == 3 && !all && any, "one gang: bits");
}

static void types(void)
{
  double d = 2.5;
  float f = -3;
  unsigned char c = 200;
  signed char s = -100;
  unsigned u = 7;
  long l = 1L << 40;
  _Bool b = 1;
  double complex z = 1 + 2 * I;
#pragma acc serial reduction(max : d) reduction(min : f, s) reduction(+ : c, z) reduction(max : u) reduction(* : l) \
  reduction(&& : b)
  {
    d = 1, f = 9, c = 100, s = 50, u = 3, l = 2, z = 3 - I, b = 0;
  }
  expect(d == 2.5 && f == -3 && c == (unsigned char)300 && s == -100, "types: real numbers, characters");
  expect(u == 7 && l == 1L << 41 && !b && creal(z) == 4 && cimag(z) == 1, "types: wide, truth, complex");
}

static void in_order(void)
{
  int a[4] = { 3, 9, 4, 1 }, q = 40, r[3] = { 0, 0, 0 }, t = 100;
#pragma acc parallel loop seq reduction(max : q) copyin(a)
  for (int i = 0; i < 4; i++) q = a[i];
#pragma acc parallel loop gang copyin(a) copyout(r)
  for (int j = 0; j < 3; j++) {
    int m = 8;
#pragma acc loop seq reduction(max : m)
    for (int i = 0; i < 4; i++) m = a[i] + j;
    r[j] = m;
  }
#pragma acc kernels loop seq reduction(+ : t) copyin(a)
  for (int i = 0; i < 4; i++) t = t + a[i];
  expect(q == 40, "loop in order");
  expect(r[0] == 8 && r[1] == 8 && r[2] == 8, "loop in order inside another");
  expect(t == 117, "loop of kernels");
}

static void arrays(void)
{
  int bins[3] = { 10, 20, 30 }, first = -1;
  double m[2][2] = { { 1, 2 }, { 3, 4 } };
#pragma acc parallel num_gangs(1) reduction(max : bins) reduction(+ : m) copyout(first)
  {
    first = bins[0] < -2147483647 && m[1][1] == 0;
    bins[0] = 11, bins[1] = 12, bins[2] = 13;
    m[0][0] = 1, m[1][1] = 1;
  }
  expect(first == 1 && bins[0] == 11 && bins[1] == 20 && bins[2] == 30, "array");
  expect(m[0][0] == 2 && m[0][1] == 2 && m[1][0] == 3 && m[1][1] == 5, "rows");
  int part[6] = { 5, 5, 5, 5, 5, 5 };
#pragma omp target parallel num_threads(1) reduction(max : part[1:3]) map(tofrom : part)
  for (int i = 1; i < 4; i++) part[i] = i * 2;
  expect(part[0] == 5 && part[1] == 5 && part[2] == 5 && part[3] == 6 && part[4] == 5, "part of an array");
}

static void levels(void)
{
  int outer = 3, inner[4] = { 0, 0, 0, 0 };
#pragma acc parallel num_gangs(1) reduction(+ : outer) copy(inner)
  {
    outer = 10;
#pragma acc loop seq reduction(* : outer)
    for (int i = 0; i < 3; i++) outer *= 2;
#pragma acc loop vector reduction(+ : outer)
    for (int i = 0; i < 4; i++) {
      inner[i] = i;
      outer += i;
    }
  }
  expect(outer == 3 + 10 * 8 + 6 && inner[3] == 3, "several levels");
}

#pragma acc routine seq
static int largest(const int *a, int n, int from)
{
  int m = from;
#pragma acc loop seq reduction(max : m)
  for (int i = 0; i < n; i++) m = a[i];
  return m;
}

struct pair { int low, high; };
#pragma omp declare reduction(span : struct pair : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low, \
  omp_out.high = omp_in.high > omp_out.high ? omp_in.high : omp_out.high) \
  initializer(omp_priv = { omp_orig.low + 1000, omp_orig.high - 1000 })

static void threads(void)
{
  int team = 40, thread = 40, lane = 5, seen = -1, scope = 50, section = 60, a[3] = { 2, 9, 4 }, m = 0, k = 1;
#pragma omp target teams num_teams(1) reduction(max : team) map(tofrom : team)
  team = 12;
#pragma omp target parallel num_threads(1) reduction(max : thread) map(tofrom : thread)
  thread = 12;
#pragma omp target simd reduction(+ : lane) map(tofrom : lane, seen)
  for (int i = 0; i < 1; i++) {
    seen = lane;
    lane += 1;
  }
#pragma omp target parallel num_threads(1) map(tofrom : scope, section)
  {
#pragma omp scope reduction(min : scope)
    scope = 70;
#pragma omp sections reduction(max : section)
    {
      section = 20;
#pragma omp section
      section = 30;
    }
  }
  expect(team == 40 && thread == 40 && seen == 0 && lane == 6, "team, thread, lanes");
  expect(scope == 50 && section == 60, "scope, sections");
#pragma omp target parallel num_threads(1) map(tofrom : k)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : k)
  {
#pragma omp task in_reduction(+ : k)
    k += 2;
#pragma omp task in_reduction(+ : k)
    k += 3;
  }
  expect(k == 6, "tasks");
  struct pair span = { 5, 6 };
#pragma omp target parallel num_threads(1) reduction(span : span) map(tofrom : span)
  span = (struct pair){ 7, 2 };
  expect(span.low == 5 && span.high == 6, "a reduction of one's own");
#pragma acc parallel num_gangs(1) copyin(a) copy(m)
  m = largest(a, 3, 11);
  expect(m == 11, "in a routine");
  int host = 40;
#pragma acc parallel num_gangs(1) reduction(max : host) if (0)
  host = 12;
  expect(host == 40, "on the host");
}

int main(void)
{
  one_gang();
  types();
  in_order();
  arrays();
  levels();
  threads();
  if (failures == 0) printf("right\n");
  return failures != 0;
}
