// Iterations of loops that other directives make, of nests in which bounds of three loops follow each other, and of nests
// with code between their loops go to threads as the schedule says.
#include <omp.h>
#include <stdio.h>

enum { N = 40, M = 9 };

static int wrong;

static void expect(const char *what, int got, int wanted) {
  if (got != wanted) {
    printf("%s: %d, not %d\n", what, got, wanted);
    wrong = 1;
  }
}

int main(void) {
  int who[N], last = -1, cell[M][M][M] = {{{0}}}, threads = 0, seen[4] = {0}, sums[M] = {0}, begun[M] = {0}, ended[M] = {0};
#pragma omp target parallel num_threads(4) map(from : who) map(tofrom : threads, last)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for schedule(static, 1)
#pragma omp tile sizes(5)
    for (int i = 0; i < N; i++)
      who[i] = omp_get_thread_num();
#pragma omp for lastprivate(last)
#pragma omp reverse
    for (int i = 7; i < N; i += 2)
      last = i;
  }
  for (int i = 0; i < N; i++)
    expect("who has a tile", who[i], i / 5 % threads);
  expect("the last of a reversed loop", last, 7);
  expect("threads", threads, 4);
#pragma omp target parallel num_threads(4) map(tofrom : cell, seen)
  {
#pragma omp for collapse(3)
    for (int i = 0; i < M; i++)
      for (int j = i; j < M; j++)
        for (int k = 0; k < j; k++) {
#pragma omp atomic
          cell[i][j][k] += 1;
          int me = omp_get_thread_num();
          if (me < 4)
#pragma omp atomic
            seen[me] += 1;
        }
  }
  int all = 0, most = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++)
      for (int k = 0; k < M; k++) {
        expect("an iteration", cell[i][j][k], j >= i && k < j);
        all += j >= i && k < j;
      }
  for (int t = 0; t < 4; t++)
    most = seen[t] > most ? seen[t] : most;
  if (most == all)
    printf("one thread has them all\n"), wrong = 1;
#pragma omp target parallel num_threads(4) map(tofrom : sums, begun, ended)
  {
#pragma omp for collapse(2) schedule(static, 1)
    for (int i = 0; i < M; i++) {
      int row = 10;
      row *= i;
      begun[i] += 1;
      for (int j = 0; j < 4; j++) {
        if (j == 3)
          continue;
#pragma omp atomic
        sums[i] += row + j + 100 * omp_get_thread_num();
      }
      ended[i] += row;
    }
  }
  for (int i = 0; i < M; i++) {
    expect("a row", sums[i], 30 * i + 3 + 100 * (0 + 1 + 2));
    expect("code before a loop", begun[i], 1);
    expect("code behind it", ended[i], 10 * i);
  }
  return wrong;
}
