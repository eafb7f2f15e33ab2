// What an atomic access of a team's first thread calls is called where the access stands: outside of any parallel region.
#include <omp.h>
#include <stdio.h>

#pragma omp begin declare target
static int calls;
static int counted(int x) { return calls++, x; }
#pragma omp end declare target

int main(void)
{
  int level = 7, threads = 0, old = -1, chosen = 0, on_device = 0, made = -1, slots[2] = { 0, 0 };
#pragma omp target teams num_teams(1) map(tofrom : level, threads, old, chosen, on_device, made, slots)
  {
#pragma omp atomic write
    level = omp_get_level() + 10 * omp_in_parallel();
#pragma omp atomic
    threads += omp_get_num_threads();
#pragma omp atomic capture
    {
      old = threads;
      threads = threads + omp_get_team_num() + 2;
    }
#pragma omp atomic
    chosen += level ? counted(5) : 3;
#pragma omp atomic update
    slots[counted(1)] += 4;
#pragma omp atomic write
    on_device = !omp_is_initial_device();
#pragma omp atomic read
    made = calls;
  }
  if (level || old != 1 || threads != 3 || chosen != 3 || made != 1 || slots[1] != 4 || !on_device) {
    printf("wrong: level %d, old %d, threads %d, chosen %d, calls %d, slot %d, on device %d\n", level, old, threads, chosen, made,
           slots[1], on_device);
    return 1;
  }
  // Tickets, in the words of the block that does not say `+=`.
  float next = 15, seen[40], after[40];
  double last = 0;
#pragma omp target parallel for map(tofrom : next, last) map(from : seen, after) num_threads(4)
  for (int i = 0; i < 40; i++) {
#pragma omp atomic capture
    {
      seen[i] = next;
      next = next + 1;
    }
#pragma omp atomic capture
    {
      last = 1 + last;
      after[i] = last;
    }
  }
  double sum = 0;
  for (int i = 0; i < 40; i++) sum += seen[i] + 100 * after[i];
  if (next != 55 || last != 40 || sum != 40 * 15 + 780 + 100 * 820) {
    printf("wrong: next %g, last %g, sum %g\n", next, last, sum);
    return 1;
  }
  puts("ok");
  return 0;
}
