// Variables that follow the iterations by a step: in each iteration the original plus so many steps, whatever the body does.
#include <stdio.h>

#define N 64

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int follows(const int *a, int from, int step)
{
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != from + step * i;
  return !wrong;
}

static void on_host(void)
{
  int a[N], k = 10, step = -3, b[N], j = 4, c[N], m = 1, d[2 * N];
#pragma omp simd linear(k : 3)
  for (int i = 0; i < N; i++) a[i] = k;
  expect(follows(a, 10, 3) && k == 10 + 3 * N, "lanes");
#pragma omp parallel for num_threads(4) linear(j : step - 1)
  for (int i = 0; i < N; i++) b[i] = j;
  expect(follows(b, 4, -4) && j == 4 - 4 * N, "threads, down");
#pragma omp parallel num_threads(3)
#pragma omp for linear(m) schedule(dynamic)
  for (int i = 0; i < N; i++) {
    c[i] = m;
    if (i % 2) continue;
    m += 5;
  }
  expect(follows(c, 1, 1) && m == 1 + N, "a loop of threads that are there");
  int *p = d;
#pragma omp parallel for simd num_threads(2) linear(p : 2)
  for (int i = 0; i < N; i++) *p = i;
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += d[2 * i] != i;
  expect(!wrong && p == d + 2 * N, "a pointer");
  long n = 5;
  int e[N];
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop simd linear(n : 2)
  for (int i = 0; i < N; i++) e[i] = (int)n;
  expect(follows(e, 5, 2) && n == 5 + 2 * N, "tasks");
  int rows[8][8], q = 100;
#pragma omp parallel for collapse(2) num_threads(3) linear(q : 2)
  for (int i = 0; i < 8; i++)
    for (int l = 0; l < 8; l++) rows[i][l] = q;
  expect(follows(&rows[0][0], 100, 2) && q == 100 + 2 * N, "two loops as one");
  int none = 9;
#pragma omp parallel for linear(none : 7)
  for (int i = N; i < 3; i++) none = 1;
  expect(none == 9, "no iteration");
}

static void on_device(void)
{
  int e[N], r = 5, c[N], q = 5, t[N], u = 7, w[N], v = 2;
#pragma omp target simd linear(r : 2) map(from : e)
  for (int i = 0; i < N; i++) e[i] = r;
#pragma omp target parallel for simd num_threads(4) linear(q : -2) map(from : c)
  for (int i = 0; i < N; i++) c[i] = q;
#pragma omp target teams distribute parallel for simd linear(v : 3) map(from : w)
  for (int i = 0; i < N; i++) w[i] = v;
#pragma omp target parallel num_threads(4) map(from : t) map(tofrom : u)
#pragma omp for linear(u : 4)
  for (int i = N - 1; i >= 0; i--) t[N - 1 - i] = u;
  expect(follows(e, 5, 2), "lanes of a device");
  expect(follows(c, 5, -2), "threads and lanes of a device");
  expect(follows(w, 2, 3), "teams of a device");
  expect(follows(t, 7, 4) && u == 7 + 4 * N, "threads of a device, counting down");
}

int main(void)
{
  on_host();
  on_device();
  if (failures == 0) printf("right\n");
  return failures != 0;
}
