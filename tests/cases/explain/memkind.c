// run: explain --profile cpu
// run: explain --profile cpu --json
// Variables with a memory kind: who has one, for how long, and where it lies.
static double table[100];
static int *kept, own, of_team;
#pragma omp memkind(fastmem : val : table, persistent : ref : kept, scratch : own, teamlocal : of_team)

void f(void) {
#pragma omp parallel
  table[0] = *kept + own;
}
