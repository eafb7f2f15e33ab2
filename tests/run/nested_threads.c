// Threads inside teams: whoever has the loops, sums, copies and counters come out the same.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 300, M = 260 };
static double a[N][M], b[N][M];
static int hits[16];

static double half(double x) { return x / 2; }

static void stencil(void)
{
  double most = 0;
  int i, j;
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++) a[i][j] = (i * 7 + j * 3) % 11;
  j = -5;
#pragma omp target teams distribute map(tofrom : a, b, most) reduction(max : most)
  for (i = 1; i < N - 1; i++) {
#pragma omp parallel for reduction(max : most)
    for (j = 1; j < M - 1; j++) {
      b[i][j] = half(a[i - 1][j] + a[i + 1][j]);
      if (b[i][j] > most) most = b[i][j];
    }
  }
  double known = 0;
  int same = 1;
  for (int x = 1; x < N - 1; x++)
    for (int y = 1; y < M - 1; y++) {
      double it = (a[x - 1][y] + a[x + 1][y]) / 2;
      same &= it == b[x][y];
      if (it > known) known = it;
    }
  expect(same, "elements of a stencil");
  expect(most == known, "the largest of all teams");
  expect(j == -5, "a counter of the threads is theirs");
}

static void copies(void)
{
  int t = 7, after[N], sum = 0;
#pragma omp target teams distribute map(from : after) map(tofrom : sum) reduction(+ : sum) num_teams(4) thread_limit(3)
  for (int i = 0; i < N; i++) {
    int own = 0;
#pragma omp parallel for private(t) reduction(+ : own) num_threads(2)
    for (int j = 0; j < M; j++) {
      t = i + j;
      own += t & 1;
    }
    after[i] = t;
    sum += own;
  }
  int same = 1, known = 0;
  for (int i = 0; i < N; i++) {
    same &= after[i] == 7;
    for (int j = 0; j < M; j++) known += (i + j) & 1;
  }
  expect(same, "what threads have for themselves does not come out");
  expect(sum == known, "a sum of sums");
}

static void collisions(void)
{
#pragma omp target teams distribute map(tofrom : hits)
  for (int i = 0; i < N; i++) {
#pragma omp parallel for
    for (int j = 0; j < M; j++) {
#pragma omp atomic
      hits[(i + j) % 16]++;
    }
  }
  int all = 0;
  for (int i = 0; i < 16; i++) all += hits[i];
  expect(all == N * M, "indivisible accesses");
}

static void few_outer(void)
{
  static int c[3][4000];
#pragma omp target teams distribute map(from : c)
  for (int i = 0; i < 3; i++) {
#pragma omp parallel for
    for (int j = 0; j < 4000; j++) {
      c[i][j] = i * 10000 + j;
      for (int k = 0; k < 50; k++) c[i][j] ^= k * j;
    }
  }
  int same = 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4000; j++) {
      int it = i * 10000 + j;
      for (int k = 0; k < 50; k++) it ^= k * j;
      same &= it == c[i][j];
    }
  expect(same, "few iterations outside, many inside");
}

static void either_order(void)
{
  static int d[N][M];
#pragma omp target teams loop map(from : d)
  for (int i = 0; i < N; i++)
#pragma omp loop bind(parallel)
    for (int j = 0; j < M; j++) d[i][j] = i - j;
  int same = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) same &= d[i][j] == i - j;
  expect(same, "loops that leave it to the compiler");
}

int main(void)
{
#ifndef _OPENMP
  failures++;
#endif
  stencil();
  copies();
  collisions();
  few_outer();
  either_order();
  return failures != 0;
}
