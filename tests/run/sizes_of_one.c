// Numbers that ask for one team of one thread are kept: iterations that depend on each other run in order.
#include <stdio.h>

enum { N = 20000, ONE = 1 };

static long a[N];
static int wrong;

static void check(const char *what) {
  int right = 0;
  for (int i = 0; i < N; i++) {
    right += a[i] == i + 1;
    a[i] = i == 0;
  }
  if (right != N) {
    printf("wrong: %s: %d elements\n", what, N - right);
    wrong++;
  }
}

int main(void) {
  int n = N, one = 1, inside = 0;
  a[0] = 1;
#pragma omp target teams distribute parallel for num_teams(1) num_threads(1) map(tofrom : a)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  check("one team of one thread");
#pragma omp target teams distribute parallel for num_teams(ONE) thread_limit(ONE) map(tofrom : a)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  check("one team of at most one thread");
#pragma omp target teams distribute num_teams(1) map(tofrom : a)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  check("one team");
#pragma omp target parallel for num_threads(1) map(tofrom : a)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  check("one thread");
#pragma omp target teams num_teams(1) map(tofrom : a)
#pragma omp distribute parallel for num_threads(1)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  check("one thread in one team");
#pragma omp target teams num_teams(1) map(tofrom : a)
  {
#pragma omp parallel for num_threads(1)
    for (int i = 1; i < n / 2; i++) a[i] = a[i - 1] + 1;
#pragma omp parallel num_threads(1)
    {
#pragma omp for
      for (int i = n / 2; i < n; i++) a[i] = a[i - 1] + 1;
    }
  }
  check("one thread at a time");
  // The rows depend on each other, and what is in a row does not.
  static int m[100][64];
  for (int k = 0; k < 64; k++) m[0][k] = k;
#pragma omp target teams distribute num_teams(1) map(tofrom : m)
  for (int i = 1; i < 100; i++) {
#pragma omp parallel for
    for (int k = 0; k < 64; k++) m[i][k] = m[i - 1][63 - k] + 1;
  }
  int right = 0;
  for (int i = 0; i < 100; i++)
    for (int k = 0; k < 64; k++) right += m[i][k] == (i % 2 ? 63 - k : k) + i;
  if (right != 6400) printf("wrong: one team of many threads\n"), wrong++;
  // Directives are followed.
#pragma omp target map(from : inside)
#pragma omp parallel num_threads(one) private(one)
  {
    one = 2;
    inside = one;
  }
  wrong += inside != 2 || one != 1;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
