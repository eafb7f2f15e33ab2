// Products of matrices that do not fit a core's caches: on cores every thread runs the rows whole and has columns of its
// own. Whoever has which, each element comes out as it does in order, and counters of the caller keep their values.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

// No count of threads divides the columns.
enum { ROWS = 90, COLUMNS = 701, INNER = 397 };
static double a[ROWS][INNER], b[INNER][COLUMNS], c[ROWS][COLUMNS], known[ROWS][COLUMNS];

static void prepare(void)
{
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < INNER; k++) a[i][k] = (i * 5 + k * 3) % 17 - 8;
  for (int k = 0; k < INNER; k++)
    for (int j = 0; j < COLUMNS; j++) b[k][j] = (k * 7 + j) % 13 - 6;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      double sum = 0;
      for (int k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
      known[i][j] = sum;
    }
}

static void compare(const char *what)
{
  int same = 1;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      same &= c[i][j] == known[i][j];
      c[i][j] = -1;
    }
  expect(same, what);
}

static void teams(void)
{
#pragma omp target teams distribute map(to : a, b) map(from : c) num_teams(5)
  for (int i = 0; i < ROWS; i++) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int j = 0; j < COLUMNS; j++) {
      double sum = 0;
      for (int k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
  compare("teams and threads");
}

static void counters(void)
{
  int i = -1, j = -2, k = -3;
  double sum = -4;
#pragma omp target teams distribute map(to : a, b) map(from : c) private(sum)
  for (i = 0; i < ROWS; i++)
#pragma omp parallel for private(k, sum)
    for (j = 0; j < COLUMNS; j++) {
      sum = 0;
      for (k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  compare("variables from outside");
  expect(i == -1 && j == -2 && k == -3 && sum == -4, "what threads have for themselves does not come out");
}

static void kernels(void)
{
  int i, j, k;
#pragma acc kernels copyin(a, b) copyout(c)
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLUMNS; j++) {
      double sum = 0;
      for (k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  compare("loops that the compiler finds");
}

static void one_after_another(void)
{
  static double d[ROWS][COLUMNS];
#pragma acc kernels copyin(a, b) create(d) copyout(c)
  {
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) {
        double sum = 0;
        for (int k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
        d[i][j] = sum;
      }
    // Other columns than the thread's own: nobody may begin before all are done.
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) c[i][j] = d[i][COLUMNS - 1 - j];
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS / 2; j++) {
      double it = c[i][j];
      c[i][j] = c[i][COLUMNS - 1 - j];
      c[i][COLUMNS - 1 - j] = it;
    }
  compare("two nests");
}

static void loops(void)
{
#pragma acc parallel loop copyin(a, b) copyout(c)
  for (int i = 0; i < ROWS; i++)
#pragma acc loop
    for (int j = 0; j < COLUMNS; j++) {
      double sum = 0;
      for (int k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  compare("loops that leave it to the compiler");
}

int main(void)
{
#ifndef _OPENMP
  failures++;
#endif
  prepare();
  teams();
  counters();
  kernels();
  one_after_another();
  loops();
  return failures != 0;
}
