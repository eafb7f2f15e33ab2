// Rows that teams work on: threads fill an array of their team, sum it up, and store it back.
#include <omp.h>
#include <stdio.h>

enum { ROWS = 7, COLUMNS = 33 };

static float first(int i, int j) { return (i * COLUMNS + j) % 10 - 4.5f; }

int main(void)
{
  float rows[ROWS][COLUMNS];
  double squares[ROWS];
  int positive[ROWS], away = 0, right = 1, n = ROWS;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < COLUMNS; j++) rows[i][j] = first(i, j);
#pragma omp target teams distribute num_teams(n / 2 + 1) thread_limit(8) map(tofrom : rows, away) map(from : squares, positive)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    int count = 0;
    float scaled[COLUMNS], most = -1e9f;
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
    for (int j = 0; j < COLUMNS; j++) {
      sum += rows[i][j] * rows[i][j];
      if (rows[i][j] > most) most = rows[i][j];
    }
#pragma omp parallel num_threads(4)
    {
#pragma omp for
      for (int j = 0; j < COLUMNS; j++) scaled[j] = 2 * rows[i][COLUMNS - 1 - j] + most;
#pragma omp for reduction(+ : count)
      for (int j = 0; j < COLUMNS; j++) count += scaled[j] > 0;
    }
    squares[i] = sum;
    positive[i] = count;
#pragma omp parallel for simd
    for (int j = 0; j < COLUMNS; j++) rows[i][j] = scaled[j];
    if (i == n - 1) away = !omp_is_initial_device();
  }
  for (int i = 0; i < n; i++) {
    double sum = 0;
    int count = 0;
    for (int j = 0; j < COLUMNS; j++) {
      float scaled = 2 * first(i, COLUMNS - 1 - j) + 4.5f;
      sum += first(i, j) * first(i, j);
      count += scaled > 0;
      right &= rows[i][j] == scaled;
    }
    right &= squares[i] == sum && positive[i] == count;
  }
  if (!right) printf("wrong: rows of teams\n");
  return !(right && away);
}
