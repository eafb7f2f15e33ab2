// Each team has its own; the threads of a team share it.
#include <omp.h>
#include <stdio.h>

static int shared_by_team;
#pragma omp groupprivate(shared_by_team)

int main(void) {
  int result[4] = {0}, wrong = 0;
  shared_by_team = -1;
#pragma omp target teams num_teams(4) thread_limit(3) map(tofrom : result)
  {
    shared_by_team = 10 * omp_get_team_num() + 100 * omp_is_initial_device();
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
      shared_by_team++;
    }
    result[omp_get_team_num()] = shared_by_team;
  }
  for (int i = 0; i < 4; i++)
    wrong += result[i] != 10 * i + 3;
  // The host's own is another.
  wrong += shared_by_team != -1;
#pragma omp teams num_teams(2)
  shared_by_team = omp_get_team_num();
  wrong += shared_by_team != -1;
  if (wrong)
    printf("%d: %d %d %d %d\n", wrong, result[0], result[1], result[2], result[3]);
  return wrong != 0;
}
