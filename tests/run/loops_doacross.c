// Iterations wait for earlier ones, in both spellings of the previous iteration.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  enum { N = 12 };
  int sum[N] = {1}, again[N] = {1}, threads[N] = {0}, wrong = 0;
#pragma omp parallel for ordered num_threads(4) schedule(static, 1)
  for (int i = 1; i < N; i++) {
    threads[i] = omp_get_thread_num();
#pragma omp ordered doacross(sink : i - 1)
    usleep(100);
    sum[i] = sum[i - 1] + i;
#pragma omp ordered doacross(source : omp_cur_iteration)
  }
#pragma omp parallel for ordered(1) num_threads(4) schedule(static, 1)
  for (int i = 1; i < N; i++) {
#pragma omp ordered doacross(sink : omp_cur_iteration - 1)
    again[i] = again[i - 1] + i;
#pragma omp ordered doacross(source :)
  }
  for (int i = 1; i < N; i++)
    wrong += sum[i] != 1 + i * (i + 1) / 2 || again[i] != sum[i] || threads[i] != (i - 1) % 4;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
