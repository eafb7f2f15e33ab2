// Loops at every level: iterations are dealt once whatever is asked for, each thread has its own
// variables, and sums of all come back.
#include <complex.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

#define N 1000

/* Copies of its own that a construct makes keep what it does from being seen. */
static void copies(void)
{
  int scalar = 5, array[4] = {1, 2, 3, 4}, out[N];
#pragma acc parallel loop firstprivate(array) copyout(out)
  for (int i = 0; i < N; i++) {
    scalar = i;
    array[i % 4] = scalar;
    out[i] = array[i % 4];
  }
  expect(scalar == 5, "a scalar is the region's own");
  expect(array[0] == 1 && array[3] == 4, "firstprivate array");
  for (int i = 0; i < N; i++)
    if (out[i] != i) {
      expect(0, "values of own copies");
      break;
    }
}

/* Variables that count inner loops and private ones are not shared by the threads around. */
static void inner(void)
{
  int i, j, kept = 7;
  long sum[N];
#pragma acc parallel loop gang copyout(sum) private(kept)
  for (i = 0; i < N; i++) {
    long total = 0;
    kept = 0;
#pragma acc loop vector reduction(+ : total)
    for (j = 0; j < i; j++)
      total += j;
#pragma acc loop seq
    for (j = 0; j < 3; j++)
      kept += j;
    sum[i] = total + kept;
  }
  expect(kept == 7, "private on a loop");
  int wrong = 0;
  for (i = 0; i < N; i++)
    wrong += sum[i] != (long)i * (i - 1) / 2 + 3;
  expect(!wrong, "inner loops");
}

static void sums(void)
{
  int largest = -1, every = 1;
  unsigned bits = 0;
  double sum = 1;
  double complex turn = 0;
  int buckets[4] = {0};
#pragma acc parallel loop reduction(max : largest) reduction(&& : every) reduction(| : bits) \
    reduction(+ : sum, turn, buckets)
  for (int i = 0; i < N; i++) {
    if (i > largest)
      largest = i;
    every = every && i < N;
    bits |= 1u << i % 8;
    sum += 0.5;
    turn += 1 + 2 * I;
    buckets[i % 4]++;
  }
  expect(largest == N - 1 && every && bits == 255, "max, and, or");
  expect(sum == 1 + N / 2, "a sum of floating values");
  expect(turn == N + 2 * N * I, "a sum of complex values");
  expect(buckets[0] == N / 4 && buckets[3] == N / 4, "a sum of arrays");
}

static void shapes(void)
{
  int a[20][30], b[20][30];
#pragma acc parallel loop collapse(2) copyout(a)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++)
      a[i][j] = i * 30 + j;
#pragma acc parallel loop tile(4, *) copyin(a) copyout(b)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++)
      b[i][j] = a[i][j] + 1;
  int wrong = 0;
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++)
      wrong += b[i][j] != i * 30 + j + 1;
  expect(!wrong, "collapse and tile");
}

/* On the host if told so; then nothing is copied. */
static void conditions(int no)
{
  int seen = 0;
#pragma acc serial if (no) copy(seen)
  seen++;
#pragma acc serial self(!no) copy(seen)
  seen++;
#pragma acc serial self copy(seen)
  seen++;
  expect(seen == 3, "conditions");
}

int main(void)
{
  copies();
  inner();
  sums();
  shapes();
  conditions(0);
  return failures != 0;
}
