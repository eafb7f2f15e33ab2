// Loops of tasks that host and devices run together: what no clause names is what it is to a task, sums are joined, alone and inside of `parallel`.
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

enum { N = 1000 };

static int found;
static int squares[N];
static struct { int first, last; } ends;

// Alone: local variables are copies, static ones are shared.
static void alone(int n)
{
  int mark = 1, own[4] = { 1, 2, 3, 4 };
  long sum = 5;
#pragma omp taskloop ompx_coexecute grainsize(7) priority(1) reduction(+: sum)
  for (int i = 0; i < n; i++) {
    mark = own[i % 4] = i;
    squares[i] = i * i;
    if (i == 700) found = mark + own[0] * 0;
    if (i == 0) ends.first = 10;
    if (i == n - 1) ends.last = 20;
    sum += i;
  }
  int is_right = 1;
  for (int i = 0; i < n; i++) is_right &= squares[i] == i * i;
  expect(is_right, "a static array");
  expect(mark == 1 && own[0] == 1 && own[3] == 4, "copies of local variables");
  expect(found == 700, "a static variable");
  expect(ends.first == 10 && ends.last == 20, "a static structure");
  expect(sum == 5 + (long)n * (n - 1) / 2, "a sum");
}

// Threads share local variables of the code around.
static void in_parallel(int n, const double *b, double *a)
{
  double sum = 10;
  int seen = 0, tall[N];
  unsigned bits = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskloop ompx_coexecute num_tasks(5) map(to: b[0:n]) map(tofrom: a[0:n]) reduction(+: sum) reduction(|: bits)
    for (int i = n - 1; i >= 0; i--) {
      a[i] += 2 * b[i];
      tall[i] = -i;
      if (i == 900) seen = i;
      sum += b[i];
      bits |= 1u << (i % 20);
    }
  }
  int is_right = 1;
  for (int i = 0; i < n; i++) is_right &= a[i] == 3 * i && tall[i] == -i;
  expect(is_right, "elements, among threads");
  expect(seen == 900, "a variable that threads share");
  expect(sum == 10 + (double)n * (n - 1) / 2 && bits == 0xfffff, "sums, among threads");
}

// Each thread has a loop of its own: one of them at a time is shared with devices.
static void by_all(int n)
{
  int *rows = malloc(4 * n * sizeof *rows), total = 0;
#pragma omp parallel for num_threads(4) reduction(+: total)
  for (int row = 0; row < 4; row++) {
    int *at = rows + row * n, count = 0;
#pragma omp taskloop ompx_coexecute map(from: at[0:n]) reduction(+: count)
    for (int i = 0; i < n; i++) {
      at[i] = row * n + i;
      count++;
    }
    total += count;
  }
  int is_right = 1;
  for (int i = 0; i < 4 * n; i++) is_right &= rows[i] == i;
  expect(is_right && total == 4 * n, "a loop of each thread");
  free(rows);
}

int main(void)
{
  setenv("FERRY_COEXECUTE", "always", 0);
  double a[N], b[N];
  for (int i = 0; i < N; i++) a[i] = b[i] = i;
  alone(N);
  in_parallel(N, b, a);
  by_all(N);
  return failures != 0;
}
