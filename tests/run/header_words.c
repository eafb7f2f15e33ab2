/* Constants and macros of the C library's headers, and functions that gcc has built in, mean in kernels what they mean outside. */
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof(a)[0])

#pragma omp begin declare target
static const double limits[] = { INFINITY, -HUGE_VAL, DBL_MAX, DBL_MIN };
static int reals(double *out)
{
  const double all[] = { INFINITY, -INFINITY, HUGE_VAL, HUGE_VALF, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_EPSILON, FLT_MAX,
    FLT_MIN, FLT_EPSILON, DBL_TRUE_MIN, FLT_TRUE_MIN, LDBL_EPSILON, (double)0.1L, (float)0.1L, -(double)3.25L, M_PI, M_E,
    M_LN2, M_LN10, M_LOG2E, M_LOG10E, M_PI_2, M_PI_4, M_1_PI, M_2_PI, M_2_SQRTPI, M_SQRT2, M_SQRT1_2,
    DBL_DECIMAL_DIG, FLT_DECIMAL_DIG };
  for (int i = 0; i < COUNT(all); i++)
    out[i] = all[i];
  for (int i = 0; i < COUNT(limits); i++)
    out[COUNT(all) + i] = limits[i];
  double _Complex z = CMPLX(3, -4) + 2 * I;
  float _Complex y = CMPLXF(1.5f, 2.5f) * z;
  out[COUNT(all) + 4] = creal(z), out[COUNT(all) + 5] = cimag(z), out[COUNT(all) + 6] = crealf(y);
  out[COUNT(all) + 7] = __builtin_powi(1.5, -3), out[COUNT(all) + 8] = __builtin_fabs(-2.5);
  return COUNT(all) + 9;
}
static int wholes(long *out)
{
  const long all[] = { CHAR_BIT, CHAR_MIN, CHAR_MAX, SCHAR_MIN, SCHAR_MAX, UCHAR_MAX, SHRT_MIN, SHRT_MAX, USHRT_MAX,
    INT_MIN, INT_MAX, UINT_MAX, LONG_MIN, LONG_MAX, (long)ULONG_MAX, LLONG_MIN, LLONG_MAX, (long)ULLONG_MAX, INT8_MIN,
    INT8_MAX, UINT8_MAX, INT16_MIN, INT16_MAX, UINT16_MAX, INT32_MIN, INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX,
    (long)UINT64_MAX, INTPTR_MIN, INTPTR_MAX, (long)UINTPTR_MAX, INTMAX_MIN, INTMAX_MAX, (long)UINTMAX_MAX, PTRDIFF_MIN,
    PTRDIFF_MAX, (long)SIZE_MAX, WCHAR_MIN, WCHAR_MAX, INT_LEAST16_MAX, (long)INT_FAST16_MAX, INT64_C(5), UINT32_C(7),
    FLT_RADIX, FLT_DIG, DBL_DIG, LDBL_DIG, FLT_MANT_DIG, DBL_MANT_DIG, LDBL_MANT_DIG, FLT_MAX_EXP, DBL_MIN_EXP,
    DBL_MAX_10_EXP, FLT_MIN_10_EXP, FLT_EVAL_METHOD, FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL, FP_ILOGB0,
    EXIT_FAILURE, (long)sizeof(size_t), (long)offsetof(div_t, rem), (long)sizeof(intmax_t), (int)7.9L };
  for (int i = 0; i < COUNT(all); i++)
    out[i] = all[i];
  return COUNT(all);
}
static int tested(double x, double y, float a, float b, long *out)
{
  const int all[] = { !!isnan(x), !!isinf(x), isinf(x) < 0, !!isfinite(x), !!isnormal(x), !!signbit(x), fpclassify(x),
    !!isnan(a), !!isinf(a), isinf(a) > 0, !!isfinite(a), !!isnormal(a), !!signbit(a), fpclassify(a), isgreater(x, y),
    isgreaterequal(x, y), isless(x, y), islessequal(x, y), islessgreater(x, y), isunordered(x, y), isgreater(a, b),
    isgreaterequal(a, b), isless(a, b), islessequal(a, b), islessgreater(a, b), isunordered(a, b), isless(a, y),
    isgreater(x, b), isunordered(x, b), x == HUGE_VAL, a == -HUGE_VALF, NAN != NAN, __builtin_isnan(NAN) != 0 };
  for (int i = 0; i < COUNT(all); i++)
    out[i] = all[i];
  return COUNT(all);
}
static int counted(unsigned u, unsigned long l, long *out)
{
  int at = 0;
  long more = (long)l;
  int n = (int)u, sum;
  unsigned unsum;
  long long wide;
  unsigned char byte;
  out[at++] = __builtin_popcount(u), out[at++] = __builtin_popcountl(l), out[at++] = __builtin_popcountll(l);
  out[at++] = __builtin_parity(u), out[at++] = __builtin_parityl(l), out[at++] = __builtin_parityll(l);
  out[at++] = u ? __builtin_clz(u) : -1, out[at++] = l ? __builtin_clzl(l) : -1, out[at++] = l ? __builtin_clzll(l) : -1;
  out[at++] = u ? __builtin_ctz(u) : -1, out[at++] = l ? __builtin_ctzl(l) : -1, out[at++] = l ? __builtin_ctzll(l) : -1;
  out[at++] = __builtin_ffs(n), out[at++] = __builtin_ffsl(more), out[at++] = __builtin_ffsll(more);
  out[at++] = __builtin_clrsb(n), out[at++] = __builtin_clrsbl(more), out[at++] = __builtin_clrsbll(more);
  out[at++] = __builtin_bswap16((unsigned short)u), out[at++] = __builtin_bswap32(u), out[at++] = (long)__builtin_bswap64(l);
  out[at++] = __builtin_abs(n | 1), out[at++] = __builtin_labs(more | 1), out[at++] = abs(n | 1), out[at++] = labs(more | 1);
  out[at++] = __builtin_add_overflow(n, n, &sum), out[at++] = sum;
  out[at++] = __builtin_sub_overflow(u, more, &wide), out[at++] = wide;
  out[at++] = __builtin_mul_overflow(more, u, &wide), out[at++] = wide;
  out[at++] = __builtin_mul_overflow(n, -3, &byte), out[at++] = byte;
  out[at++] = __builtin_add_overflow(l, u, &unsum), out[at++] = unsum;
  out[at++] = __builtin_sadd_overflow(n, 5, &sum), out[at++] = sum;
  out[at++] = __builtin_usub_overflow(u, 5, &unsum), out[at++] = unsum;
  out[at++] = __builtin_smulll_overflow(more, 3, &wide), out[at++] = wide;
  out[at++] = __builtin_expect(n > 3, 1), out[at++] = __builtin_constant_p(5), out[at++] = __builtin_constant_p(n);
  return at;
}
static int copied(char *out)
{
  char from[16] = "some words", to[16];
  __builtin_memset(to, 'x', sizeof to);
  __builtin_memcpy(to, from, 11);
  memmove(to + 1, to, 9);
  char *aligned = __builtin_assume_aligned(out, 1);
  __builtin_prefetch(aligned);
  __builtin_prefetch(aligned, 1, 3);
  strcpy(aligned, to);
  return (int)__builtin_strlen(aligned) + (__builtin_strcmp(from, "some words") == 0) + (memcmp(from, to, 3) < 0);
}
static int sure(int n)
{
  if (n >= 0)
    return n;
  __builtin_unreachable();
}
#pragma omp end declare target

struct answers {
  double reals[64];
  long wholes[96], tests[10][10][40], bits[10][60];
  char text[32];
  int counts[5];
};

static const double odd[10] = { 0, -0.0, 1, -2.5, INFINITY, -INFINITY, NAN, 4e-310, -1e300, 3e-40 };
static const unsigned long bits[10] = { 0, 1, 0x80000000, 0xffffffff, 0x8000000000000000, ~0ul, 12345, 0xf0f0f0f0f0f0,
  0x7fffffff, 0x7fffffffffffffff };

int main(void)
{
  static struct answers here, there;
  int on_device = 0, wrong = 0;
  for (int pass = 0; pass < 2; pass++) {
    struct answers *to = pass ? &there : &here;
#pragma omp target if(pass) map(tofrom: to[:1]) map(to: odd, bits) map(from: on_device)
    {
      on_device = !omp_is_initial_device();
      to->counts[0] = reals(to->reals);
      to->counts[1] = wholes(to->wholes);
      for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++)
          to->counts[2] = tested(odd[i], odd[k], (float)odd[i], (float)odd[k], to->tests[i][k]);
      for (int i = 0; i < 10; i++)
        to->counts[3] = counted((unsigned)bits[i], bits[i], to->bits[i]);
      to->counts[4] = copied(to->text) + sure(3);
    }
  }
  for (int i = 0; i < 64; i++)
    if (here.reals[i] != there.reals[i])
      printf("real %d is %g (%g)\n", i, there.reals[i], here.reals[i]), wrong++;
  for (int i = 0; i < 96; i++)
    if (here.wholes[i] != there.wholes[i])
      printf("whole %d is %ld (%ld)\n", i, there.wholes[i], here.wholes[i]), wrong++;
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < 10; k++)
      for (int t = 0; t < 40; t++)
        if (here.tests[i][k][t] != there.tests[i][k][t])
          printf("test %d of %g and %g is %ld\n", t, odd[i], odd[k], there.tests[i][k][t]), wrong++;
  for (int i = 0; i < 10; i++)
    for (int t = 0; t < 60; t++)
      if (here.bits[i][t] != there.bits[i][t])
        printf("bits %d of %lx is %ld (%ld)\n", t, bits[i], there.bits[i][t], here.bits[i][t]), wrong++;
  wrong += strcmp(here.text, there.text) != 0 || memcmp(here.counts, there.counts, sizeof here.counts) != 0;
  wrong += here.counts[1] < 60 || here.reals[0] <= DBL_MAX || there.reals[4] != DBL_MAX;
  printf("%d wrong\n", wrong);
  return wrong || !on_device;
}
