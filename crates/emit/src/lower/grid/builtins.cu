/* What gcc's headers make of constants and macros: NVIDIA's compiler has next to none of it. */
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000)
#define __builtin_huge_val __builtin_inf
#define __builtin_huge_valf __builtin_inff
static __device__ int __ferry_signbit(double x) { return __builtin_bit_cast(long, x) < 0; }
static __device__ int __ferry_signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
template <class T> static __device__ int __ferry_isnan(T x) { return x != x; }
template <class T> static __device__ int __ferry_isinf(T x)
{
  return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}
template <class T> static __device__ int __ferry_isfinite(T x) { return x == x && !__ferry_isinf(x); }
static __device__ int __ferry_isnormal(double x)
{
  return __ferry_isfinite(x) && (x >= 0x1p-1022 || x <= -0x1p-1022);
}
static __device__ int __ferry_isnormal(float x)
{
  return __ferry_isfinite(x) && (x >= 0x1p-126f || x <= -0x1p-126f);
}
template <class T>
static __device__ int __ferry_fpclassify(int nan, int inf, int normal, int tiny, int zero, T x)
{
  return x != x ? nan : __ferry_isinf(x) ? inf : x == 0 ? zero : __ferry_isnormal(x) ? normal : tiny;
}
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
#define __builtin_fpclassify __ferry_fpclassify
template <class T, class U> static __device__ int __ferry_isgreater(T x, U y) { return x > y; }
template <class T, class U> static __device__ int __ferry_isgreaterequal(T x, U y) { return x >= y; }
template <class T, class U> static __device__ int __ferry_isless(T x, U y) { return x < y; }
template <class T, class U> static __device__ int __ferry_islessequal(T x, U y) { return x <= y; }
template <class T, class U> static __device__ int __ferry_islessgreater(T x, U y) { return x < y || x > y; }
template <class T, class U> static __device__ int __ferry_isunordered(T x, U y) { return x != x || y != y; }
template <class T, class U> static __device__ int __ferry_iseqsig(T x, U y) { return x == y; }
#define __builtin_isgreater __ferry_isgreater
#define __builtin_isgreaterequal __ferry_isgreaterequal
#define __builtin_isless __ferry_isless
#define __builtin_islessequal __ferry_islessequal
#define __builtin_islessgreater __ferry_islessgreater
#define __builtin_isunordered __ferry_isunordered
#define __builtin_iseqsig __ferry_iseqsig
static __device__ int __ferry_popcount(unsigned x) { return __popc(x); }
static __device__ int __ferry_popcountl(unsigned long x) { return __popcll(x); }
static __device__ int __ferry_parity(unsigned x) { return __popc(x) & 1; }
static __device__ int __ferry_parityl(unsigned long x) { return __popcll(x) & 1; }
static __device__ int __ferry_clz(unsigned x) { return __clz((int)x); }
static __device__ int __ferry_clzl(unsigned long x) { return __clzll((long long)x); }
static __device__ int __ferry_ffs(int x) { return __ffs(x); }
static __device__ int __ferry_ffsl(long x) { return __ffsll(x); }
static __device__ int __ferry_ctz(unsigned x) { return __ffs((int)x) - 1; }
static __device__ int __ferry_ctzl(unsigned long x) { return __ffsll((long long)x) - 1; }
static __device__ int __ferry_clrsb(int x) { return __clz(x < 0 ? ~x : x) - 1; }
static __device__ int __ferry_clrsbl(long x) { return __clzll(x < 0 ? ~x : x) - 1; }
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
static __device__ unsigned short __ferry_bswap16(unsigned short x) { return (unsigned short)(x << 8 | x >> 8); }
static __device__ unsigned __ferry_bswap32(unsigned x) { return __byte_perm(x, 0, 0x0123); }
static __device__ unsigned long __ferry_bswap64(unsigned long x)
{
  return (unsigned long)__ferry_bswap32((unsigned)x) << 32 | __ferry_bswap32((unsigned)(x >> 32));
}
#define __builtin_bswap16 __ferry_bswap16
#define __builtin_bswap32 __ferry_bswap32
#define __builtin_bswap64 __ferry_bswap64
#define __builtin_expect_with_probability(x, wanted, how) ((long)(x))
#define __builtin_prefetch(at, ...) ((void)(at))
#define __builtin_trap() __trap()
/* Sums and products of 128 bits, of which the result has the lower ones: whether it has lost something. */
template <class T> static __device__ long __ferry_upper(T x) { return x < 0 ? -1 : 0; }
template <class R>
static __device__ bool __ferry_overflows(unsigned long low, long high, R *result)
{
  *result = (R)low;
  return (unsigned long)*result != low || __ferry_upper(*result) != high;
}
template <class A, class B, class R> static __device__ bool __ferry_add_overflow(A a, B b, R *result)
{
  const unsigned long low = (unsigned long)a + (unsigned long)b;
  return __ferry_overflows(low, __ferry_upper(a) + __ferry_upper(b) + (low < (unsigned long)a), result);
}
template <class A, class B, class R> static __device__ bool __ferry_sub_overflow(A a, B b, R *result)
{
  const unsigned long low = (unsigned long)a - (unsigned long)b;
  const long borrow = (unsigned long)a < (unsigned long)b;
  return __ferry_overflows(low, __ferry_upper(a) - __ferry_upper(b) - borrow, result);
}
template <class A, class B, class R> static __device__ bool __ferry_mul_overflow(A a, B b, R *result)
{
  const unsigned long x = a < 0 ? -(unsigned long)a : (unsigned long)a, y = b < 0 ? -(unsigned long)b : (unsigned long)b;
  unsigned long low = x * y, high = __umul64hi(x, y);
  if ((a < 0) != (b < 0))
    low = -low, high = ~high + (low == 0);
  return __ferry_overflows(low, (long)high, result);
}
#define __builtin_add_overflow __ferry_add_overflow
#define __builtin_sub_overflow __ferry_sub_overflow
#define __builtin_mul_overflow __ferry_mul_overflow
#define __builtin_sadd_overflow __ferry_add_overflow
#define __builtin_saddl_overflow __ferry_add_overflow
#define __builtin_saddll_overflow __ferry_add_overflow
#define __builtin_uadd_overflow __ferry_add_overflow
#define __builtin_uaddl_overflow __ferry_add_overflow
#define __builtin_uaddll_overflow __ferry_add_overflow
#define __builtin_ssub_overflow __ferry_sub_overflow
#define __builtin_ssubl_overflow __ferry_sub_overflow
#define __builtin_ssubll_overflow __ferry_sub_overflow
#define __builtin_usub_overflow __ferry_sub_overflow
#define __builtin_usubl_overflow __ferry_sub_overflow
#define __builtin_usubll_overflow __ferry_sub_overflow
#define __builtin_smul_overflow __ferry_mul_overflow
#define __builtin_smull_overflow __ferry_mul_overflow
#define __builtin_smulll_overflow __ferry_mul_overflow
#define __builtin_umul_overflow __ferry_mul_overflow
#define __builtin_umull_overflow __ferry_mul_overflow
#define __builtin_umulll_overflow __ferry_mul_overflow
template <class T> static __device__ T __ferry_powi(T x, int n)
{
  T y = n % 2 ? x : 1;
  for (unsigned left = n < 0 ? -(unsigned)n : (unsigned)n; left >>= 1;) {
    x *= x;
    y *= left % 2 ? x : 1;
  }
  return n < 0 ? 1 / y : y;
}
#define __builtin_powi __ferry_powi
#define __builtin_powif __ferry_powi
