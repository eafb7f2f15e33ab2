// Elements of arrays that many threads change atomically and nobody looks at, in all ways that have an order nobody can tell;
// arrays, pointers with and without a length that the region knows, elements of all sizes, and some that are looked at.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 30000
#define BINS 61

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static unsigned mixed(unsigned i) { return i * 2654435761u >> 7; }
#pragma omp declare target to(mixed)

int main(void)
{
  int count[BINS] = { 0 }, least[BINS], teams = 0, seen[BINS] = { 0 };
  double sum[BINS] = { 0 }, most[BINS];
  unsigned ors[BINS] = { 0 }, ands[BINS], *xors = calloc(BINS, sizeof *xors);
  long *far = calloc(100000, sizeof *far);
  unsigned char *small = calloc(BINS, 1);
  for (int b = 0; b < BINS; b++) least[b] = 1 << 30, most[b] = -1, ands[b] = ~0u;
#pragma omp target teams num_teams(5) map(tofrom : teams)
  if (omp_get_team_num() == 0) teams = omp_get_num_teams();
#pragma omp target data map(tofrom : xors[0 : BINS], far[0 : 100000], small[0 : BINS])
#pragma omp target teams distribute parallel for map(tofrom : count, least, sum, most, ors, ands, seen, teams)
  for (int i = 0; i < N; i++) {
    const unsigned x = mixed(i);
    const int b = x % BINS;
#pragma omp atomic
    count[b]++;
#pragma omp atomic
    sum[b] -= 0.5 * (x % 16);
#pragma omp atomic compare
    least[b] = least[b] > (int)(x % 9999) ? (int)(x % 9999) : least[b];
#pragma omp atomic compare
    if (most[b] < (double)(x % 7777)) { most[b] = (double)(x % 7777); }
#pragma omp atomic
    ors[b] |= 1u << i % 32;
#pragma omp atomic
    ands[b] &= x | 0xff00;
#pragma omp atomic
    xors[b] ^= x;
#pragma omp atomic
    far[x % 100000] += 1;
#pragma omp atomic
    small[b] += 1;
    int now;
#pragma omp atomic capture
    now = ++seen[b];
    if (now < 1) teams = -1;
  }
  int right_count[BINS] = { 0 }, right_least[BINS];
  double right_sum[BINS] = { 0 }, right_most[BINS];
  unsigned right_ors[BINS] = { 0 }, right_ands[BINS], right_xors[BINS] = { 0 };
  long *right_far = calloc(100000, sizeof *right_far);
  for (int b = 0; b < BINS; b++) right_least[b] = 1 << 30, right_most[b] = -1, right_ands[b] = ~0u;
  for (int i = 0; i < N; i++) {
    const unsigned x = mixed(i);
    const int b = x % BINS;
    right_count[b]++;
    right_sum[b] -= 0.5 * (x % 16);
    if ((int)(x % 9999) < right_least[b]) right_least[b] = x % 9999;
    if (x % 7777 > right_most[b]) right_most[b] = x % 7777;
    right_ors[b] |= 1u << i % 32;
    right_ands[b] &= x | 0xff00;
    right_xors[b] ^= x;
    right_far[x % 100000]++;
  }
  int sums = 1, extremes = 1, bits = 1, others = 1, wide = 1;
  for (int b = 0; b < BINS; b++) {
    sums &= count[b] == right_count[b] && sum[b] == right_sum[b];
    extremes &= least[b] == right_least[b] && most[b] == right_most[b];
    bits &= ors[b] == right_ors[b] && ands[b] == right_ands[b] && xors[b] == right_xors[b];
    others &= small[b] == (unsigned char)right_count[b] && seen[b] == right_count[b];
  }
  for (int i = 0; i < 100000; i++) wide &= far[i] == right_far[i];
  expect(teams == 5, "teams");
  expect(sums, "sums");
  expect(extremes, "least and most");
  expect(bits, "bits");
  expect(others, "small elements, and some that are looked at");
  expect(wide, "many elements");
  free(xors), free(far), free(small), free(right_far);
  if (failures == 0) puts("ok");
  return failures != 0;
}
