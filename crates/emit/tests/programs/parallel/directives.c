/* Directives that declare, loops, reductions, atomics, sections: pragmas again. */
#include <stdio.h>
#include <stdlib.h>
#pragma omp declare target
int g1; int helper(int x) { return x + g1; }
#pragma omp end declare target
#pragma omp declare target
int g2 = 3;
#pragma omp end declare target
int g3;
#pragma omp declare target to(g3)
#pragma omp declare simd
double sq(double x) { return x*x; }
int tp;
#pragma omp threadprivate(tp)
struct V { double x, y; };
static struct V add(struct V a, struct V b) { struct V r = {a.x+b.x, a.y+b.y}; return r; }
#pragma omp declare reduction(vadd : struct V : omp_out = add(omp_out, omp_in)) initializer(omp_priv = {0, 0})
int main(void) {
  int n = 100; double a[100]; struct V t = {0,0};
  #pragma omp parallel for reduction(vadd : t)
  for (int i = 0; i < n; i++) { a[i] = sq(i); struct V w = {a[i], i}; t = add(t, w); }
  int sum = 0; short sh = 0;
  #pragma omp target teams distribute parallel for map(tofrom: sum) reduction(+: sum) map(to: a[0:n])
  for (int i = 0; i < n; ++i) sum += (int)a[i] + helper(i);
  #pragma omp parallel for
  for (long i = 0; i < n; i += 2) {
    #pragma omp atomic
    sh += 1;
    #pragma omp atomic update
    sh = sh + 2;
    int v;
    #pragma omp atomic capture
    { v = tp; tp++; }
    if (v < -1)
      #pragma omp critical
      puts("x");
  }
  #pragma omp parallel sections
  {
    #pragma omp section
    sum++;
    #pragma omp section
    { n++; }
  }
  printf("%g %g %d %d %d %d\n", t.x, t.y, sum, sh, n, g2 + g3);
  return 0;
}
