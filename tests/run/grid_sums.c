// Sums that many groups of threads make together: all operators, types of all sizes, several at once, and
// groups in numbers that change from launch to launch.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 100003 };

static void all_operators(const double *x, const float *f, const signed char *c)
{
  double sum = 1, sum_there = 1;
  float most = -5, most_there = -5, least = 1e9f, least_there = 1e9f;
  long count = 2, count_there = 2;
  unsigned short wraps = 3, wraps_there = 3;
  signed char small = 0, small_there = 0;
  unsigned mixed = 5, mixed_there = 5;
  long long product = 1;
  int both = 1, either = 0;
  _Bool flag = 1;
  unsigned char bits = 0xff, marks = 0;
#pragma omp target teams distribute parallel for map(to : x[0 : N], f[0 : N], c[0 : N]) \
  reduction(+ : sum_there, count_there, wraps_there, small_there) reduction(max : most_there) \
  reduction(min : least_there) reduction(^ : mixed_there) reduction(&& : both, flag) reduction(|| : either) \
  reduction(* : product) reduction(& : bits) reduction(| : marks)
  for (int i = 0; i < N; i++) {
    sum_there += x[i];
    count_there += c[i];
    wraps_there += (unsigned short)i;
    small_there += c[i];
    if (f[i] > most_there) most_there = f[i];
    if (f[i] < least_there) least_there = f[i];
    mixed_there ^= i * 2654435761u;
    both = both && x[i] < 7;
    flag = flag && c[i] < 3;
    either = either || f[i] == 1000;
    if (i == 77 || i == 99999) product *= 3;
    if (i == 50000) bits &= 0xf7;
    if (i % 20000 == 0) marks |= 1 << i / 20000;
  }
  for (int i = 0; i < N; i++) {
    sum += x[i];
    count += c[i];
    wraps += (unsigned short)i;
    small += c[i];
    if (f[i] > most) most = f[i];
    if (f[i] < least) least = f[i];
    mixed ^= i * 2654435761u;
  }
  expect(sum_there == sum, "a sum of doubles");
  expect(most_there == most && least_there == least, "greatest and least float");
  expect(count_there == count && wraps_there == wraps && small_there == small, "sums of integers");
  expect(mixed_there == mixed && bits == 0xf7 && marks == 0x3f, "bits");
  expect(both == 1 && flag == 1 && either == 1, "conditions");
  expect(product == 9, "a product");
}

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  double *x = malloc(N * sizeof *x);
  float *f = malloc(N * sizeof *f);
  signed char *c = malloc(N);
  for (int i = 0; i < N; i++) {
    x[i] = i % 7;
    f[i] = (float)(i * 37 % 1001);
    c[i] = (signed char)(i % 3);
  }
  for (int turn = 0; turn < 3; turn++) all_operators(x, f, c);

  for (int teams = 1; teams < 70; teams += 13) {
    long sum = 0, most = 100;
    const int n = 1000 + teams;
#pragma omp target teams distribute parallel for num_teams(teams) reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < n; i++) {
      sum += i;
      if (i > most) most = i;
    }
    expect(sum == (long)n * (n - 1) / 2 && most == n - 1, "sums of so many groups");
  }

  double total = 0, want = 0;
#pragma omp target teams distribute map(to : x[0 : N]) reduction(+ : total)
  for (int k = 0; k < 40; k++) {
    double part = 0;
#pragma omp parallel for reduction(+ : part)
    for (int i = 0; i < 1000; i++) part += x[k * 1000 + i];
    total += part;
  }
  for (int i = 0; i < 40000; i++) want += x[i];
  expect(total == want, "teams that sum up what their threads have summed up");

  long none = 11;
#pragma omp target teams distribute parallel for reduction(+ : none)
  for (int i = 0; i < 0; i++) none += i;
  expect(none == 11, "a sum of nothing");
  free(x);
  free(f);
  free(c);
  return failures != 0;
}
