/* The harness of the programs with directives: each kernel is timed alone with its data on the device.
   They print for each its name, microseconds (the median of some runs), and a sum of its results: all digits
   of sums of whole numbers, which are the same everywhere, and five (as in 1.2345e+06) where results are rounded. */
#ifndef KINDS_H
#define KINDS_H

#include "inputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 9 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static int less(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static const char *wanted;
static double times[RUNS];

static double begin;

static void ended(int run)
{
  if (run >= 0)
    times[run] = now() - begin;
}

/* What follows is run some times and timed. */
#define MEASURE for (int run = -2; run < RUNS && (begin = now()) > 0; ended(run++))

static inline void tell(const char *name, double sum)
{
  qsort(times, RUNS, sizeof *times, less);
  printf("%-24s %10.1f  %.9g\n", name, times[RUNS / 2], sum);
  fflush(stdout);
}

static inline void tell_rounded(const char *name, double sum)
{
  qsort(times, RUNS, sizeof *times, less);
  printf("%-24s %10.1f  %.4e\n", name, times[RUNS / 2], sum);
  fflush(stdout);
}

/* All, those that have the argument in their names, or, as in -saxpy,grey, all but some. */
static int is_wanted(const char *name)
{
  if (!wanted || *wanted != '-')
    return !wanted || strstr(name, wanted);
  const size_t length = strlen(name);
  for (const char *at = wanted; (at = strstr(at + 1, name));)
    if ((at[-1] == '-' || at[-1] == ',') && (at[length] == ',' || !at[length]))
      return 0;
  return 1;
}

#define FILL(array, count) \
  for (long fill = 0; fill < (long)(count); fill++) \
  (array)[fill] = value(fill)
#define SUM(array, count) \
  double sum = 0; \
  for (long at = 0; at < (long)(count); at++) \
  sum += (double)(array)[at] * (1 + at % 7)
/* For signed results that are rounded, where a sum would be mostly rounding. */
#define SUM_SIZES(array, count) \
  double sum = 0; \
  for (long at = 0; at < (long)(count); at++) \
  sum += fabs((double)(array)[at]) * (1 + at % 7)

#endif
