// Sums in parts of arrays that do not begin with the array, over lanes, threads and both; sums over a single iteration, which one
// thread of many has.
#include <stdio.h>

enum { N = 100 };

static int wrong;

static void check(const int *h, const char *what) {
  if (h[0] != 1 || h[1] != 51 || h[2] != 51 || h[3] != 1) {
    printf("wrong: %s: %d %d %d %d\n", what, h[0], h[1], h[2], h[3]);
    wrong++;
  }
}

struct pair { int n; long most; };
#pragma omp declare reduction(pairs : struct pair : omp_out.n += omp_in.n, \
        omp_out.most = omp_in.most > omp_out.most ? omp_in.most : omp_out.most) initializer(omp_priv = {0, -1})

static void single_iterations(void) {
  long a[1] = {40}, h[3] = {5, -6, 77};
  int n = 3, hit[4] = {0};
  struct pair p = {4, 1};
#pragma acc parallel loop gang vector reduction(max : h[1:2]) reduction(+ : n) copyin(a) copy(h)
  for (int i = 0; i < 1; i++) {
    if (a[i] > h[1 + i]) h[1 + i] = a[i];
    n++;
  }
  wrong += n != 4 || h[1] != 40 || h[2] != 77;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : n) map(hit)
  for (int i = 0; i < 1; i++)
    for (int j = i; j < 1; j++) {
      hit[i * 4 + j + 2] += 1;
      n += i + 2 * j + 1;
    }
  wrong += n != 5 || hit[2] != 1;
#pragma omp target teams distribute parallel for collapse(2) reduction(pairs : p) reduction(+ : n) map(to : a)
  for (short i = 6; i > 4; i -= 2)
    for (unsigned char j = 3; j <= i - 3; j++) {
      p.n++;
      p.most = a[0] + i + j;
      n++;
    }
  wrong += n != 6 || p.n != 5 || p.most != 49;
  if (wrong) printf("wrong: a single iteration: %d %d %ld %ld %ld\n", n, hit[2], h[1], h[2], p.most);
}

int main(void) {
  single_iterations();
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
