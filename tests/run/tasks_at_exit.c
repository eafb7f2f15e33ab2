// Work that nobody has waited for is done before the program ends.
#include <stdlib.h>
#include <unistd.h>

static int was_early;
static int value;

static void at_the_end(void) {
  if (was_early || value != 3)
    _exit(1);
}

int main(void) {
  atexit(at_the_end);
#pragma omp target nowait map(from : value) depend(out : value)
  {
    usleep(200000);
    value = 2;
  }
#pragma omp target nowait map(tofrom : value) depend(inout : value)
  value += 1;
  was_early = *(volatile int *)&value != 0;
  return 0;
}
