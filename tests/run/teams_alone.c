// What the one thread that a team begins with does by itself: indivisible accesses and questions about the league.
#include <omp.h>
#include <stdio.h>

enum { TEAMS = 5 };

int main(void) {
  int wrong = 0, sum = 0, last = 0, most = 0, teams = 0, seen[TEAMS] = {0};
  double halves = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(4) map(tofrom : sum, last, seen, halves, most, teams)
  {
    int mine, team = omp_get_team_num();
    int all = omp_get_num_teams();
#pragma omp atomic write
    teams = all;
#pragma omp atomic
    sum += 1 + team;
#pragma omp atomic capture
    mine = last++;
#pragma omp atomic
    halves += 0.5;
#pragma omp atomic compare
    most = most < team ? team : most;
    if (mine >= 0 && mine < TEAMS) {
#pragma omp atomic update
      seen[mine]++;
    }
    // Threads that begin later have indivisible accesses of their own.
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      halves += 1.0 / omp_get_num_threads();
    }
  }
  // A device may have fewer.
  wrong += teams < 1 || teams > TEAMS;
  wrong += sum != teams * (teams + 1) / 2 || last != teams || most != teams - 1;
  wrong += halves != teams * 1.5;
  for (int i = 0; i < TEAMS; i++)
    wrong += seen[i] != (i < teams);
  // And on the host.
  int count = 0, read = -1, level = -1;
#pragma omp teams num_teams(3) shared(count, read, level)
  {
    int now, here = omp_get_level();
#pragma omp atomic write
    level = here;
#pragma omp atomic
    count += 1;
#pragma omp atomic read
    now = count;
#pragma omp atomic write
    read = now;
  }
  wrong += count != 3 || read < 1 || read > 3 || level != 0;
  // One number is both bounds, and two are a range; gangs likewise.
  int exact = 0, ranged = 0, gangs = 0, least = 3;
#pragma omp target teams num_teams(4) reduction(+ : exact) map(tofrom : exact)
  exact += 1;
#pragma omp target teams num_teams(2 : 6) reduction(+ : ranged) map(tofrom : ranged)
  ranged += 1;
#pragma acc parallel num_gangs(4) reduction(+ : gangs)
  gangs += 1;
  wrong += exact != 4 || ranged < 2 || ranged > 6 || gangs != 4;
  ranged = 0;
#pragma omp target teams num_teams(least : 2 * least) reduction(+ : ranged) map(tofrom : ranged)
  ranged += 1;
  wrong += ranged < least || ranged > 2 * least;
  if (wrong)
    printf("%d differences: %d teams, %d %d %d %g, %d %d %d\n", wrong, teams, sum, last, most, halves, count, read, level);
  return wrong != 0;
}
