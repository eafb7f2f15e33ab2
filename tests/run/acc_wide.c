// Loops whose bounds are further apart than their variable's type can tell, and loops over all of a narrow type; loops that ask
// for workers or lanes without a gang around them, which gangs share.
#include <limits.h>
#include <omp.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static void wide(void)
{
  int f = 0, g = 0, h = 0, k = 0, m = 0, n = 0, o = 0;
  long sum = 0;
#pragma acc parallel loop reduction(+ : f)
  for (int i = INT_MIN; i < 1 << 30; i += 1 << 30) f++;
#pragma acc parallel loop reduction(+ : g)
  for (long i = LONG_MIN; i < 1L << 62; i += 1L << 62) g++;
#pragma acc parallel loop reduction(+ : h)
  for (int i = 1 << 30; i >= INT_MIN + 5; i -= 1 << 30) h++;
#pragma acc parallel loop reduction(+ : k, sum)
  for (short i = -30000; i < 30000; i++) {
    k++;
    sum += i;
  }
#pragma acc parallel loop reduction(+ : m)
  for (signed char i = 100; i > -100; i--) m++;
#pragma acc parallel loop reduction(+ : n)
  for (unsigned i = 5; i < 4000000000u; i += 1000000000u) n++;
#pragma acc parallel loop collapse(2) reduction(+ : o)
  for (int i = INT_MIN; i <= 1 << 29; i += 1 << 30)
    for (int j = 0; j < 2; j++) o++;
  expect(f == 3 && g == 3, "from the least");
  expect(h == 3, "down");
  expect(k == 60000 && sum == -30000, "short");
  expect(m == 200, "characters");
  expect(n == 4, "the step goes too far");
  expect(o == 6, "two loops as one");
}

static void gang_implied(void)
{
  int w = 0, v = 0, x = 0;
#pragma acc parallel num_gangs(4) copy(w)
  {
#pragma acc loop vector
    for (int i = 0; i < 10; i++) {
#pragma acc atomic
      w++;
    }
  }
#pragma acc parallel num_gangs(3) copy(v, x)
  {
#pragma acc loop worker
    for (int i = 0; i < 5; i++) {
#pragma acc atomic
      v++;
#pragma acc loop vector
      for (int j = 0; j < 4; j++) {
#pragma acc atomic
        x++;
      }
    }
  }
  expect(w == 10, "lanes");
  expect(v == 5 && x == 20, "workers and lanes");
}

int main(void)
{
  int on_device = 0;
#pragma omp target map(from : on_device)
  on_device = !omp_is_initial_device();
  expect(on_device, "regions run on the device");
  wide();
  gang_implied();
  if (failures == 0) printf("right\n");
  return failures != 0;
}
