// A `local` variable has one copy on the host and another on each device; also on cpu*4. In functions too.
#include <omp.h>
#include <stdio.h>

int counter = 5;
static int table[3] = {1, 2, 3};
#pragma omp declare target local(counter, table)

#pragma omp begin declare target
static void add(void) {
#pragma omp for reduction(+ : counter)
  for (int i = 0; i < 10; i++)
    counter += i;
}
static int next(void) { return ++counter + table[0]; }
#pragma omp end declare target

// Every device has its own.
static int per_device(int last) {
  int wrong = 0;
  for (int device = 1; device <= last; device++) {
    int got = 0;
    for (int times = 0; times <= device; times++) {
#pragma omp target device(device) map(from : got)
      got = next();
    }
    wrong += got != 7 + device;
  }
  return wrong;
}

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
  int third = 0;
#pragma omp target map(from : third)
  {
#pragma omp parallel num_threads(3)
    add();
    third = counter;
    counter -= 45;
  }
  int wrong = third != 52 || first != 106 || second != 107 || next() != 52 || table[0] != 1;
  wrong += per_device(omp_get_num_devices() - 1);
  if (wrong)
    printf("%d %d %d\n", first, second, counter);
  return wrong;
}
