// Sections behind a lock that sum up into arrays, as indivisible accesses.
#include <stdio.h>

enum { N = 2000, BINS = 8 };
static int key[N], bins[BINS];
static double columns[4];

int main(void)
{
  int known[BINS] = {0}, bad = 0;
  for (int i = 0; i < N; i++) {
    key[i] = i * 37 % 101 % BINS;
    known[key[i]] += 3;
  }
#pragma omp target teams distribute parallel for map(tofrom : bins, columns) map(to : key)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    {
      bins[key[i]]++;
      bins[key[i]] += 2;
      for (int j = 0; j < 4; j++) columns[j] += j;
    }
  }
  for (int b = 0; b < BINS; b++) bad += bins[b] != known[b];
  for (int j = 0; j < 4; j++) bad += columns[j] != (double)N * j;
  if (bad) printf("%d are wrong\n", bad);
  return bad != 0;
}
