// Numbers of `long double` in kernels: copies, what is mapped, sums, in records and functions.
#include <math.h>
#include <stdio.h>

#define N 20

struct wide { char tag; long double value; };

#pragma omp declare target
static long double scaled(long double x, int n) { return x * n + 0.25L; }
#pragma omp end declare target

int main(void) {
  int wrong = 0;
  long double copy = 2.0L, mapped = 3.0L, sum = 0, list[N];
  struct wide record = {'w', 1.5L};
#pragma omp target map(tofrom : mapped, record) firstprivate(copy)
  {
    copy *= 2;
    mapped += copy;
    record.value = sqrtl(record.value * 6.0L);
  }
  wrong += copy != 2.0L || mapped != 7.0L || record.value != 3.0L || record.tag != 'w';
#pragma omp target teams distribute parallel for map(from : list) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    list[i] = scaled(1.0L / 8, i);
    sum += list[i];
  }
  long double all = 0;
  for (int i = 0; i < N; i++) {
    wrong += list[i] != i / 8.0L + 0.25L;
    all += list[i];
  }
  wrong += sum != all;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
