// Loops that say to whom they belong, in loops that teams share: threads that nobody has started are the one that is there.
// Atomic accesses in loops of any order.
#include <stdio.h>

enum { N = 40, M = 24 };

static int a[N][M], b[N][M], c[N][M];

// Each iteration is counted once by whoever shares the loop, also in threads of the host.
static int atomics(void) {
  int teams = 0, threads = 0, ordered = 0, inner = 0, here = 0, most = 0;
#pragma omp target teams loop collapse(2) map(tofrom : teams)
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++) {
#pragma omp atomic
      teams += i;
    }
#pragma omp target parallel map(tofrom : threads)
#pragma omp loop
  for (int i = 0; i < N; i++) {
#pragma omp atomic update
    threads += i;
  }
#pragma omp target teams distribute parallel for order(concurrent) map(tofrom : ordered, most)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    ordered += i;
#pragma omp atomic compare
    if (most < i) { most = i; }
  }
#pragma omp target teams loop map(tofrom : inner)
  for (int i = 0; i < N; i++) {
#pragma omp loop bind(parallel)
    for (int k = 0; k < M; k++) {
#pragma omp atomic
      inner += k;
    }
  }
#pragma omp parallel for order(concurrent) num_threads(3)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    here += i;
  }
  int sum = N * (N - 1) / 2;
  return (teams != sum * M) + (threads != sum) + (ordered != sum) + (most != N - 1) + (inner != M * (M - 1) / 2 * N)
      + (here != sum);
}

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
  wrong += atomics();
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
