// Sums in parts of arrays that do not begin with the array, over lanes, threads and both.
#include <stdio.h>

enum { N = 100 };

static int wrong;

static void check(const int *h, const char *what) {
  if (h[0] != 1 || h[1] != 51 || h[2] != 51 || h[3] != 1) {
    printf("wrong: %s: %d %d %d %d\n", what, h[0], h[1], h[2], h[3]);
    wrong++;
  }
}

int main(void) {
  int first = 1, last = 0, count = 0;
  int a[4] = {1, 1, 1, 1}, b[4] = {1, 1, 1, 1}, c[4] = {1, 1, 1, 1}, d[4] = {1, 1, 1, 1}, e[4] = {1, 1, 1, 1};
  int *p = d;
#pragma omp simd reduction(+ : a[1 : 2], count) lastprivate(last) simdlen(8)
  for (int i = 0; i < N; i++) {
    a[1 + i % 2] += 1;
    count++;
    last = i;
  }
  check(a, "lanes");
  wrong += last != N - 1 || count != N;
#pragma omp parallel for simd reduction(+ : b[first : 2]) num_threads(3)
  for (int i = 0; i < N; i++) b[1 + i % 2] += 1;
  check(b, "threads and lanes");
#pragma omp parallel for reduction(+ : c[1 : 2]) num_threads(3)
  for (int i = 0; i < N; i++) c[1 + i % 2] += 1;
  check(c, "threads");
#pragma omp target parallel for simd reduction(+ : p[1 : 2]) map(tofrom : p[0 : 4])
  for (int i = 0; i < N; i++) p[1 + i % 2] += 1;
  check(d, "threads and lanes of a device");
#pragma omp target simd reduction(+ : e[1 : 2]) map(tofrom : e)
  for (int i = 0; i < N; i++) e[1 + i % 2] += 1;
  check(e, "lanes of a device");
  // Directives are followed.
  int own = 3, inside = 0;
#pragma omp parallel num_threads(1) private(own)
  {
    own = 5;
    inside = own;
  }
  wrong += own != 3 || inside != 5;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
