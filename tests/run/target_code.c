// What code in a region may do: call functions of the file, through pointers; use types,
// labels and statics of its own; print; make tasks and critical sections; ask where it is.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#pragma omp declare target
static int calls;
static int twice(int x) { return 2 * x; }
int (*chosen)(int) = twice;
#pragma omp end declare target

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int inferred(const char *text) { return (int)strlen(text); }

int main(void)
{
  int doubled = 0, length = 0, level = -1, done = 0, team = -1, teams = 0;
  double root = 0;
#pragma omp target map(from : doubled, root, length)
  {
    calls++;
    doubled = chosen(twice(5));
    root = sqrt(2.25);
    length = inferred("seven..");
  }
  expect(doubled == 20 && root == 1.5 && length == 7, "functions");
#pragma omp target update from(calls)
  expect(calls == 1, "a variable of the device");

  struct pair { int a; struct { int b, c; }; } outside = { 1, { 2, 3 } };
  int found = 0;
#pragma omp target map(tofrom : outside, found)
  {
    struct pair inside = outside;
    enum { LIMIT = 10 };
    union { unsigned u; unsigned char bytes[4]; } view = { .u = 0x01020304 };
    int i = 0;
  again:
    i++;
    if (i < LIMIT) goto again;
    switch (i) {
    case LIMIT: found = inside.b + view.bytes[0] + ({ int x = i; x * 2; }); break;
    default: found = -1;
    }
    outside.c = found;
  }
  expect(found == 2 + 4 + 20 && outside.c == found, "types and jumps");

  int counter = 0, unguarded = 0, children = 0;
#pragma omp target map(tofrom : counter, unguarded, children) map(from : level)
  {
    level = omp_get_level();
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
      counter += 1;
#pragma omp atomic
      unguarded++;
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < 5; i++) {
#pragma omp task shared(children)
        {
#pragma omp atomic update
          children += i;
        }
      }
    }
  }
  expect(level == 0 && counter == 4 && unguarded == 4 && children == 10, "threads and tasks");

#pragma omp target teams num_teams(3) thread_limit(2) map(tofrom : teams) reduction(max : team)
  {
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
    team = omp_get_team_num();
  }
  expect(teams == 3 && team == 2, "teams");

  int order[3] = { 0 };
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait map(tofrom : order) depend(out : order)
    order[0] = 1;
#pragma omp target nowait map(tofrom : order) depend(inout : order)
    order[1] = order[0] + 1;
#pragma omp task depend(in : order) shared(order, done)
    done = order[1];
#pragma omp taskwait
  }
  expect(done == 2, "tasks wait for regions");
  return failures != 0;
}
