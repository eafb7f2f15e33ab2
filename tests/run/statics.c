// Variables of functions that outlive their calls, on devices: one for all threads, calls and regions.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

#pragma omp begin declare target
static int next(void)
{
  static int count = 100;
  return ++count;
}

static double kept(int at, double value)
{
  static struct { double first[3]; int writes; } count = { { 1, 2, 3 }, 0 };
  static double *last = &count.first[2];
  count.first[at] += value;
  count.writes++;
  return *last + count.writes;
}

static char letter(int i, int j)
{
  static const char *names[] = { "one", "two", "three" };
  return names[i][j];
}
#pragma omp end declare target

int main(void)
{
  int first = 0, later = 0, met = 0, threads = 0, away = 0;
  double sum = 0;
  char letters[2] = { 0 };
  static int own[4] = { 9, 8, 7, 6 };
#pragma omp target map(from : first, sum, letters, away)
  {
    next();
    first = next();
    kept(2, 10);
    sum = kept(0, 5) + own[3];
    letters[0] = letter(1, 1);
    letters[1] = letter(2, 0);
    away = !omp_is_initial_device();
  }
#pragma omp target map(from : later)
  later = next();
  expect(first == 102 && later == 103 && away, "counted from call to call, and from region to region");
  expect(sum == 13 + 2 + 6 && letters[0] == 'w' && letters[1] == 't', "records, pointers and words");
  next();
#pragma omp target parallel num_threads(6) map(tofrom : met, threads)
  {
    static int arrivals;
#pragma omp atomic
    arrivals++;
#pragma omp barrier
#pragma omp masked
    {
      met = arrivals;
      threads = omp_get_num_threads();
    }
  }
  expect(met == threads && threads > 1, "one for all threads of a region");
  return wrong;
}
