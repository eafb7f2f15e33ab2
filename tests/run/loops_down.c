// Loops that count down in unsigned types: every iteration is run once, however they are dealt.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 24 };
static int runs[COUNT], outside;

/* Each of the iterations 1 to `last` in steps was run once, by threads. */
static int wrong(const char *what, int last, int step)
{
  int bad = outside;
  for (int i = 0; i < COUNT; i++)
    bad |= runs[i] != (i > 0 && i <= last && (last - i) % step == 0);
  if (bad)
    printf("%s is wrong\n", what);
  memset(runs, 0, sizeof runs);
  outside = 0;
  return bad;
}

#define RUN(i)                                                                                                         \
  {                                                                                                                    \
    runs[i]++;                                                                                                         \
    if (!omp_in_parallel())                                                                                            \
      outside = 1;                                                                                                     \
  }

int main(void)
{
  int bad = 0, at_end = -1, order = COUNT;
#pragma omp parallel for schedule(dynamic)
  for (unsigned i = 20; i > 0; i--)
    RUN(i)
  bad |= wrong("dynamic", 20, 1);
#pragma omp parallel for simd schedule(guided)
  for (unsigned char i = 20; i > 0; i -= 2)
    RUN(i)
  bad |= wrong("guided", 20, 2);
#pragma omp parallel for schedule(runtime)
  for (unsigned short i = 19; i != 0; i--)
    RUN(i)
  bad |= wrong("runtime", 19, 1);
  unsigned last = 0;
#pragma omp parallel for schedule(dynamic, 3) lastprivate(last)
  for (last = 18; last > 0; last -= 3)
    RUN(last)
  bad |= wrong("dynamic, 3", 18, 3) | (last != 0);
#pragma omp parallel for ordered
  for (unsigned i = 20; i >= 1; i--) {
    RUN(i)
#pragma omp ordered
    {
      bad |= (int)i >= order;
      order = (int)i;
    }
  }
  bad |= wrong("ordered", 20, 1) | (order != 1);
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskloop grainsize(3)
  for (unsigned i = 20; i > 0; i--)
    RUN(i)
  bad |= wrong("taskloop", 20, 1);
#pragma omp target teams distribute parallel for schedule(dynamic) map(tofrom : runs)
  for (unsigned i = 20; i > 0; i--)
    runs[i]++;
  bad |= wrong("on a device", 20, 1);
#pragma omp target map(tofrom : runs, at_end)
  {
#pragma omp parallel for schedule(guided) num_threads(4)
    for (unsigned char i = 20; i > 0; i -= 4)
      runs[i]++;
    at_end = omp_get_num_threads();
  }
  bad |= wrong("in a region", 20, 4) | (at_end != 1);
  return bad;
}
