// A `local` variable has one copy on the host and another on the device, in called functions too.
#include <stdio.h>

int counter = 5;
static int table[3] = {1, 2, 3};
#pragma omp declare target local(counter, table)

#pragma omp begin declare target
static int next(void) { return ++counter + table[0]; }
#pragma omp end declare target

int main(void) {
  int first = 0, second = 0;
#pragma omp target map(from : first)
  {
    table[0] = 100;
    first = next();
  }
  counter = 50;
#pragma omp target map(from : second)
  second = next();
  int wrong = first != 106 || second != 107 || next() != 52 || table[0] != 1;
  if (wrong)
    printf("%d %d %d\n", first, second, counter);
  return wrong;
}
