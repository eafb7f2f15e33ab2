// Clauses of `parallel`, `for` and `scope` that say more than older compilers know.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int wrong = 0, threads = 0, late = 1, is_late = 0, count = 0, value = 7, outside = 0;
#pragma omp parallel num_threads(strict : 3) message("no") severity(warning) safesync(1)
  {
#pragma omp masked
    threads = omp_get_num_threads();
#pragma omp for nowait(is_late)
    for (int i = 0; i < 3; i++) {
#pragma omp atomic
      count++;
    }
    // The condition is false: all iterations are done.
#pragma omp atomic
    wrong += count != 3;
#pragma omp barrier
#pragma omp for nowait(late)
    for (int i = 0; i < 3; i++) {
#pragma omp atomic memscope(device)
      count++;
    }
#pragma omp scope firstprivate(value)
    {
      value += omp_get_thread_num() + 1;
#pragma omp atomic
      outside += value;
    }
  }
  wrong += threads != 3 || count != 6 || value != 7 || outside != 3 * 7 + 6;
  if (wrong)
    printf("%d differences: %d threads, %d, %d\n", wrong, threads, count, outside);
  return wrong != 0;
}
