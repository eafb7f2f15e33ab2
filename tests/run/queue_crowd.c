// 64 threads with a queue and tasks each: nothing is lost.
#include <omp.h>
#include <stdio.h>

enum { THREADS = 64, STEPS = 20 };

int main(void) {
  static long queued[THREADS], tasks[THREADS], both[2];
  long wrong = 0;
  int is_there = 0;
#pragma omp target data map(tofrom : queued, tasks, both)
  {
#pragma omp parallel num_threads(THREADS)
    {
      int me = omp_get_thread_num();
      for (int step = 0; step < STEPS; step++) {
#pragma acc serial present(queued) async(me)
        { queued[me] = queued[me] * 3 + step; }
#pragma omp target nowait map(present, alloc : tasks) firstprivate(me, step) depend(inout : tasks[me])
        tasks[me] = tasks[me] * 3 + step;
      }
      // All meet in one queue.
#pragma acc wait(me) async(1000)
#pragma acc serial present(both) async(1000)
      { both[0] += 1; }
#pragma omp taskwait
#pragma acc serial present(both) async(1000)
      { both[1] += 1; }
    }
#pragma acc wait
  }
#pragma omp target map(from : is_there)
  is_there = !omp_is_initial_device();
  long right = 0;
  for (int step = 0; step < STEPS; step++)
    right = right * 3 + step;
  for (int i = 0; i < THREADS; i++)
    wrong += queued[i] != right || tasks[i] != right;
  if (wrong || both[0] != THREADS || both[1] != THREADS)
    printf("%ld wrong, %ld and %ld of %d\n", wrong, both[0], both[1], THREADS);
  return wrong || both[0] != THREADS || both[1] != THREADS || !is_there;
}
