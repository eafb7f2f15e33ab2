// What a map clause says beside names (its mapper, `always`, `present`, iterators) holds on a directive whose other clauses
// are about its loops, wherever they stand, and whatever is made of the loops.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, M = 12 };
static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Whether the device has memory of its own. */
static int is_apart(void)
{
  int seen = 1;
#pragma omp target map(to : seen)
  seen = 2;
  return seen == 1;
}

struct list { int n; double *at; short left; };
#pragma omp declare mapper(whole : struct list it) map(to : it.n) map(tofrom : it.at[0 : it.n]) map(alloc : it.left)

static void a_mapper(void)
{
  struct list *lists = malloc(2 * sizeof *lists);
  for (int l = 0; l < 2; l++) {
    lists[l].n = N, lists[l].at = malloc(N * sizeof(double)), lists[l].left = 5;
    for (int i = 0; i < N; i++)
      lists[l].at[i] = l + i;
  }
  double sum = 0;
#pragma omp target teams distribute parallel for num_teams(4) reduction(+ : sum) schedule(static, 2) \
  map(mapper(whole), tofrom : lists[0 : 2])
  for (int i = 0; i < N; i++) {
    lists[0].at[i] += 1;
    lists[1].at[i] *= 2;
    sum += lists[0].at[i] + lists[1].at[i];
  }
  double right = 0;
  int same = 1;
  for (int i = 0; i < N; i++) {
    same &= lists[0].at[i] == i + 1 && lists[1].at[i] == 2.0 * (1 + i);
    right += i + 1 + 2.0 * (1 + i);
  }
  expect(same && sum == right, "a mapper behind reduction and schedule");
#pragma omp target teams distribute parallel for collapse(2) map(mapper(whole), tofrom : lists[0 : 2]) num_teams(3)
  for (int i = 0; i < N / 8; i++)
    for (int j = 0; j < 8; j++)
      lists[0].at[i * 8 + j] -= lists[1].at[8 * i + j];
  same = 1;
  for (int i = 0; i < N; i++)
    same &= lists[0].at[i] == i + 1 - 2.0 * (1 + i);
  expect(same, "a mapper between collapse and num_teams");
  free(lists[0].at), free(lists[1].at), free(lists);
}

static void always(int apart)
{
  int a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = b[i] = i;
#pragma omp target data map(to : a, b)
  {
    for (int i = 0; i < N; i++)
      a[i] = b[i] = 100 + i;
    /* `a` goes there again and comes back though it is there; `b` neither. */
#pragma omp target teams distribute parallel for collapse(2) num_teams(2) thread_limit(64) map(always, tofrom : a) \
  map(tofrom : b)
    for (int i = 0; i < N / 4; i++)
      for (int j = 0; j < 4; j++)
        a[4 * i + j] += 1000, b[4 * i + j] += 1000;
    int same = 1;
    for (int i = 0; i < N; i++)
      same &= a[i] == 1100 + i && b[i] == (apart ? 100 + i : 1100 + i);
    expect(same, "always, behind collapse and sizes");
  }
  int most = 0;
#pragma omp target enter data map(to : a)
  for (int i = 0; i < N; i++)
    a[i] = i * 7 % N;
#pragma omp target parallel for simd reduction(max : most) map(tofrom : most) map(always to : a) safelen(8)
  for (int i = 0; i < N; i++)
    most = a[i] > most ? a[i] : most;
#pragma omp target exit data map(release : a)
  expect(most == N - 1, "always, before safelen and behind a reduction");
}

static void iterators(void)
{
  double *rows[M];
  for (int i = 0; i < M; i++) {
    rows[i] = malloc(N * sizeof(double));
    for (int j = 0; j < N; j++)
      rows[i][j] = i + j;
  }
#pragma omp target teams distribute parallel for collapse(2) map(to : rows) \
  map(iterator(int i = 0 : M), tofrom : rows[i][0 : N]) schedule(static)
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      rows[i][j] *= 3;
  int same = 1;
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < N; j++)
      same &= rows[i][j] == 3.0 * (i + j);
    free(rows[i]);
  }
  expect(same, "an iterator behind collapse");
}

int main(void)
{
  const int apart = is_apart();
  a_mapper();
  always(apart);
  iterators();
  int teams = 0;
#pragma omp target teams num_teams(2) map(tofrom : teams) reduction(+ : teams)
  teams++;
  expect(teams == 2, "two teams");
  if (!failures)
    printf("right\n");
  return failures != 0;
}
