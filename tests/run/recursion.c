// Functions of kernels that call themselves, or each other in a circle: each call has variables of its own.
#include <stdio.h>

#define N 20

#pragma omp declare target
static long factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
static int is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

static int depth(int n, int *deepest) {
  int own[2] = {n, 0};
  own[1] = n > 0 ? depth(n - 1, own) : 0;
  *deepest = *deepest > n ? *deepest : n;
  return own[1] + own[0];
}
#pragma omp end declare target

int main(void) {
  int wrong = 0, even[N], deepest = 0, sum = 0;
  long products[N];
#pragma omp target teams distribute parallel for map(from : products, even)
  for (int i = 0; i < N; i++) {
    products[i] = factorial(i);
    even[i] = is_even((unsigned)i) - 2 * is_odd((unsigned)i);
  }
  long product = 1;
  for (int i = 0; i < N; i++) {
    product *= i ? i : 1;
    wrong += products[i] != product || even[i] != (i % 2 ? -2 : 1);
  }
  int kept = 3;
#pragma omp target map(tofrom : deepest, sum) firstprivate(kept)
  {
    sum = depth(kept + 2, &deepest);
    kept = 0;
  }
  wrong += sum != 15 || deepest != 5 || kept != 3;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
