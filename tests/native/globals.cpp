// Variables of the file on the device: declared for it, linked to it, its own constants; functions of several kinds.
#include <omp.h>

#include <cstdio>

#pragma omp begin declare target
int counter = 5;
static int own = 7;
const double table[4] = {1.5, 2.5, 3.5, 4.5};
struct Scaled {
  int by;
  int operator()(int x) const { return x * by + own; }
};
int counted(int x) { return x + counter; }
#pragma omp end declare target

int linked[64];
#pragma omp declare target link(linked)

int main() {
  int faults = 0, got[4] = {0, 0, 0, 0};
  double third = 0;
#pragma omp target map(tofrom : got) map(from : third)
  {
    counter += 10;
    got[0] = counted(1);
    got[1] = Scaled{3}(4);
    third = table[2];
    got[3] = !omp_is_initial_device();
  }
  faults += got[0] != 16 || got[1] != 19 || third != 3.5 || !got[3];
#pragma omp target update from(counter)
  faults += counter != 15;
  counter = 100;
#pragma omp target update to(counter)
#pragma omp target map(tofrom : got)
  got[2] = counted(0);
  faults += got[2] != 100;
  for (int i = 0; i < 64; i++)
    linked[i] = i;
#pragma omp target data map(tofrom : linked)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 64; i++)
      linked[i] *= 2;
  }
  for (int i = 0; i < 64; i++)
    faults += linked[i] != 2 * i;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
