// How many teams there are where that can be seen: each runs what stands outside loops, with copies of
// its own, and takes its share of loops for teams.
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

#define N 1000

static void counted(int teams)
{
  int count = 0, own = 3, wrong = 0, seen[N] = {0};
#pragma acc parallel num_gangs(teams) copy(count, wrong, seen)
  {
#pragma acc atomic update
    count++;
    own++;
    if (own != 4) {
#pragma acc atomic write
      wrong = 1;
    }
#pragma acc loop gang
    for (int i = 0; i < N; i++)
      seen[i] += own;
  }
  expect(count == teams, "as many teams as asked for");
  expect(!wrong, "each team has its own copy");
  expect(own == 3, "which nobody else sees");
  int once = 1;
  for (int i = 0; i < N; i++)
    once = once && seen[i] == 4;
  expect(once, "each iteration is run once");
}

static void summed(void)
{
  int teams = 10, product = 1, low = 100, sums[3] = {0, 0, 1};
  long all = 5;
#pragma acc parallel num_gangs(7) reduction(+ : teams, sums) reduction(* : product) reduction(min : low)
  {
    teams++;
    product *= 2;
    if (low > 50)
      low = 42;
    for (int i = 0; i < 3; i++)
      sums[i] += i;
  }
  expect(teams == 17 && product == 128 && low == 42, "reductions of all teams");
  expect(sums[0] == 0 && sums[1] == 7 && sums[2] == 15, "of arrays too");
  int count = 0;
#pragma acc parallel num_gangs(5) copy(all, count)
  {
#pragma acc atomic
    count++;
#pragma acc loop gang(static : 3) reduction(+ : all)
    for (int i = 0; i < N; i++)
      all += i;
  }
  expect(count == 5 && all == 5 + (long)N * (N - 1) / 2, "a loop's reduction");
}

/* A loop that names only workers, with no gang loop around or inside, is shared by gangs too. */
static void implied(void)
{
  int runs = 0;
#pragma acc parallel num_gangs(6) num_workers(4) copy(runs)
  {
#pragma acc loop worker
    for (int i = 0; i < 10; i++) {
#pragma acc atomic
      runs++;
    }
  }
  expect(runs == 10, "loops for threads, shared by teams");
}

static void dimensions(void)
{
  int inner = 0, outer = 0, cells[8][9] = {{0}};
#pragma acc parallel num_gangs(3, 4) copy(inner, outer, cells)
  {
#pragma acc loop gang(dim : 2)
    for (int i = 0; i < 8; i++) {
#pragma acc atomic
      outer++;
#pragma acc loop gang(dim : 1)
      for (int j = 0; j < 9; j++) {
        cells[i][j]++;
#pragma acc atomic
        inner++;
      }
    }
  }
  int once = 1;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 9; j++)
      once = once && cells[i][j] == 1;
  expect(once && inner == 72, "two dimensions of teams");
  expect(outer == 24, "teams of the other dimension run what is between");
}

static void parts(void)
{
  int *p = malloc(20 * sizeof *p), out[8], first = 0;
  for (int i = 0; i < 20; i++)
    p[i] = i;
#pragma acc parallel num_gangs(4) firstprivate(p[10:5]) copyout(out) copy(first)
  {
#pragma acc atomic
    first += p[10];
    p[10] = 1000;
#pragma acc loop gang
    for (int i = 0; i < 8; i++)
      out[i] = p[11] + i;
  }
  expect(first == 40 && p[10] == 10, "each team has its own part");
  int right = 1;
  for (int i = 0; i < 8; i++)
    right = right && out[i] == 11 + i;
  expect(right, "with its values");
#pragma acc parallel loop private(p[0:2]) copyout(out)
  for (int i = 0; i < 8; i++) {
    p[0] = i;
    p[1] = 2 * p[0];
    out[i] = p[1];
  }
  right = p[0] == 0 && p[1] == 1;
  for (int i = 0; i < 8; i++)
    right = right && out[i] == 2 * i;
  expect(right, "threads have their own parts");
#pragma acc serial firstprivate(p[0:20]) copy(first)
  {
    first = p[19];
    p[19] = 0;
  }
  expect(first == 19 && p[19] == 19, "so has one thread alone");
  free(p);
}

#pragma acc routine gang
static void fill(int *to, int *calls, int n)
{
#pragma acc atomic
  calls[0]++;
#pragma acc loop gang
  for (int i = 0; i < n; i++)
    to[i] += i;
}

#pragma acc routine(total) vector
static int total(const int *of, int n)
{
  int sum = 0;
#pragma acc loop vector reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += of[i];
  return sum;
}

static void routines(void)
{
  int a[N] = {0}, calls[1] = {0}, sums[10];
#pragma acc parallel num_gangs(9) copy(a, calls)
  fill(a, calls, N);
  int right = 1;
  for (int i = 0; i < N; i++)
    right = right && a[i] == i;
  expect(right && calls[0] == 9, "teams share the loop of a function");
  fill(a, calls, N);
  expect(a[N - 1] == 2 * (N - 1) && a[0] == 0, "which the host runs alone");
#pragma acc parallel loop gang copyin(a) copyout(sums)
  for (int i = 0; i < 10; i++)
    sums[i] = total(a, i);
  right = 1;
  for (int i = 0; i < 10; i++)
    right = right && sums[i] == i * (i - 1);
  expect(right, "a function with a loop for lanes");
}

int main(void)
{
  counted(13);
  counted(1);
  counted(70000);
  summed();
  implied();
  dimensions();
  parts();
  routines();
  return failures != 0;
}
