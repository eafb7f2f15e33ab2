// How large data are that OpenACC clauses name by a parameter's name alone.
#include <openacc.h>
#include <stdio.h>
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
  return failures != 0;
}
