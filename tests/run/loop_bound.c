// Loops that say to whom they belong, in loops that teams share: threads that nobody has started are the one that is there.
#include <stdio.h>

enum { N = 40, M = 24 };

static int a[N][M], b[N][M], c[N][M];

int main(void) {
  int wrong = 0, own = 1, inside = 0;
#pragma omp target teams loop map(from : a)
  for (int i = 0; i < N; i++) {
#pragma omp loop bind(parallel)
    for (int k = 0; k < M; k++) a[i][k] = i + k;
  }
#pragma omp target teams map(from : b)
#pragma omp loop bind(teams)
  for (int i = 0; i < N; i++) {
    int row = 0;
#pragma omp loop bind(parallel) reduction(+ : row)
    for (int k = 0; k < M; k++) row += k;
#pragma omp loop bind(thread)
    for (int k = 0; k < M; k++) b[i][k] = row + i;
  }
#pragma omp teams loop num_teams(2)
  for (int i = 0; i < N; i++) {
#pragma omp loop bind(parallel)
    for (int k = 0; k < M; k++) c[i][k] = i * k;
  }
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++)
      wrong += a[i][k] != i + k || b[i][k] != M * (M - 1) / 2 + i || c[i][k] != i * k;
  // Directives are followed.
#pragma omp target private(own) map(from : inside)
  {
    own = 2;
    inside = own;
  }
  wrong += own != 1 || inside != 2;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
