// Numbers that not every device has by itself: complex ones, wide ones, sums in the user's way.
#include <complex.h>
#include <limits.h>
#include <math.h>
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

typedef struct { int low, high; } range;
static void widen(range *out, const range *in)
{
  if (in->low < out->low) out->low = in->low;
  if (in->high > out->high) out->high = in->high;
}
static void nothing(range *fresh)
{
  fresh->low = INT_MAX;
  fresh->high = INT_MIN;
}
#pragma omp declare target(widen, nothing)
#pragma omp declare reduction(hull : range : widen(&omp_out, &omp_in)) initializer(nothing(&omp_priv))
#pragma omp declare reduction(least : long long : omp_out = omp_in < omp_out ? omp_in : omp_out) \
  initializer(omp_priv = LLONG_MAX)

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  enum { N = 300 };
  double complex z[N], total = 1 - 2 * I;
  float complex small[N], product = 1;
  for (int i = 0; i < N; i++) {
    z[i] = i + (N - i) * I;
    small[i] = i % 4 == 0 ? I : 1;
  }
#pragma omp target teams distribute parallel for reduction(+ : total) map(to : z)
  for (int i = 0; i < N; i++)
    total += z[i] * (2 - I) / (1 + 0 * I);
  // (i + (N-i)I)(2-I) = 2i + N - i + (2N - 2i - i)I
  double re = 1, im = -2;
  for (int i = 0; i < N; i++) {
    re += i + N;
    im += 2 * N - 3 * i;
  }
  expect(creal(total) == re && cimag(total) == im, "complex sums and products");
#pragma omp target map(tofrom : product, small, z)
  {
    for (int i = 0; i < N; i++)
      product *= small[i];
    z[0] = ~z[1] / (3 - 4 * I);
    __imag__ z[2] = cabs(3 + 4 * I) + (z[3] == conj(conj(z[3]))) + creal(z[4]);
    small[0] = (float complex)z[5] + 1.5f;
  }
  // I to the 75th power.
  expect(crealf(product) == 0 && cimagf(product) == -1, "complex floats");
  double complex quotient = (1.0 - (N - 1.0) * I) / (3 - 4 * I);
  expect(cabs(z[0] - quotient) < 1e-12 && cimag(z[2]) == 10 && crealf(small[0]) == 6.5f, "parts");

  long long wide[N], sum = -7, least = LLONG_MAX;
  unsigned long long most = 0;
  for (int i = 0; i < N; i++)
    wide[i] = (i - 150) * 0x123456789all;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : most) map(to : wide)
  for (int i = 0; i < N; i++) {
    sum += wide[i];
    if ((unsigned long long)wide[i] > most) most = (unsigned long long)wide[i];
  }
  expect(sum == -7 - 150 * 0x123456789all && most == ~0ull - 0x123456789all + 1, "wide numbers");

#pragma omp target teams distribute parallel for reduction(least : least) map(to : wide)
  for (int i = 0; i < N; i++)
    if (wide[i] < least) least = wide[i];
  range hull = { 5, 5 };
#pragma omp target parallel for reduction(hull : hull)
  for (int i = 0; i < N; i++) {
    range here = { -i, 2 * i };
    widen(&hull, &here);
  }
  expect(least == wide[0] && hull.low == 1 - N && hull.high == 2 * N - 2, "the user's own sums");

  int follows[N], value = 3;
#pragma omp target parallel for linear(value : 5) map(from : follows)
  for (int i = 0; i < N; i++) {
    follows[i] = value;
    value += 5;
  }
  int right = 1;
  for (int i = 0; i < N; i++) right = right && follows[i] == 3 + 5 * i;
  expect(right, "a variable follows the iterations");
  return failures != 0;
}
