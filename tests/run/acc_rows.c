// Rows behind an array of pointers: queued, on conditions that change, and two arrays at once; and storage that begins as
// zeros, on conditions.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

/* Whether devices see the host's memory: there is nothing to copy, and all is present. */
static int shares;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 6, M = 9 };

static double **made(double first)
{
  double **rows = malloc(N * sizeof *rows);
  for (int i = 0; i < N; i++) {
    rows[i] = malloc(M * sizeof **rows);
    for (int j = 0; j < M; j++) rows[i][j] = first + i;
  }
  return rows;
}

static int is_all(double **rows, double first)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (rows[i][j] != first + i) return 0;
  return 1;
}

static void queued(void)
{
  double **a = made(1), **b = made(10);
#pragma acc parallel loop copy(a[0:N][0:M]) copyin(b[0:N][0:M]) async(1)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] += b[i][j] - i;
#pragma acc wait(1)
  expect(is_all(a, 11), "a queued region with rows of its own");
}

/* Answers differently each time. */
static int turn;
static int next(void) { return turn++ % 2; }

static void conditional(int yes)
{
  double **a = made(1);
#pragma acc enter data copyin(a[0:N][0:M])
  a[1][1] = 77;
#pragma acc update device(a[0:N][0:M]) if (!yes)
#pragma acc update self(a[0:N][0:M]) if (yes)
  expect(shares || a[1][1] == 2, "copies of rows on a condition");
  a[1][1] = 2;
#pragma acc exit data copyout(a[0:N][0:M]) if (yes)
  expect(shares || !acc_is_present(a[0], 1), "an end on a condition that holds");
#pragma acc enter data copyin(a[0:N][0:M]) if (next())
  expect((shares || !acc_is_present(a[0], 1)) && turn == 1, "a beginning on a condition that is asked once");

  /* The condition changes before the end. */
#pragma acc data copy(a[0:N][0:M]) if (yes)
  {
    yes = 0;
#pragma acc parallel loop present(a[0:N][0:M])
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) a[i][j] += 4;
  }
  expect(is_all(a, 5) && (shares || !acc_is_present(a[0], 1)), "a condition that changes");
#pragma acc parallel loop copy(a[0:N][0:M]) if (yes)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] += 4;
  expect(is_all(a, 9), "a region that stays on the host");
}

static void zeros(int yes)
{
  double list[N] = {1, 2, 3, 4, 5, 6};
#pragma acc enter data create(zero : list) if (!yes)
  expect(shares || !acc_is_present(list, sizeof list), "zeros on a condition that does not hold");
#pragma acc parallel loop copyout(zero : list) async(3)
  for (int i = 0; i < N; i += 2) list[i] += i + 1;
#pragma acc wait
  expect(shares || (list[0] == 1 && list[1] == 0 && list[4] == 5), "zeros of a queued region");
  int count = 7;
#pragma acc parallel copyout(zero : count)
  count += 2;
  expect(shares || count == 2, "a number that begins as zero");
}

int main(void)
{
  int there = 0, probe = 1;
#pragma acc enter data copyin(probe)
  probe = 2;
#pragma acc update self(probe)
  shares = probe == 2;
#pragma acc exit data delete(probe)
#pragma acc parallel copyout(there)
  there = acc_on_device(acc_device_not_host);
  expect(there, "regions leave the host");
  queued();
  conditional(1);
  zeros(1);
  return failures != 0;
}
