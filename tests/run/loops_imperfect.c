// Code between collapsed loops runs with the iterations of the outer one; the collapsed iterations
// are more than either loop has.
#include <omp.h>
#include <stdio.h>

enum { N = 3, M = 5 };

int main(void) {
  int begun[N] = {0}, ended[N] = {0}, cell[N][M] = {{0}}, threads[N * M];
  int i, j;
#pragma omp target parallel for collapse(2) num_threads(N * M) schedule(static, 1) map(tofrom : begun, ended, cell) map(from : threads)
  for (i = 0; i < N; i++) {
    begun[i] += 1;
    const int row = i * 10;
    for (j = 0; j < M; j++) {
      if (j == 2) {
        cell[i][j] = 2 + row;
        threads[i * M + j] = omp_get_thread_num();
        continue;
      }
      cell[i][j] = row + j;
      threads[i * M + j] = omp_get_thread_num();
    }
    ended[i] += 1;
  }
  int wrong = 0;
  for (i = 0; i < N; i++) {
    wrong += begun[i] != 1 || ended[i] != 1;
    for (j = 0; j < M; j++)
      wrong += cell[i][j] != i * 10 + j || threads[i * M + j] != i * M + j;
  }
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
