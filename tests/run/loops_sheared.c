// Nests whose inner loop always has as many iterations, from another one on each time.
#include <omp.h>
#include <stdio.h>

#define N 9
#define WIDTH 6

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  int hit[N][N + WIDTH] = { { 0 } }, is_away = 0;
  long sum = 5, right = 5;
#pragma acc kernels loop reduction(+ : sum) copy(hit)
  for (long i = 0; i < N; i++)
#pragma acc loop reduction(+ : sum)
    for (long j = i - 2; j < i + WIDTH - 2; j++) {
      hit[i][j + 2] += 1 + i;
      sum += i + 2 * j;
    }
#pragma acc parallel loop copy(hit) reduction(+ : sum)
  for (int i = 0; i < 1; i++)
#pragma acc loop
    for (int j = i + 1; j <= i + WIDTH; j++) hit[i][j - 1] += 10;
#pragma omp target teams distribute map(tofrom : hit) map(from : is_away)
  for (int i = 0; i < N; i++) {
#pragma omp parallel for
    for (int j = i + WIDTH - 1; j >= i; j--) hit[i][j] += 100;
    if (i == 0) is_away = !omp_is_initial_device();
  }
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N + WIDTH; j++) {
      int is_in = j >= i && j < i + WIDTH;
      if (is_in) right += i + 2 * (j - 2);
      if (hit[i][j] != is_in * (101 + i) + 10 * (i == 0 && j < WIDTH)) wrong++;
    }
  expect(wrong == 0, "each iteration once");
  expect(sum == right, "the sum of all");
  expect(is_away, "it runs on a device");
  return failures != 0;
}
