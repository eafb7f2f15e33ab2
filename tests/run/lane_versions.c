// Functions with versions for lanes, which regions call beside others: the clauses speak of parameters by their names,
// whatever stands between the directive and the function in the text that a device gets.
#include <stdio.h>

#pragma omp begin declare target
static float none(float x) { return x - x; }

#pragma omp declare simd inbranch linear(p) uniform(k) simdlen(4)
float element(const float *p, int k, float x) { return p[k] * x; }

/* Sums in lanes: the device's text has this one first. */
static int sum(int n, const int *a)
{
  int s = 0;
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}

#pragma omp declare simd uniform(from) linear(at : 2)
#pragma omp declare simd notinbranch
long later(long from, int at);

static double twice(double x) { return x + x; }

#pragma omp declare simd aligned(where : 4) uniform(where)
static inline int looked(int x, const int *where) { return where[0] + x; }
#pragma omp end declare target

long later(long from, int at) { return from * 10 + at; }

int main(void)
{
  float f[40], o[40];
  int a[40], r[40], teams = 0;
  long l[40];
  for (int i = 0; i < 40; i++) f[i] = (float)i, a[i] = 3 * i;
#pragma omp target teams distribute parallel for map(to : f, a) map(from : o, r, l)
  for (int i = 0; i < 40; i++) {
    o[i] = none(5);
    if (i % 2) o[i] += element(f, i, 2);
    r[i] = sum(i % 7, a) + looked(i, a + 1);
    l[i] = later(i, i + 1) + (long)twice(i);
  }
#pragma omp target teams num_teams(3) reduction(+ : teams) map(tofrom : teams)
  teams += 1;
  int wrong = teams != 3;
  for (int i = 0; i < 40; i++) {
    int s = 0;
    for (int k = 0; k < i % 7; k++) s += 3 * k;
    wrong += o[i] != (i % 2 ? 2.0f * (float)i : 0.0f) || r[i] != s + 3 + i || l[i] != 13 * i + 1;
  }
  if (wrong) printf("wrong: %d\n", wrong);
  return wrong != 0;
}
