// Nests whose loops a device wants shared otherwise than they are written: sweeps with threads inside teams, sums
// inside, counters and variables from outside, loops that are made one and loops that are not.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 300, M = 200 };
static float a[N + 2][M + 2], b[N + 2][M + 2];
static int c[N][M], sums[N];

static void sweep(void)
{
  int i, j;
#pragma omp target teams distribute num_teams(4) map(tofrom : a) map(to : b)
  for (i = 1; i <= N; i++)
#pragma omp parallel for num_threads(2)
    for (j = 1; j <= M; j++)
      a[i][j] = (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]) / 4.0f;
}

/* Two loops with directives that become one. */
enum { S = 64 };
static double from[S][S][S], to[S][S][S];

static void smooth(int n, double from[S][S][S], double to[S][S][S])
{
  int i, j, k;
#pragma acc data copyin(from[0:S]) copyout(to[0:S])
#pragma acc parallel
  {
#pragma acc loop
    for (i = 1; i < n - 1; ++i)
#pragma acc loop
      for (j = 1; j < n - 1; ++j)
        for (k = 1; k < n - 1; ++k)
          to[i][j][k] = from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] + from[i][j + 1][k] +
                        from[i][j][k - 1] + from[i][j][k + 1];
  }
}

static void rows(int *all)
{
  int i, j, t, sum = 0;
  // A copy inside, a sum inside and one outside.
#pragma omp target teams distribute private(t) reduction(+ : sum) map(tofrom : c, sums, sum)
  for (i = 0; i < N; i++) {
    int row = 0;
#pragma omp parallel for private(t) reduction(+ : row)
    for (j = 0; j < M; j++) {
      t = i * 3 + j;
      c[i][j] = t % 7;
      row += c[i][j];
    }
    sums[i] = row;
    sum += row;
  }
  *all = sum;
}

static int triangle(void)
{
  int met = 0;
  // The inner bound depends on the outer counter: these are never made one.
#pragma omp target teams distribute map(tofrom : c)
  for (int i = 0; i < M; i++) {
#pragma omp parallel for
    for (int j = 0; j < i; j++) c[i][j] = 1000 + i - j;
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < i; j++) met += c[i][j] == 1000 + i - j;
  return met;
}

static void product(long *restrict x, const int *restrict y, const int *restrict z)
{
  int i, j, k;
#pragma acc parallel loop copyout(x[0 : N * M]) copyin(y[0 : N * 16], z[0 : 16 * M])
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++) {
      long sum = 0;
      for (k = 0; k < 16; k++) sum += y[i * 16 + k] * z[k * M + j];
      x[i * M + j] = sum;
    }
}

static void found(void)
{
  int i, j, t;
#pragma acc kernels copy(c)
  {
    for (i = 0; i < N; i++)
      for (j = 0; j < M; j++) {
        t = i ^ j;
        c[i][j] = t + 1;
      }
    for (j = 1; j < M; j++) c[0][j] += c[0][j - 1];
  }
#pragma acc parallel copy(c)
  {
#pragma acc loop auto
    for (i = 1; i < N; i++) {
#pragma acc loop auto
      for (j = 0; j < M; j++) c[i][j] *= 2;
    }
  }
}

int main(void)
{
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < M + 2; j++) b[i][j] = (float)(i * 31 % 17 + j);
  sweep();
  int right = 0;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= M; j++)
      right += a[i][j] == (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]) / 4.0f;
  expect(right == N * M, "a sweep");

  int all = 0, known = 0, bad = 0;
  rows(&all);
  for (int i = 0; i < N; i++) {
    int row = 0;
    for (int j = 0; j < M; j++) {
      row += (i * 3 + j) % 7;
      bad += c[i][j] != (i * 3 + j) % 7;
    }
    bad += sums[i] != row;
    known += row;
  }
  expect(bad == 0 && all == known, "sums of rows, and their sum");
  expect(triangle() == M * (M - 1) / 2, "a triangle");

  static int y[N * 16], z[16 * M];
  static long x[N * M];
  for (int i = 0; i < N * 16; i++) y[i] = i % 13;
  for (int i = 0; i < 16 * M; i++) z[i] = i % 11;
  product(x, y, z);
  right = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      long sum = 0;
      for (int k = 0; k < 16; k++) sum += y[i * 16 + k] * z[k * M + j];
      right += x[i * M + j] == sum;
    }
  expect(right == N * M, "a product");

  found();
  bad = 0;
  int before = 0;
  for (int j = 0; j < M; j++) {
    before += (0 ^ j) + 1;
    bad += c[0][j] != before;
  }
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++) bad += c[i][j] != 2 * ((i ^ j) + 1);
  expect(bad == 0, "loops that are found to be parallel, and one that is not");

  for (int i = 0; i < S; i++)
    for (int j = 0; j < S; j++)
      for (int k = 0; k < S; k++) from[i][j][k] = 2 * i + 3 * j + 5 * k;
  smooth(S, from, to);
  bad = 0;
  for (int i = 1; i < S - 1; i++)
    for (int j = 1; j < S - 1; j++)
      for (int k = 1; k < S - 1; k++) bad += to[i][j][k] != 6 * (2 * i + 3 * j + 5 * k);
  expect(bad == 0, "loops of two directives that become one");
#ifndef _OPENMP
  failures++;
#endif
  return failures != 0;
}
