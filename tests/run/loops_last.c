// What variables of loops hold behind them, where `lastprivate` asks for it: the value that ends the loop, as
// in the program without directives; a loop without iterations changes nothing. Iterations still see their own.
#include <omp.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static void one_loop(void)
{
  int i = -7, none = 0;
  unsigned char c = 99;
#pragma omp target teams distribute parallel for lastprivate(i)
  for (i = 0; i < 13; i += 4) continue;
  expect(i == 16, "a step");
#pragma omp target teams distribute parallel for lastprivate(i)
  for (i = 13; i > 0; i -= 5)
    ;
  expect(i == -2, "a loop that goes down");
#pragma omp target teams distribute parallel for lastprivate(i)
  for (i = 13; i != 20; i++)
    ;
  expect(i == 20, "a loop until a value is met");
#pragma omp target teams distribute parallel for lastprivate(c)
  for (c = 250; c >= 4; c -= 3)
    ;
  expect(c == 1, "a counter of one byte");
  i = -7;
#pragma omp target teams distribute parallel for lastprivate(i)
  for (i = 3; i < none; i++)
    ;
  expect(i == -7, "a loop without iterations");
#pragma omp target teams distribute parallel for schedule(dynamic) lastprivate(i)
  for (i = 3; i < 50; i++)
    ;
  expect(i == 50, "iterations for whoever comes first");
#pragma omp target teams distribute num_teams(3) lastprivate(i)
  for (i = 3; i < 51; i++)
    ;
  expect(i == 51, "iterations for teams");
#pragma omp target parallel for simd lastprivate(i)
  for (i = 3; i < 52; i++)
    ;
  expect(i == 52, "lanes of threads");
#pragma omp target teams loop lastprivate(i)
  for (i = 3; i < 53; i++)
    ;
  expect(i == 53, "a loop in any order");
  static int list[9];
  long way = -1;
#pragma omp target map(tofrom : list) map(from : way)
  {
    int *p;
#pragma omp parallel for lastprivate(p)
    for (p = list; p < list + 9; p += 2) ++*p;
    way = p - list;
  }
  expect(way == 10 && list[8] == 1 && list[7] == 0, "a pointer");
}

static void nests(void)
{
  enum { M = 13, N = 3 };
  static int seen[M][N];
  int i = -7, j = -7, none = 0, right = 1;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(i, j) map(tofrom : seen)
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      if ((i + j) % 4 == 0) continue;
      seen[i][j] += 10 * i + j;
    }
  expect(i == M && j == N, "two loops that are one");
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) right = right && seen[i][j] == ((i + j) % 4 == 0 ? 0 : 10 * i + j);
  expect(right, "iterations with variables of their own");
  int last = -1;
  i = -7;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(j, last)
  for (i = 3; i < 5; i++)
    for (j = 20; j >= 2; j -= 7) last = 100 * i + j;
  expect(i == -7 && j == -1 && last == 406, "the variable of the inner loop, and another");
  i = j = -7;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(i, j)
  for (i = 3; i < 5; i++)
    for (j = 2; j < none; j++)
      ;
  expect(i == -7 && j == -7, "two loops without iterations");
#pragma omp target teams num_teams(2) map(tofrom : i, j)
#pragma omp distribute collapse(2) lastprivate(i, j)
  for (i = 3; i < 50; i++)
    for (j = 0; j < 10; j += 3)
      ;
  expect(i == 50 && j == 12, "two loops for counted teams");
#pragma omp target simd collapse(2) map(tofrom : i, j)
  for (i = 3; i < 50; i += 2)
    for (j = 0; j < 5; j++)
      ;
  expect(i == 51 && j == 5, "lanes");
}

static void within(void)
{
  int i = -7, after[3] = {0}, grown = 1;
#pragma omp target map(tofrom : i, after)
  {
#pragma omp parallel for lastprivate(i)
    for (i = 3; i < 50; i += 3)
      ;
    after[0] = i;
#pragma omp simd
    for (i = 3; i < 60; i += 3)
      ;
    after[1] = i;
#pragma omp simd linear(i : 2)
    for (i = 3; i < 60; i += 2)
      ;
    after[2] = i;
  }
  expect(i == 61 && after[0] == 51 && after[1] == 60 && after[2] == 61, "loops inside a region");
#pragma omp target parallel for lastprivate(i) induction(step(2), * : grown) map(tofrom : grown)
  for (i = 0; i < 7; i += 2)
    ;
  expect(i == 8 && grown == 16, "a loop with a value that follows it");
}

static void kernels(void)
{
  enum { N = 40 };
  static int list[N];
  int i, end = 0;
#pragma acc kernels copy(list, end)
  {
    for (i = 0; i < N - 1; i += 3) list[i] = i;
    end = i;
  }
  expect(end == 39 && list[36] == 36 && list[37] == 0, "a loop that nobody has marked");
}

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  one_loop();
  nests();
  within();
  kernels();
  return failures != 0;
}
