/* The same with tasks of OpenMP. */
#include "fib.h"

static long fib(int n) {
  if (n < 2) return n;
  long x, y;
#pragma omp task shared(x)
  x = fib(n - 1);
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}

static long whole(int n) {
  long result;
#pragma omp parallel
#pragma omp single
  result = fib(n);
  return result;
}

int main(void) { return timed(NAME, whole); }
