// Critical sections of devices that sum up into arrays, and some that do more than that.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 4000, BINS = 16, MANY = 100000 };
static int key[N];
static int large[MANY];

static void histogram(int *known)
{
  int bins[BINS] = {0}, total = 0;
  double weight[BINS] = {0};
#pragma omp target teams distribute parallel for map(tofrom : bins, weight, total) map(to : key)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    {
      bins[key[i]]++;
      weight[key[i]] += 0.5;
      total += 1;
    }
  }
  int bad = total != N;
  for (int b = 0; b < BINS; b++) bad += bins[b] != known[b] || weight[b] != known[b] * 0.5;
  expect(bad == 0, "a histogram");
}

static void far(int *restrict bins, const int *known)
{
  // Behind a pointer, under a condition, and too large to have a copy of for each thread.
#pragma omp target teams distribute parallel for map(tofrom : bins[0 : BINS], large) map(to : key)
  for (int i = 0; i < N; i++) {
#pragma omp critical(door)
    {
      if (i % 2 == 0) bins[key[i]] += 2;
      large[i * 25 % MANY] -= 3;
    }
  }
  int bad = 0, even[BINS] = {0};
  for (int i = 0; i < N; i += 2) even[key[i]] += 2;
  for (int b = 0; b < BINS; b++) bad += bins[b] != even[b];
  for (int i = 0; i < N; i++) bad += large[i * 25 % MANY] != -3;
  expect(bad == 0 && known[0] > 0, "arrays that stay where they are");
}

static void merged(const int *known)
{
  int bins[BINS] = {0};
  // Each thread counts for itself; what they have is added up in the end.
#pragma omp target parallel map(tofrom : bins) map(to : key)
  {
    int own[BINS] = {0};
#pragma omp for
    for (int i = 0; i < N; i++) own[key[i]]++;
#pragma omp critical
    for (int b = 0; b < BINS; b++) bins[b] += own[b];
  }
  int bad = 0;
  for (int b = 0; b < BINS; b++) bad += bins[b] != known[b];
  expect(bad == 0, "copies that are added up");
}

static void places(void)
{
  int next[BINS] = {0};
  static int slot[N];
  // The value of one turn is used in the same turn: it stays behind its lock.
#pragma omp target teams distribute parallel for map(tofrom : next, slot) map(to : key)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    {
      slot[i] = next[key[i]];
      next[key[i]] += 1;
    }
  }
  static int seen[BINS][N];
  int twice = 0;
  for (int i = 0; i < N; i++) twice += seen[key[i]][slot[i]]++;
  expect(twice == 0, "each has a place of its own");
}

static void chain(void)
{
  int one[2] = {0, 0}, two[2] = {0, 0}, apart = 0;
  // One section reads what the other changes: both must stay whole.
#pragma omp target parallel for map(tofrom : one, two, apart)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    {
      one[0] += 1;
      two[0] += 1;
    }
#pragma omp critical
    apart += one[0] != two[0];
  }
  expect(apart == 0 && one[0] == N && two[0] == N, "two that are always equal");
}

int main(void)
{
  int known[BINS] = {0};
  for (int i = 0; i < N; i++) {
    key[i] = i * 37 % 1001 % BINS;
    known[key[i]]++;
  }
  int bins[BINS] = {0};
  histogram(known);
  far(bins, known);
  merged(known);
  places();
  chain();
#ifndef _OPENMP
  failures++;
#endif
  return failures != 0;
}
