// Every constant that float.h, limits.h, math.h, stdint.h and inttypes.h name has its value in kernels, too.
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REALS(C) \
  C(DBL_EPSILON) C(DBL_MAX) C(DBL_MIN) C(DBL_TRUE_MIN) C(FLT_EPSILON) C(FLT_MAX) C(FLT_MIN) C(FLT_TRUE_MIN) \
  C(HUGE_VAL) C(HUGE_VALF) C(INFINITY) C(M_1_PI) C(M_2_PI) C(M_2_SQRTPI) C(M_E) C(M_LN10) C(M_LN2) C(M_LOG10E) \
  C(M_LOG2E) C(M_PI) C(M_PI_2) C(M_PI_4) C(M_SQRT1_2) C(M_SQRT2)

#define WHOLES(C) \
  C(AIO_PRIO_DELTA_MAX) C(BC_BASE_MAX) C(BC_DIM_MAX) C(BC_SCALE_MAX) C(BC_STRING_MAX) C(CHARCLASS_NAME_MAX) \
  C(CHAR_BIT) C(CHAR_MAX) C(CHAR_MIN) C(COLL_WEIGHTS_MAX) C(DBL_DECIMAL_DIG) C(DBL_DIG) C(DBL_HAS_SUBNORM) \
  C(DBL_MANT_DIG) C(DBL_MAX_10_EXP) C(DBL_MAX_EXP) C(DBL_MIN_10_EXP) C(DBL_MIN_EXP) C(DECIMAL_DIG) C(DELAYTIMER_MAX) \
  C(EXPR_NEST_MAX) C(FLT_DECIMAL_DIG) C(FLT_DIG) C(FLT_EVAL_METHOD) C(FLT_HAS_SUBNORM) C(FLT_MANT_DIG) \
  C(FLT_MAX_10_EXP) C(FLT_MAX_EXP) C(FLT_MIN_10_EXP) C(FLT_MIN_EXP) C(FLT_RADIX) C(FLT_ROUNDS) C(FP_ILOGB0) \
  C(FP_ILOGBNAN) C(FP_INFINITE) C(FP_NAN) C(FP_NORMAL) C(FP_SUBNORMAL) C(FP_ZERO) C(HOST_NAME_MAX) C(INT16_MAX) \
  C(INT16_MIN) C(INT32_MAX) C(INT32_MIN) C(INT64_MAX) C(INT64_MIN) C(INT8_MAX) C(INT8_MIN) C(INTMAX_MAX) \
  C(INTMAX_MIN) C(INTPTR_MAX) C(INTPTR_MIN) C(INT_FAST16_MAX) C(INT_FAST16_MIN) C(INT_FAST32_MAX) C(INT_FAST32_MIN) \
  C(INT_FAST64_MAX) C(INT_FAST64_MIN) C(INT_FAST8_MAX) C(INT_FAST8_MIN) C(INT_LEAST16_MAX) C(INT_LEAST16_MIN) \
  C(INT_LEAST32_MAX) C(INT_LEAST32_MIN) C(INT_LEAST64_MAX) C(INT_LEAST64_MIN) C(INT_LEAST8_MAX) C(INT_LEAST8_MIN) \
  C(INT_MAX) C(INT_MIN) C(LDBL_DECIMAL_DIG) C(LDBL_DIG) C(LDBL_HAS_SUBNORM) C(LDBL_MANT_DIG) C(LDBL_MAX_10_EXP) \
  C(LDBL_MAX_EXP) C(LDBL_MIN_10_EXP) C(LDBL_MIN_EXP) C(LINE_MAX) C(LLONG_MAX) C(LLONG_MIN) C(LOGIN_NAME_MAX) \
  C(LONG_MAX) C(LONG_MIN) C(MATH_ERREXCEPT) C(MATH_ERRNO) C(MAX_CANON) C(MAX_INPUT) C(MB_LEN_MAX) C(MQ_PRIO_MAX) \
  C(NAME_MAX) C(NGROUPS_MAX) C(PATH_MAX) C(PIPE_BUF) C(PTHREAD_DESTRUCTOR_ITERATIONS) C(PTHREAD_KEYS_MAX) \
  C(PTHREAD_STACK_MIN) C(PTRDIFF_MAX) C(PTRDIFF_MIN) C(RE_DUP_MAX) C(RTSIG_MAX) C(SCHAR_MAX) C(SCHAR_MIN) \
  C(SEM_VALUE_MAX) C(SHRT_MAX) C(SHRT_MIN) C(SIG_ATOMIC_MAX) C(SIG_ATOMIC_MIN) C(SIZE_MAX) C(SSIZE_MAX) \
  C(TTY_NAME_MAX) C(UCHAR_MAX) C(UINT16_MAX) C(UINT32_MAX) C(UINT64_MAX) C(UINT8_MAX) C(UINTMAX_MAX) C(UINTPTR_MAX) \
  C(UINT_FAST16_MAX) C(UINT_FAST32_MAX) C(UINT_FAST64_MAX) C(UINT_FAST8_MAX) C(UINT_LEAST16_MAX) C(UINT_LEAST32_MAX) \
  C(UINT_LEAST64_MAX) C(UINT_LEAST8_MAX) C(UINT_MAX) C(ULLONG_MAX) C(ULONG_MAX) C(USHRT_MAX) C(WCHAR_MAX) \
  C(WCHAR_MIN) C(WINT_MAX) C(WINT_MIN) C(XATTR_LIST_MAX) C(XATTR_NAME_MAX) C(XATTR_SIZE_MAX) C(false) \
  C(math_errhandling) C(true)

#define MADE(C) \
  C(INT16_C) C(INT32_C) C(INT64_C) C(INT8_C) C(INTMAX_C) C(UINT16_C) C(UINT32_C) C(UINT64_C) C(UINT8_C) C(UINTMAX_C)

#define TEXTS(C) \
  C(PRIX16) C(PRIX32) C(PRIX64) C(PRIX8) C(PRIXFAST16) C(PRIXFAST32) C(PRIXFAST64) C(PRIXFAST8) C(PRIXLEAST16) \
  C(PRIXLEAST32) C(PRIXLEAST64) C(PRIXLEAST8) C(PRIXMAX) C(PRIXPTR) C(PRId16) C(PRId32) C(PRId64) C(PRId8) \
  C(PRIdFAST16) C(PRIdFAST32) C(PRIdFAST64) C(PRIdFAST8) C(PRIdLEAST16) C(PRIdLEAST32) C(PRIdLEAST64) C(PRIdLEAST8) \
  C(PRIdMAX) C(PRIdPTR) C(PRIi16) C(PRIi32) C(PRIi64) C(PRIi8) C(PRIiFAST16) C(PRIiFAST32) C(PRIiFAST64) \
  C(PRIiFAST8) C(PRIiLEAST16) C(PRIiLEAST32) C(PRIiLEAST64) C(PRIiLEAST8) C(PRIiMAX) C(PRIiPTR) C(PRIo16) C(PRIo32) \
  C(PRIo64) C(PRIo8) C(PRIoFAST16) C(PRIoFAST32) C(PRIoFAST64) C(PRIoFAST8) C(PRIoLEAST16) C(PRIoLEAST32) \
  C(PRIoLEAST64) C(PRIoLEAST8) C(PRIoMAX) C(PRIoPTR) C(PRIu16) C(PRIu32) C(PRIu64) C(PRIu8) C(PRIuFAST16) \
  C(PRIuFAST32) C(PRIuFAST64) C(PRIuFAST8) C(PRIuLEAST16) C(PRIuLEAST32) C(PRIuLEAST64) C(PRIuLEAST8) C(PRIuMAX) \
  C(PRIuPTR) C(PRIx16) C(PRIx32) C(PRIx64) C(PRIx8) C(PRIxFAST16) C(PRIxFAST32) C(PRIxFAST64) C(PRIxFAST8) \
  C(PRIxLEAST16) C(PRIxLEAST32) C(PRIxLEAST64) C(PRIxLEAST8) C(PRIxMAX) C(PRIxPTR) C(SCNd16) C(SCNd32) C(SCNd64) \
  C(SCNd8) C(SCNdFAST16) C(SCNdFAST32) C(SCNdFAST64) C(SCNdFAST8) C(SCNdLEAST16) C(SCNdLEAST32) C(SCNdLEAST64) \
  C(SCNdLEAST8) C(SCNdMAX) C(SCNdPTR) C(SCNi16) C(SCNi32) C(SCNi64) C(SCNi8) C(SCNiFAST16) C(SCNiFAST32) \
  C(SCNiFAST64) C(SCNiFAST8) C(SCNiLEAST16) C(SCNiLEAST32) C(SCNiLEAST64) C(SCNiLEAST8) C(SCNiMAX) C(SCNiPTR) \
  C(SCNo16) C(SCNo32) C(SCNo64) C(SCNo8) C(SCNoFAST16) C(SCNoFAST32) C(SCNoFAST64) C(SCNoFAST8) C(SCNoLEAST16) \
  C(SCNoLEAST32) C(SCNoLEAST64) C(SCNoLEAST8) C(SCNoMAX) C(SCNoPTR) C(SCNu16) C(SCNu32) C(SCNu64) C(SCNu8) \
  C(SCNuFAST16) C(SCNuFAST32) C(SCNuFAST64) C(SCNuFAST8) C(SCNuLEAST16) C(SCNuLEAST32) C(SCNuLEAST64) C(SCNuLEAST8) \
  C(SCNuMAX) C(SCNuPTR) C(SCNx16) C(SCNx32) C(SCNx64) C(SCNx8) C(SCNxFAST16) C(SCNxFAST32) C(SCNxFAST64) \
  C(SCNxFAST8) C(SCNxLEAST16) C(SCNxLEAST32) C(SCNxLEAST64) C(SCNxLEAST8) C(SCNxMAX) C(SCNxPTR)

#define ONE(it) +1
enum { NREALS = 0 REALS(ONE), NWHOLES = 0 WHOLES(ONE) MADE(ONE), NTEXTS = 0 TEXTS(ONE) };

#pragma omp begin declare target
#define PUT(it) to[at++] = it;
static void reals(double *to)
{
  int at = 0;
  REALS(PUT)
}
#undef PUT
#define PUT(it) to[at++] = (unsigned long long)(it);
#define PUT_MADE(it) to[at++] = (unsigned long long)it(100) + sizeof(it(1));
static void wholes(unsigned long long *to)
{
  int at = 0;
  WHOLES(PUT)
  MADE(PUT_MADE)
}
/* Formats are for whoever prints: their lengths and first letters. */
#define PUT_TEXT(it) to[at++] = (unsigned char)(sizeof(it) * 16 + (it[0] & 15));
static void texts(unsigned char *to)
{
  int at = 0;
  TEXTS(PUT_TEXT)
}
#pragma omp end declare target

int main(void)
{
  static double real[NREALS], real_here[NREALS];
  static unsigned long long whole[NWHOLES], whole_here[NWHOLES];
  static unsigned char text[NTEXTS], text_here[NTEXTS];
  int on_host = 1, wrong = 0;
  double nan = 0;
#pragma omp target map(from : real, whole, text, nan, on_host)
  {
    reals(real);
    wholes(whole);
    texts(text);
    nan = NAN;
    on_host = omp_is_initial_device();
  }
  reals(real_here);
  wholes(whole_here);
  texts(text_here);
  for (int i = 0; i < NREALS; i++)
    if (real[i] != real_here[i]) printf("real %d: %a, not %a\n", i, real[i], real_here[i]), wrong++;
  for (int i = 0; i < NWHOLES; i++)
    if (whole[i] != whole_here[i]) printf("whole %d: %llx, not %llx\n", i, whole[i], whole_here[i]), wrong++;
  for (int i = 0; i < NTEXTS; i++)
    if (text[i] != text_here[i]) printf("text %d: %x, not %x\n", i, text[i], text_here[i]), wrong++;
  return wrong || on_host || nan == nan;
}
