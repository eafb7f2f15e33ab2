/* Wide integers, long double, complex, characters, special floating values. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
static __int128 big = (__int128)1 << 100;
static unsigned __int128 most = ~(unsigned __int128)0;
static long double third = 1.0L / 3;
static _Float128 quad = 0.1F128;
static double _Complex z = 1.0 + 2.0i;
static float hex = 0x1.8p3f;
static void show(unsigned __int128 v) { printf("%llx %llx\n", (unsigned long long)(v >> 64), (unsigned long long)v); }
int main(void) {
  show(big); show(most); show(-big); show((__int128)-1 * 5);
  show(((unsigned __int128)0x123456789abcdefULL << 64) | 0xfedcba9876543210ULL);
  printf("%.20Lg %.10g %g\n", third, (double)quad, hex);
  double _Complex w = z * z + 1.0;
  printf("%g %g %g\n", creal(w), cimag(w), cabs(w));
  printf("%g %g\n", __real__ z, __imag__ (~z));
  _Complex int gauss = 3 + 4i;
  printf("%d %d\n", __real__ gauss, __imag__ gauss);
  printf("%g %d %d\n", -0.0, isnan(NAN) != 0, isinf(HUGE_VAL) != 0);
  printf("%d %d %d\n", 'ab', '\377', L'x');
  printf("%llu %lld %d\n", 18446744073709551615ULL, -9223372036854775807LL - 1, 0x80000000 > 0);
  float fl = 16777217; double d = 16777217;
  printf("%d %.1f %.1f\n", fl == d, fl, d);
  printf("%g\n", (double)1e30f - 1e30);
  return 0;
}
