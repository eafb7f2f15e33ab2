// What would end the program: assertions that hold, and code that no thread reaches, in kernels and functions of both standards.
#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

/* Answers a place, or ends the program. */
static int placed(int at, int size)
{
  assert(at >= 0 && "a place is not negative; 100% of them");
  if (at >= size) abort();
  return size - 1 - at;
}

int main(void)
{
  int mirrored[N], sum = 0, away = 0;
#pragma omp target teams distribute parallel for map(from : mirrored)
  for (int i = 0; i < N; i++) {
    mirrored[placed(i, N)] = i;
    assert(placed(placed(i, N), N) == i);
  }
#pragma acc parallel loop copyin(mirrored) reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += mirrored[i] == N - 1 - i ? 1 : (abort(), 0);
#pragma omp target map(from : away)
  {
    away = !omp_is_initial_device();
    if (!away) {
#pragma omp error at(execution) message("a region of the host")
    }
#pragma omp error at(execution) severity(warning) message("this is no fault")
  }
  puts(sum == N && away ? "right" : "wrong");
  return sum != N || !away;
}
