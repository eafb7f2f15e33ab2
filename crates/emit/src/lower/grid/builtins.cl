/* What gcc's headers make of constants and macros, in words of OpenCL C. Names of ours stand for those of the
   language, which a variable of the user's may hide. */
#ifndef __clang__
#define __builtin_inff() INFINITY
#define __builtin_nanf(text) NAN
#define __builtin_nan(text) ((double)NAN)
#else
/* Its text would lie in memory that no pointer leads to. */
#define __builtin_nanf(text) __builtin_nanf("")
#define __builtin_nan(text) __builtin_nan("")
#endif
#define __builtin_huge_val __builtin_inf
#define __builtin_huge_valf __builtin_inff
#define __ferry_of_both(name, result) \
  static int __attribute__((overloadable)) __ferry_##name(float x) { return result; } \
  static int __attribute__((overloadable)) __ferry_##name(double x) { return result; }
__ferry_of_both(isnan, isnan(x))
__ferry_of_both(isinf, isinf(x) ? (signbit(x) ? -1 : 1) : 0)
__ferry_of_both(isfinite, isfinite(x))
__ferry_of_both(isnormal, isnormal(x))
__ferry_of_both(signbit, signbit(x) != 0)
#define __builtin_isnan __ferry_isnan
#define __builtin_isnanf __ferry_isnan
#define __builtin_isinf __ferry_isinf
#define __builtin_isinff __ferry_isinf
#define __builtin_isinf_sign __ferry_isinf
#define __builtin_isfinite __ferry_isfinite
#define __builtin_finite __ferry_isfinite
#define __builtin_finitef __ferry_isfinite
#define __builtin_isnormal __ferry_isnormal
#define __builtin_signbit __ferry_signbit
#define __builtin_signbitf __ferry_signbit
/* A comparison with what is no number is false, and nobody is told of it. */
#define __ferry_compared(name, op) \
  static int __attribute__((overloadable)) __ferry_##name(float x, float y) { return x op y; } \
  static int __attribute__((overloadable)) __ferry_##name(double x, double y) { return x op y; } \
  static int __attribute__((overloadable)) __ferry_##name(float x, double y) { return x op y; } \
  static int __attribute__((overloadable)) __ferry_##name(double x, float y) { return x op y; }
__ferry_compared(isgreater, >)
__ferry_compared(isgreaterequal, >=)
__ferry_compared(isless, <)
__ferry_compared(islessequal, <=)
__ferry_compared(iseqsig, ==)
__ferry_compared(islessgreater, < y || x >)
__ferry_compared(isunordered, != x || y !=)
#define __builtin_isgreater __ferry_isgreater
#define __builtin_isgreaterequal __ferry_isgreaterequal
#define __builtin_isless __ferry_isless
#define __builtin_islessequal __ferry_islessequal
#define __builtin_iseqsig __ferry_iseqsig
#define __builtin_islessgreater __ferry_islessgreater
#define __builtin_isunordered __ferry_isunordered
static int __attribute__((overloadable)) __ferry_fpclassify(int nan, int inf, int normal, int tiny, int zero, double x)
{
  return isnan(x) ? nan : isinf(x) ? inf : x == 0 ? zero : isnormal(x) ? normal : tiny;
}
static int __attribute__((overloadable)) __ferry_fpclassify(int nan, int inf, int normal, int tiny, int zero, float x)
{
  return isnan(x) ? nan : isinf(x) ? inf : x == 0 ? zero : isnormal(x) ? normal : tiny;
}
#define __builtin_fpclassify __ferry_fpclassify
static int __ferry_popcount(unsigned x) { return popcount(x); }
static int __ferry_popcountl(unsigned long x) { return popcount(x); }
static int __ferry_parity(unsigned x) { return popcount(x) & 1; }
static int __ferry_parityl(unsigned long x) { return popcount(x) & 1; }
static int __ferry_clz(unsigned x) { return clz(x); }
static int __ferry_clzl(unsigned long x) { return clz(x); }
static int __ferry_ctz(unsigned x) { return popcount((x & -x) - 1); }
static int __ferry_ctzl(unsigned long x) { return popcount((x & -x) - 1); }
static int __ferry_ffs(int x) { return x == 0 ? 0 : __ferry_ctz(x) + 1; }
static int __ferry_ffsl(long x) { return x == 0 ? 0 : __ferry_ctzl(x) + 1; }
static int __ferry_clrsb(int x) { return clz(x < 0 ? ~(unsigned)x : (unsigned)x) - 1; }
static int __ferry_clrsbl(long x) { return clz(x < 0 ? ~(unsigned long)x : (unsigned long)x) - 1; }
#define __builtin_popcount __ferry_popcount
#define __builtin_popcountl __ferry_popcountl
#define __builtin_popcountll __ferry_popcountl
#define __builtin_parity __ferry_parity
#define __builtin_parityl __ferry_parityl
#define __builtin_parityll __ferry_parityl
#define __builtin_clz __ferry_clz
#define __builtin_clzl __ferry_clzl
#define __builtin_clzll __ferry_clzl
#define __builtin_ctz __ferry_ctz
#define __builtin_ctzl __ferry_ctzl
#define __builtin_ctzll __ferry_ctzl
#define __builtin_ffs __ferry_ffs
#define __builtin_ffsl __ferry_ffsl
#define __builtin_ffsll __ferry_ffsl
#define __builtin_clrsb __ferry_clrsb
#define __builtin_clrsbl __ferry_clrsbl
#define __builtin_clrsbll __ferry_clrsbl
static unsigned short __ferry_bswap16(unsigned short x) { return (unsigned short)(x << 8 | x >> 8); }
static unsigned __ferry_bswap32(unsigned x)
{
  x = (x & 0xff00ff) << 8 | (x >> 8 & 0xff00ff);
  return x << 16 | x >> 16;
}
static unsigned long __ferry_bswap64(unsigned long x)
{
  return (unsigned long)__ferry_bswap32((unsigned)x) << 32 | __ferry_bswap32((unsigned)(x >> 32));
}
#define __builtin_bswap16 __ferry_bswap16
#define __builtin_bswap32 __ferry_bswap32
#define __builtin_bswap64 __ferry_bswap64
#define __builtin_expect(x, wanted) ((long)(x))
#define __builtin_expect_with_probability(x, wanted, how) ((long)(x))
#define __builtin_assume_aligned(at, ...) (at)
#define __builtin_prefetch(at, ...) ((void)(at))
#define __builtin_unreachable() ((void)0)
static double __ferry_powi(double x, int n)
{
  double y = n % 2 ? x : 1;
  for (unsigned left = n < 0 ? -(unsigned)n : (unsigned)n; left >>= 1;) {
    x *= x;
    y *= left % 2 ? x : 1;
  }
  return n < 0 ? 1 / y : y;
}
static float __ferry_powif(float x, int n)
{
  float y = n % 2 ? x : 1;
  for (unsigned left = n < 0 ? -(unsigned)n : (unsigned)n; left >>= 1;) {
    x *= x;
    y *= left % 2 ? x : 1;
  }
  return n < 0 ? 1 / y : y;
}
#define __builtin_powi __ferry_powi
#define __builtin_powif __ferry_powif
/* Sums, differences and products in all their bits, and whether they fit. */
typedef struct { unsigned long lo; long hi; } __ferry_whole;
#define __ferry_of_whole(type) \
  static __ferry_whole __attribute__((overloadable)) __ferry_widened(type x) \
  { \
    const __ferry_whole whole = { (unsigned long)x, x < 0 ? -1 : 0 }; \
    return whole; \
  }
__ferry_of_whole(int)
__ferry_of_whole(unsigned)
__ferry_of_whole(long)
__ferry_of_whole(unsigned long)
static __ferry_whole __ferry_whole_sum(__ferry_whole a, __ferry_whole b)
{
  const __ferry_whole sum = { a.lo + b.lo, a.hi + b.hi + (a.lo + b.lo < a.lo) };
  return sum;
}
static __ferry_whole __ferry_whole_difference(__ferry_whole a, __ferry_whole b)
{
  const __ferry_whole difference = { a.lo - b.lo, a.hi - b.hi - (a.lo < b.lo) };
  return difference;
}
static __ferry_whole __ferry_whole_product(__ferry_whole a, __ferry_whole b)
{
  const unsigned long hi = mul_hi(a.lo, b.lo) + (unsigned long)a.hi * b.lo + a.lo * (unsigned long)b.hi;
  const __ferry_whole product = { a.lo * b.lo, (long)hi };
  return product;
}
#define __ferry_of_fit(memory, type) \
  static int __attribute__((overloadable)) __ferry_overflows(__ferry_whole all, memory type *result) \
  { \
    const type part = (type)all.lo; \
    *result = part; \
    return all.lo != (unsigned long)part || all.hi != (part < 0 ? -1 : 0); \
  }
#define __ferry_of_fits(memory) \
  __ferry_of_fit(memory, char) __ferry_of_fit(memory, signed char) __ferry_of_fit(memory, unsigned char) \
  __ferry_of_fit(memory, short) __ferry_of_fit(memory, unsigned short) \
  __ferry_of_fit(memory, int) __ferry_of_fit(memory, unsigned) \
  __ferry_of_fit(memory, long) __ferry_of_fit(memory, unsigned long)
__ferry_of_fits()
#ifdef __FERRY_STACK
__ferry_of_fits(__global)
#endif
#define __ferry_checked(how, a, b, result) \
  __ferry_overflows(__ferry_whole_##how(__ferry_widened(a), __ferry_widened(b)), result)
#define __builtin_add_overflow(a, b, result) __ferry_checked(sum, a, b, result)
#define __builtin_sub_overflow(a, b, result) __ferry_checked(difference, a, b, result)
#define __builtin_mul_overflow(a, b, result) __ferry_checked(product, a, b, result)
#define __builtin_sadd_overflow(a, b, result) __ferry_checked(sum, (int)(a), (int)(b), result)
#define __builtin_saddl_overflow(a, b, result) __ferry_checked(sum, (long)(a), (long)(b), result)
#define __builtin_saddll_overflow(a, b, result) __ferry_checked(sum, (long)(a), (long)(b), result)
#define __builtin_ssub_overflow(a, b, result) __ferry_checked(difference, (int)(a), (int)(b), result)
#define __builtin_ssubl_overflow(a, b, result) __ferry_checked(difference, (long)(a), (long)(b), result)
#define __builtin_ssubll_overflow(a, b, result) __ferry_checked(difference, (long)(a), (long)(b), result)
#define __builtin_smul_overflow(a, b, result) __ferry_checked(product, (int)(a), (int)(b), result)
#define __builtin_smull_overflow(a, b, result) __ferry_checked(product, (long)(a), (long)(b), result)
#define __builtin_smulll_overflow(a, b, result) __ferry_checked(product, (long)(a), (long)(b), result)
#define __builtin_uadd_overflow(a, b, result) __ferry_checked(sum, (unsigned int)(a), (unsigned int)(b), result)
#define __builtin_uaddl_overflow(a, b, result) __ferry_checked(sum, (unsigned long)(a), (unsigned long)(b), result)
#define __builtin_uaddll_overflow(a, b, result) __ferry_checked(sum, (unsigned long)(a), (unsigned long)(b), result)
#define __builtin_usub_overflow(a, b, result) __ferry_checked(difference, (unsigned int)(a), (unsigned int)(b), result)
#define __builtin_usubl_overflow(a, b, result) __ferry_checked(difference, (unsigned long)(a), (unsigned long)(b), result)
#define __builtin_usubll_overflow(a, b, result) __ferry_checked(difference, (unsigned long)(a), (unsigned long)(b), result)
#define __builtin_umul_overflow(a, b, result) __ferry_checked(product, (unsigned int)(a), (unsigned int)(b), result)
#define __builtin_umull_overflow(a, b, result) __ferry_checked(product, (unsigned long)(a), (unsigned long)(b), result)
#define __builtin_umulll_overflow(a, b, result) __ferry_checked(product, (unsigned long)(a), (unsigned long)(b), result)
