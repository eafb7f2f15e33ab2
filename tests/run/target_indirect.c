// Functions called through pointers that were chosen on the host.
#include <omp.h>
#include <stdio.h>

typedef int (*operation)(int);

#pragma omp begin declare target indirect
static int twice(int x) { return 2 * x; }
int square(int x) { return x * x; }
#pragma omp end declare target

int main(void)
{
  operation chosen[2] = { twice, square };
  int results[2] = { 0 }, on_device = 0;
  for (int i = 0; i < 2; i++) {
    operation one = chosen[i];
    int result = 0;
#pragma omp target map(from : result) map(tofrom : on_device)
    {
      result = one(7);
      on_device = !omp_is_initial_device();
    }
    results[i] = result;
  }
  return !(results[0] == 14 && results[1] == 49 && on_device);
}
