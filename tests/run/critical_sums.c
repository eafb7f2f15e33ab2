// Critical sections of devices that only sum something up, and some that do more.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 5000 };

int main(void)
{
  static int a[N];
  int known = 0, most = 0;
  for (int i = 0; i < N; i++) {
    a[i] = i * 37 % 1001;
    known += a[i];
    if (a[i] > most) most = a[i];
  }
  int sum = 5, largest = 0, turns = 0, last = -1;
#pragma omp target teams distribute parallel for map(tofrom : sum, largest) map(to : a)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    {
      sum += a[i];
      if (a[i] > largest) largest = a[i];
    }
  }
  expect(sum == known + 5, "a sum");
  expect(largest == most, "the largest");
  // Here the value of one turn is used in the same turn: it stays behind its lock.
#pragma omp target parallel for map(tofrom : turns, last) map(tofrom : a)
  for (int i = 0; i < N; i++) {
#pragma omp critical(door)
    {
      turns++;
      a[i] = turns;
      last = turns;
    }
  }
  long all = 0;
  for (int i = 0; i < N; i++) all += a[i];
  expect(turns == N && last == N, "each has its turn");
  expect(all == (long)N * (N + 1) / 2, "no two have the same");
  // Two sections, one variable.
  int both = 0;
#pragma omp target parallel for map(tofrom : both)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    both += 1;
#pragma omp critical
    both += i % 2;
  }
  expect(both == N + N / 2, "two sections of one sum");
#ifndef _OPENMP
  failures++;
#endif
  return failures != 0;
}
