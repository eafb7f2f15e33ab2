// What code of a region says about its teams: whether and how many there are, how many threads they are to have, what is
// cancelled, what is flushed.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

#pragma omp begin declare target
static void ask(int threads)
{
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
}
#pragma omp end declare target

static void sizes(void)
{
  int most = 0, set = 0, called = 0, clause = 0, limited = 0, sizes[3] = { 0 };
#pragma omp target map(tofrom : most, set, called, clause)
  {
    omp_set_num_threads(3);
    most = omp_get_max_threads();
#pragma omp parallel
#pragma omp single
    set = omp_get_num_threads();
    ask(2);
#pragma omp parallel
    {
#pragma omp single
      called = omp_get_num_threads();
    }
#pragma omp parallel num_threads(4)
    {
#pragma omp single
      clause = omp_get_num_threads();
    }
  }
  expect(most == 3 && set == 3 && called == 2 && clause == 4, "threads that a routine asks for");
#pragma omp target teams num_teams(3) thread_limit(4) map(tofrom : sizes)
  {
    int team = omp_get_team_num();
    if (team != 1) omp_set_num_threads(team + 2);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1 && team != 1) sizes[team] = omp_get_num_threads();
  }
  expect(sizes[0] == 2 && sizes[1] == 0 && sizes[2] == 4, "each team has its own");
#pragma omp target thread_limit(2) map(from : limited)
  {
    omp_set_num_threads(5);
    limited = omp_get_max_threads();
  }
  expect(limited >= 1 && limited <= 5, "not more than there may be");
}

static void leagues(void)
{
  int right = 1;
  for (int many = 0; many < 2; many++) {
    int counted = 0, uncounted = 0, inside = 0, sum = 0;
#pragma omp target teams if(teams : many) num_teams(3) map(tofrom : counted) reduction(+ : sum)
    {
      sum += 1;
      if (omp_get_team_num() == 0) counted = omp_get_num_teams();
    }
#pragma omp target teams if(teams : many) map(tofrom : uncounted)
    {
#pragma omp atomic
      uncounted++;
    }
#pragma omp target map(tofrom : inside)
#pragma omp teams num_teams(2) if(many)
    {
#pragma omp atomic
      inside++;
    }
    right &= counted == (many ? 3 : 1) && sum == counted && inside == (many ? 2 : 1);
    right &= many ? uncounted >= 1 : uncounted == 1;
  }
  expect(right, "leagues under a condition");
}

static void ends(void)
{
  int found = -1, input[200], flag = 0, value = 0, got = 0;
  for (int i = 0; i < 200; i++) input[i] = 3 * i;
#pragma omp target parallel map(to : input) map(tofrom : found)
  {
#pragma omp for
    for (int i = 0; i < 200; i++) {
      if (input[i] == 150) {
#pragma omp atomic write
        found = i;
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
  }
  expect(found == 50, "a loop that may be cancelled");
#pragma omp target parallel num_threads(2) map(tofrom : flag, value) map(from : got)
  {
#pragma omp masked
    {
      value = 42;
#pragma omp flush(value)
#pragma omp atomic write
      flag = 1;
    }
#pragma omp barrier
#pragma omp flush(flag, value)
#pragma omp masked filter(1)
    got = value + flag;
  }
  expect(got == 43, "variables that are flushed");
}

/* What a region is told of tasks and of the schedule that loops are left to. */
static void settings(void)
{
  int final = 1, kind = 0;
#pragma omp target map(from : final, kind)
  {
    omp_sched_t schedule;
    int chunk;
    omp_get_schedule(&schedule, &chunk);
    kind = (int)schedule & 0x7fffffff;
    final = omp_in_final();
  }
  expect(final == 0 && kind >= 1 && kind <= 4, "tasks and schedules");
}

int main(void)
{
  settings();
  sizes();
  leagues();
  ends();
  return wrong;
}
