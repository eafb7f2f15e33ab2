// Sizes of teams, threads and chunks that were tuned for another device: each iteration runs once, whatever they
// say, and where code can see who runs it, it sees what was asked for.
#include <omp.h>
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

#define N 3000

static int seen[N];

static int all_are(int value)
{
  for (int i = 0; i < N; i++)
    if (seen[i] != value)
      return 0;
  return 1;
}

static void unseen(int teams)
{
  long sum = 5;
#pragma omp target teams distribute parallel for num_teams(1024) thread_limit(256) map(tofrom : seen)
  for (int i = 0; i < N; i++)
    seen[i] += 1;
  expect(all_are(1), "more teams than cores");
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(256) schedule(static, 1) \
    map(tofrom : seen, sum) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    seen[i] += 1;
    sum += i;
  }
  expect(all_are(2) && sum == 5 + (long)N * (N - 1) / 2, "iterations in turn");
#pragma omp target teams distribute parallel for dist_schedule(static, 256) schedule(static, 1) map(tofrom : seen)
  for (int i = N - 1; i >= 0; i--)
    seen[i] += 1;
  expect(all_are(3), "chunks for teams");
#pragma omp target teams num_teams(teams) thread_limit(64) map(tofrom : seen)
  {
#pragma omp distribute parallel for simd num_threads(64) schedule(static, 1)
    for (int i = 0; i < N; i++)
      seen[i] += 1;
#pragma omp distribute parallel for collapse(2) schedule(static, 1)
    for (int i = 0; i < N / 10; i++)
      for (int j = 0; j < 10; j++)
        seen[i * 10 + j] += 1;
  }
  expect(all_are(5), "teams with two loops");
  int last = -1;
#pragma omp target teams distribute parallel for num_teams(77) schedule(static, 1) lastprivate(last) \
    map(tofrom : seen, last)
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i % 3; j++)
      seen[i] += 1;
    last = i;
  }
  int right = last == N - 1;
  for (int i = 0; i < N; i++)
    right = right && seen[i] == 5 + i % 3;
  expect(right, "iterations of different lengths, and the last value");
}

static void observed(void)
{
  int teams = 0, count = 0, most = -1;
#pragma omp target teams distribute parallel for num_teams(6) map(tofrom : teams, count, most)
  for (int i = 0; i < 600; i++) {
#pragma omp atomic write
    teams = omp_get_num_teams();
#pragma omp atomic update
    count += 1;
    int mine = omp_get_team_num();
#pragma omp critical
    if (mine > most)
      most = mine;
  }
  expect(teams == 6 && count == 600 && most == 5, "as many teams as asked for");
  int each = 0;
#pragma omp target teams num_teams(7) map(tofrom : each)
  {
#pragma omp parallel num_threads(1)
    {
#pragma omp atomic update
      each += 1;
    }
  }
  expect(each == 7, "code of the teams runs in each");
}

int main(void)
{
  int on_device = 0;
#pragma omp target map(from : on_device)
  on_device = !omp_is_initial_device();
  expect(on_device, "regions run on the device");
  unseen(216);
  observed();
  if (!failures)
    puts("right");
  return failures != 0;
}
