/* Sums a million numbers 300 times and counts the sums whose bits differ from those of the first.
   ferry cc --device cuda:sm_90 same_sum.c -o same_sum && FERRY_DEVICE=cuda ./same_sum */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20, TIMES = 300 };

int main(void)
{
  double *wide = malloc(COUNT * sizeof *wide), first_wide = 0;
  float *narrow = malloc(COUNT * sizeof *narrow), first_narrow = 0;
  unsigned random = 1;
  for (int i = 0; i < COUNT; i++) {
    random = random * 1664525u + 1013904223u;
    wide[i] = 1.0 / (random % 1000 + 1);
    narrow[i] = (float)wide[i];
  }
  int others = 0;
#pragma omp target enter data map(to: wide[0:COUNT], narrow[0:COUNT])
  for (int time = 0; time < TIMES; time++) {
    double sum_wide = 0;
    float sum_narrow = 0;
#pragma omp target teams distribute parallel for reduction(+: sum_wide, sum_narrow)
    for (int i = 0; i < COUNT; i++) {
      sum_wide += wide[i];
      sum_narrow += narrow[i];
    }
    if (time == 0) {
      first_wide = sum_wide;
      first_narrow = sum_narrow;
    }
    others += memcmp(&first_wide, &sum_wide, sizeof sum_wide) != 0 ||
              memcmp(&first_narrow, &sum_narrow, sizeof sum_narrow) != 0;
  }
#pragma omp target exit data map(delete: wide[0:COUNT], narrow[0:COUNT])
  printf("%d of %d differ: %.17g, %.9g\n", others, TIMES, first_wide, first_narrow);
  return others != 0;
}
