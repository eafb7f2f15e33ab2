// As many teams and threads as are asked for, and they know who they are: numbers, counts, limits, levels, and which
// iterations each of them gets by its schedule.
#include <omp.h>
#include <stdio.h>

enum { N = 60 };
static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

static void leagues(int asked)
{
  int seen[8] = { 0 }, counts[8] = { 0 }, on_device = 0;
#pragma omp target teams num_teams(5) map(tofrom : seen, counts, on_device)
  {
    int team = omp_get_team_num();
    seen[team] += team + 1;
    counts[team] = omp_get_num_teams();
    if (team == 0) on_device = !omp_is_initial_device();
  }
  int right = on_device;
  for (int i = 0; i < 8; i++) right &= seen[i] == (i < 5 ? i + 1 : 0) && counts[i] == (i < 5 ? 5 : 0);
  expect(right, "five teams");
  int own[3] = { 0 };
#pragma omp target teams num_teams(asked) thread_limit(4) map(tofrom : own)
  {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1 + 100 * (omp_get_num_threads() > 4) + 100 * (omp_get_thread_limit() > 4);
    own[omp_get_team_num()] = threads;
  }
  expect(own[0] >= 1 && own[0] <= 4 && own[1] == own[0] && own[2] == own[0], "a limit on threads");
  int whose[N];
#pragma omp target teams distribute num_teams(4) dist_schedule(static, 3) map(from : whose)
  for (int i = 0; i < N; i++) whose[i] = omp_get_team_num();
  right = 1;
  for (int i = 0; i < N; i++) right &= whose[i] == i / 3 % 4;
  expect(right, "chunks of teams");
  int total = 7;
#pragma omp target teams num_teams(6) reduction(+ : total) map(tofrom : total)
  total += omp_get_team_num();
  expect(total == 7 + 15, "a sum over teams");
}

static void threads(int asked)
{
  int seen[8] = { 0 }, count = 0, outside = -1, level = -1, inside = 0;
#pragma omp target map(tofrom : seen, count, outside, level, inside)
  {
    outside = omp_get_thread_num() + omp_get_num_threads() - 1 + omp_in_parallel() + omp_get_level();
#pragma omp parallel num_threads(asked)
    {
      seen[omp_get_thread_num()] += omp_get_thread_num() + 1;
#pragma omp single
      {
        count = omp_get_num_threads();
        level = omp_get_level();
        inside = omp_in_parallel();
      }
    }
  }
  expect(outside == 0 && level == 1 && inside, "outside and inside of a team");
  expect(count == 3 && seen[0] == 1 && seen[1] == 2 && seen[2] == 3 && seen[3] == 0, "three threads");
  int whose[N], right = 1;
#pragma omp target parallel for num_threads(4) schedule(static, 5) map(from : whose)
  for (int i = 0; i < N; i++) whose[i] = omp_get_thread_num();
  for (int i = 0; i < N; i++) right &= whose[i] == i / 5 % 4;
  expect(right, "chunks of threads");
#pragma omp target parallel for num_threads(4) schedule(static) map(from : whose)
  for (int i = N - 1; i >= 0; i--) whose[i] = omp_get_thread_num();
  right = 1;
  for (int i = 0; i < N; i++) right &= whose[i] == (N - 1 - i) / (N / 4);
  expect(right, "blocks of threads, downwards");
  int one = 0;
#pragma omp target map(tofrom : one)
#pragma omp parallel num_threads(4) if (asked < 0)
  one += omp_get_num_threads();
  expect(one == 1, "a team of one, by a condition");
  int nested = 0;
#pragma omp target map(tofrom : nested)
#pragma omp parallel num_threads(2)
  {
    int mine = omp_get_thread_num();
#pragma omp parallel num_threads(1)
    {
      int is_right = omp_get_level() == 2 && omp_get_thread_num() == 0 && omp_get_num_threads() == 1
        && omp_get_ancestor_thread_num(1) == mine && omp_get_ancestor_thread_num(2) == 0
        && omp_get_team_size(1) == 2 && omp_get_team_size(2) == 1 && omp_get_ancestor_thread_num(3) == -1;
#pragma omp atomic
      nested += is_right;
    }
  }
  expect(nested == 2, "a team inside a team");
}

typedef struct { int n; double sum; } pair;
#pragma omp declare reduction(join : pair : omp_out.n += omp_in.n, omp_out.sum += omp_in.sum) initializer(omp_priv = { 0, 0 })

/* Fewer iterations than a piece has: one thread gets all of them. */
static void short_loops(void)
{
  int a[3] = { 105, 7, 9 }, on_device = 0;
  pair one = { 7, 23 }, two = { 1, 2 };
#pragma omp target parallel for schedule(dynamic, 2) reduction(join : one) map(to : a) map(tofrom : one, on_device)
  for (int i = 0; i < 1; i++) {
    one.n++, one.sum += a[i];
    on_device = !omp_is_initial_device();
  }
#pragma omp target parallel for schedule(static, 5) reduction(join : two) map(to : a) map(tofrom : two)
  for (int i = 0; i < 3; i++) two.n++, two.sum += a[i];
  expect(on_device && one.n == 8 && one.sum == 128 && two.n == 4 && two.sum == 123, "fewer iterations than a piece has");
}

int main(void)
{
  leagues(3);
  short_loops();
  threads(3);
  if (!wrong) puts("right");
  return wrong;
}
