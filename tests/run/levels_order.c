// Loops that are marked as independent and certainly are not: they run in order, once.
#include <openacc.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 2000, M = 40 };

static long sums[N], table[M][M], line[M];

static void prefixes(void)
{
  for (int i = 0; i < N; i++) sums[i] = i;
#pragma acc parallel loop independent copy(sums)
  for (int i = 1; i < N; i++) sums[i] += sums[i - 1];
  expect(sums[N - 1] == (long)N * (N - 1) / 2, "independent by the user's word");
  for (int i = 0; i < N; i++) sums[i] = 1;
#pragma acc parallel num_gangs(8) copy(sums)
  {
#pragma acc loop gang
    for (int i = 1; i < N; i++) sums[i] += sums[i - 1];
#pragma acc loop gang
    for (int i = 0; i < N; i++) sums[i] *= 2;
  }
  expect(sums[N - 1] == 2 * N, "dealt to teams by the user's word");
  for (int i = 0; i < N; i++) sums[i] = 3 * i;
#pragma acc parallel loop vector copy(sums)
  for (int i = 0; i < N - 1; i++) sums[i] = sums[i + 1] - sums[i];
  expect(sums[0] == 3 && sums[N - 2] == 3 && sums[N - 1] == 3 * (N - 1), "read before it is changed");
}

// A triangle: each row needs those above it.
static void triangle(int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) table[i][j] = i == j;
#pragma acc data copy(table) create(line)
  {
    expect(acc_is_present(line, sizeof line), "on the device");
#pragma acc parallel
    {
#pragma acc loop
      for (int i = 0; i < n; i++) {
        long sum = 1;
        for (int j = 0; j < i; j++) sum += table[i][j];
        line[i] = sum % 1000;
        for (int j = i + 1; j < n; j++) table[j][i] = line[i] + j;
      }
    }
  }
  long wrong = 0;
  static long mine[M][M];
  for (int i = 0; i < n; i++) {
    long sum = 1;
    for (int j = 0; j < i; j++) sum += mine[i][j];
    for (int j = i + 1; j < n; j++) mine[j][i] = sum % 1000 + j;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) wrong += mine[i][j] != table[i][j];
  expect(!wrong, "a triangle");
}

// Elements that several rounds of an inner loop add to; the outer iterations are independent.
static void inner(void)
{
#pragma acc parallel loop copyout(line)
  for (int i = 0; i < M; i++) {
    line[i] = 0;
#pragma acc loop
    for (int j = 0; j < 100; j++) line[i] += j;
  }
  int host = 1;
#pragma acc serial copyout(host)
  host = acc_on_device(acc_device_host);
  expect(!host, "somewhere else");
  expect(line[0] == 4950 && line[M - 1] == 4950, "a sum in an element");
}

int main(void)
{
  prefixes();
  triangle(M);
  inner();
  return failures != 0;
}
