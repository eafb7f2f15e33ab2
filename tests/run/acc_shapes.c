// How large data are whose size no clause says: parameters that are arrays, and pointers that the
// region does no more with than follow them.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 24, M = 10 };

static int there(void *at, size_t bytes) { return acc_is_present(at, bytes) != 0; }

// The declaration says how many rows there are, by a number or by other parameters.
static void by_number(double a[N][M], double b[static N], const double c[const N])
{
#pragma acc data copy(a) copyin(c) create(b)
  {
    expect(there(a, N * M * sizeof(double)) && there(b, N * sizeof(double)), "all of an array");
    expect(there((void *)c, N * sizeof(double)), "all of a constant array");
#pragma acc parallel loop present(a, b, c)
    for (int i = 0; i < N; i++) {
      b[i] = c[i] + 1;
      for (int j = 0; j < M; j++) a[i][j] += b[i];
    }
#pragma acc update self(b)
  }
}

static void by_parameter(int n, int m, double a[n][m], double sums[2 * n])
{
#pragma acc parallel loop copyin(a) copyout(sums)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++) sum += a[i][j];
    sums[i] = sum;
    sums[n + i] = -sum;
  }
#pragma acc enter data copyin(a)
  expect(there(a, sizeof(double) * (size_t)n * (size_t)m), "entered");
#pragma acc exit data delete (a)
  expect(!there(a, 1), "left");
}

static void old_style(n, a) int n; int a[n];
{
#pragma acc parallel loop copy(a)
  for (int i = 0; i < n; i++) a[i] *= 2;
}

// A shape that is written in the clause is the one that counts.
static void by_clause(int a[N])
{
#pragma acc data copy(a [2:4])
  {
    expect(there(a + 2, 4 * sizeof(int)) && !there(a, 1), "a part");
#pragma acc parallel loop
    for (int i = 2; i < 6; i++) a[i]++;
  }
}

static void declared(int a[N], int sum[1])
{
#pragma acc declare copyin(a) copy(sum)
#pragma acc serial
  for (int i = 0; i < N; i++) sum[0] += a[i];
}

// A pointer that is said to be there stands for its data, however many; one that was put there, for itself.
static int *kept;
#pragma acc declare create(kept)

static void of_pointers(int *p, const int *q, int n)
{
#pragma acc enter data copyin(p[0:n], q[0:n])
#pragma acc data present(p, q)
  {
#pragma acc parallel loop present(p, q)
    for (int i = 0; i < n; i++) p[i] += q[i];
  }
#pragma acc exit data copyout(p[0:n]) delete (q[0:n])
  expect(!there(p, 1), "what is said to be there is not counted for good");
  int is_there = 0;
#pragma acc serial present(kept) copyout(is_there)
  is_there = 1;
  expect(is_there, "a pointer that was put there");
}

struct point {
  double x;
  int k;
};

// What a region touches behind a pointer comes along.
static void by_access(int n, int m)
{
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
  double *c = malloc((size_t)(n * m) * sizeof *c);
  const double *d = b;
  struct point *p = malloc((size_t)n * sizeof *p);
  int host = 1;
  for (int i = 0; i < n; i++) {
    a[i] = -1;
    b[i] = i;
    p[i].k = i;
    for (int j = 0; j < m; j++) c[i * m + j] = 0;
  }
#pragma acc parallel loop
  for (int i = 1; i < n - 1; i++) a[i] = d[i - 1] + d[i + 1] + p[i].k;
  expect(a[0] == -1 && a[1] == 3 && a[n - 2] == 3 * (n - 2) && a[n - 1] == -1, "neighbours");
#pragma acc serial copyout(host)
  host = acc_on_device(acc_device_host);
#pragma acc kernels
  {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) c[i * m + j] = i + j + !host;
    for (int i = 0; i < n; i++) p[i].x = c[i * m];
  }
  expect(!host && c[n * m - 1] == n + m - 1 && p[n - 1].x == n, "rows and members");
#pragma acc serial
  {
    b[2] = 5;
    for (int i = n - 1; i > m; i--) b[i] = 1;
  }
  expect(b[2] == 5 && b[n - 1] == 1 && b[m + 1] == 1 && b[m] == m, "two pieces");
  // Nothing is touched, so nothing is asked for.
  double *none = 0;
#pragma acc parallel loop
  for (int i = n; i < m; i++) none[i] = 0;
  // What is there already is used as it is.
#pragma acc data copyin(b [0:n])
  {
#pragma acc parallel loop
    for (int i = 0; i < n; i++) b[i] = 7;
#pragma acc serial
    for (int i = 0; i < n; i++) a[i] = b[i];
  }
  expect(a[0] == 7 && a[n - 1] == 7, "present");
  // An address of the device's own is one.
  double *own = acc_malloc((size_t)n * sizeof *own);
#pragma acc parallel loop
  for (int i = 0; i < n; i++) own[i] = i;
  acc_memcpy_from_device(a, own, (size_t)n * sizeof *own);
  expect(a[n - 1] == n - 1, "own memory");
  acc_free(own);
  free(a), free(b), free(c), free(p);
}

int main(void)
{
  double a[N][M], b[N], c[N], sums[2 * N];
  int d[N], sum = 0;
  for (int i = 0; i < N; i++) {
    b[i] = 0;
    c[i] = i;
    d[i] = i;
    for (int j = 0; j < M; j++) a[i][j] = 1;
  }
  by_number(a, b, c);
  expect(a[N - 1][M - 1] == N + 1 && a[0][0] == 2 && b[N - 1] == N, "computed by number");
  by_parameter(N, M, a, sums);
  expect(sums[N - 1] == M * (N + 1) && sums[2 * N - 1] == -M * (N + 1), "computed by parameter");
  old_style(N, d);
  by_clause(d);
  expect(d[N - 1] == 2 * (N - 1) && d[5] == 11 && d[6] == 12, "old style and clause");
  declared(d, &sum);
  expect(sum == N * (N - 1) + 4, "declared");
  int e[N];
  for (int i = 0; i < N; i++) e[i] = 100 - d[i];
  of_pointers(e, d, N);
  expect(e[0] == 100 && e[N - 1] == 100, "data behind pointers");
  by_access(N, M - 2);
  return failures != 0;
}
