// Pointers to functions of the program that lead to those of the device, and memory that each team has.
#include <omp.h>

#include <cstdio>

#pragma omp begin declare target indirect
int twice(int x) { return 2 * x; }
int squared(int x) { return x * x; }
#pragma omp end declare target

typedef int (*Function)(int);

int main() {
  int faults = 0, on_host = 1;
  Function list[2] = {twice, squared};
  int got[2][20];
  for (int k = 0; k < 2; k++) {
    Function f = list[k];
#pragma omp target teams distribute parallel for map(from : got[k : 1][0 : 20]) firstprivate(f)
    for (int i = 0; i < 20; i++)
      got[k][i] = f(i);
  }
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  for (int i = 0; i < 20; i++)
    faults += got[0][i] != 2 * i || got[1][i] != i * i;
  faults += on_host;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
