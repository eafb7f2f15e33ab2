// Advice to other compilers between a directive and its loop changes nothing, for both standards, and between loops that are
// made one.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include <stdio.h>

#define N 1000

int main(void)
{
  int wrong = 0, on_host = 0;
  float s = 0, t = 0;
  long a[N], u = 0;
#pragma omp parallel for reduction(+ : s) num_threads(4)
#pragma unroll 4
  for (int i = 0; i < N; i++) s += 1;
#pragma omp parallel for reduction(+ : t) num_threads(4)
#pragma GCC unroll 4
  for (int i = 0; i < N; i++) t += 1;
#pragma omp parallel for collapse(2) num_threads(4) reduction(+ : on_host)
#pragma GCC ivdep
  for (int i = 0; i < 10; i++)
#pragma GCC ivdep
    for (int j = 0; j < 10; j++) on_host++;
  wrong += s != N || t != N || on_host != 100;
#pragma acc parallel loop gang copyout(a)
#pragma nounroll
#pragma ivdep
  for (int i = 0; i < N; i++) a[i] = i;
#pragma acc parallel loop reduction(+ : u) copyin(a)
#pragma clang loop vectorize(enable)
  for (int i = 0; i < N; i++) u += a[i];
  wrong += u != N * (N - 1L) / 2;
  int m[10][10];
#pragma omp target teams distribute parallel for collapse(2) map(from : m)
#pragma vector always
  for (int i = 0; i < 10; i++)
#pragma loop_count(10)
    for (int j = 0; j < 10; j++) m[i][j] = i * j;
  wrong += m[9][9] != 81 || m[3][4] != 12;
  int k = 40;
#pragma acc serial loop seq reduction(max : k)
#pragma simd
  for (int i = 0; i < 3; i++) k = i;
  wrong += k != 40;
  if (!wrong) printf("right\n");
  return wrong != 0;
}
