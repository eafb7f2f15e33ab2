// Variables of `declare` and `declare target` that kernels reach through clauses alone: they are where updates look for them.
#include <omp.h>
#include <openacc.h>
#include <stdio.h>

#define N 64

double table[N];
#pragma acc declare create(table)

const int factors[2] = { 3, 5 };
#pragma acc declare copyin(factors)

int main(void)
{
  int away = 0, right = 1;
  for (int i = 0; i < N; i++) table[i] = i;
#pragma acc update device(table)
#pragma acc parallel loop present(table, factors) reduction(+ : away)
  for (int i = 0; i < N; i++) {
    table[i] = table[i] * factors[0] + factors[1];
    away += !omp_is_initial_device();
  }
#pragma acc update self(table[0 : N])
  for (int i = 0; i < N; i++) right &= table[i] == i * 3 + 5;
  puts(right && away == N ? "right" : "wrong");
  return !right || away != N;
}
