// Loops that host and devices run together: each iteration once, what devices have written comes back, sums are joined; also on cpu:separate*2.
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

typedef struct { double low, high; } range;
#pragma omp declare reduction(around : range : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low, \
                              omp_out.high = omp_in.high > omp_out.high ? omp_in.high : omp_out.high) \
    initializer(omp_priv = (range){ 1e300, -1e300 })

enum { N = 1000, ROWS = 37, COLUMNS = 19 };

static double table[ROWS][COLUMNS];
static long total;

static void rows(int n, const double *b, double *a)
{
  int mark = 1;
  double sum = 10;
#pragma omp target teams distribute parallel for ompx_coexecute firstprivate(mark) map(to: b[0:n]) map(tofrom: a[0:n]) reduction(+: sum)
  for (int i = 0; i < n; i++) {
    mark = 7;
    a[i] += 2 * b[i];
    sum += b[i];
  }
  int is_right = 1;
  for (int i = 0; i < n; i++) is_right &= a[i] == 3 * i;
  expect(is_right, "elements that follow the iterations");
  expect(sum == 10 + (double)n * (n - 1) / 2, "a sum that begins with 10");
  expect(mark == 1, "a copy of its own");
}

// Elements are found through a table, up and down: what is written is not known before.
static void scattered(int n, const int *to, int *a)
{
#pragma omp target teams loop ompx_coexecute map(to: to[0:n]) map(from: a[0:n])
  for (int i = n - 1; i >= 0; i--) a[to[i]] = i;
  int is_right = 1;
  for (int i = 0; i < n; i++) is_right &= a[to[i]] == i;
  expect(is_right, "elements that are found through a table");
}

static void two_dimensions(void)
{
  int count = 0, most = -1;
#pragma omp target teams distribute parallel for collapse(2) ompx_coexecute map(tofrom: table) reduction(+: count) reduction(max: most)
  for (unsigned char i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      table[i][j] = i * 100 + j;
      count++;
      most = i * 100 + j > most ? i * 100 + j : most;
    }
  int is_right = 1;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) is_right &= table[i][j] == i * 100 + j;
  expect(is_right, "rows of an array");
  expect(count == ROWS * COLUMNS && most == (ROWS - 1) * 100 + COLUMNS - 1, "two sums");
}

static void constructs(int n, const double *b)
{
  range all = { 5, 5 };
  double squares[4] = { 0 };
#pragma omp target ompx_coexecute map(to: b[0:n]) map(tofrom: all, squares)
  {
#pragma omp teams distribute parallel for reduction(around: all) reduction(+: squares) default(none) shared(b) firstprivate(n)
    for (size_t i = 0; i != (size_t)n; ++i) {
      if (b[i] < all.low) all.low = b[i];
      if (b[i] > all.high) all.high = b[i];
      squares[i % 4] += b[i] * b[i];
    }
  }
  double expected[4] = { 0 };
  for (int i = 0; i < n; i++) expected[i % 4] += b[i] * b[i];
  expect(all.low == 0 && all.high == n - 1, "a reduction of the user's own");
  expect(squares[0] == expected[0] && squares[3] == expected[3], "a reduction of an array");
}

static void steps(int from, int to, int by)
{
  int *seen = calloc(to + 8, sizeof *seen);
  total = 0;
#pragma omp target teams distribute parallel for ompx_coexecute map(tofrom: seen[0:to + 8]) reduction(+: total)
  for (int i = from; i <= to; i += by) {
    seen[i]++;
    total += i;
  }
  int is_right = 1;
  long expected = 0;
  for (int i = from; i <= to; i += by) expected += i;
  for (int i = 0; i < to + 8; i++) is_right &= seen[i] == (i >= from && i <= to && (i - from) % by == 0);
  expect(is_right && total == expected, "a loop with steps");
  free(seen);
}

// What cannot be shared runs on one device.
static void on_one(int n)
{
  int hits = 0, last = 0, mark = 1;
#pragma omp target teams distribute parallel for ompx_coexecute map(tofrom: hits) firstprivate(mark)
  for (int i = 0; i < n; i++) {
    mark = 7;
#pragma omp atomic
    hits++;
  }
#pragma omp target teams distribute parallel for ompx_coexecute lastprivate(last) map(tofrom: last)
  for (int i = 0; i < n; i++) last = i;
  expect(hits == n && last == n - 1 && mark == 1, "atomic updates and the last value");
}

// Data that are on the device stay there.
static void in_place(int n, double *a)
{
#pragma omp target data map(tofrom: a[0:n])
  {
#pragma omp target teams distribute parallel for ompx_coexecute map(tofrom: a[0:n])
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp target teams distribute parallel for ompx_coexecute map(tofrom: a[0:n])
    for (int i = 0; i < n; i++) a[i] += 1;
  }
  int is_right = 1;
  for (int i = 0; i < n; i++) is_right &= a[i] == i + 1;
  expect(is_right, "data that are there already");
}

int main(void)
{
  setenv("FERRY_COEXECUTE", "always", 0);
  double a[N], b[N];
  int to[N], found[N];
  for (int i = 0; i < N; i++) a[i] = b[i] = i, to[i] = (i * 7 + 3) % N;
  rows(N, b, a);
  scattered(N, to, found);
  two_dimensions();
  constructs(N, b);
  steps(3, 500, 7);
  steps(0, 1, 5);
  on_one(N);
  in_place(N, a);
  return failures != 0;
}
