// Objects of which several clauses speak: a structure and what its pointers point to, arrays of
// structures with a mapper, pieces of one array; constants; counts that the host computes.
#include <omp.h>
#include <stdio.h>

struct view { int *x; int n; };
typedef struct { int length; int *data; } list;
#pragma omp declare mapper(list v) map(v.length) map(v.data[0 : v.length])

static const double weights[4] = { 1, 2, 3, 4 };
static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  int numbers[4] = { 1, 2, 3, 4 }, got = 0, on_device = 0;
  struct view v = { numbers, 7 }, *p = &v;
#pragma omp target map(tofrom : p[0 : 1]) map(to : p->x[0 : 4]) map(from : got)
  {
    got = p->x[3] * 10 + p->n;
    p->n = 9;
  }
  expect(got == 47 && v.n == 9 && v.x == numbers, "a structure and what it points to");

  int first[3] = { 1, 2, 3 }, second[2] = { 4, 5 };
  list lists[2] = { { 3, first }, { 2, second } };
#pragma omp target map(tofrom : lists) map(from : got)
  {
    got = lists[0].length * 1000 + lists[1].length * 100 + lists[0].data[2] * 10 + lists[1].data[1];
    lists[1].data[0] = 40;
  }
  expect(got == 3235 && second[0] == 40, "an array of structures with a mapper");

  int pieces[64] = { 0 };
#pragma omp target map(tofrom : pieces[2 : 3], pieces[32 : 4])
  {
    pieces[2] = 100;
    pieces[33] = 200;
  }
  expect(pieces[2] == 100 && pieces[33] == 200, "two pieces of one array");

  double sum = 0;
  int at = 2;
#pragma omp target map(tofrom : sum, on_device)
  {
    sum += weights[at] + weights[3];
    on_device = !omp_is_initial_device();
  }
  expect(sum == 7, "constants");

  struct { int teams, threads; } wanted = { 2, 3 }, *w = &wanted;
  int teams = 0;
#pragma omp target teams num_teams(w->teams) thread_limit(w->threads) map(tofrom : teams)
  if (omp_get_team_num() == 0) teams = omp_get_num_teams();
  expect(teams == 2, "the host computes how many");

  double halves[4] = { 0 }, *h = halves;
#pragma omp target parallel for reduction(+ : h[0 : 2])
  for (int i = 0; i < 10; i++) h[i % 2] += 1;
  expect(halves[0] == 5 && halves[1] == 5, "a reduction maps its section");

  int n = 2, row = 0;
#pragma omp target map(to : numbers) map(from : row)
  {
    int(*rows)[n] = (int(*)[n])numbers;
    row = rows[1][0] + (int)sizeof(char[n]);
    fprintf(stderr, "%s", "");
  }
  expect(row == 5, "lengths in types");
  expect(on_device, "the region runs on a device");
  return failures != 0;
}
