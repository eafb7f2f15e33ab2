/* From their parts, which not all compilers have a word for. */
static _Complex double __attribute__((overloadable)) __ferry_complex(double real, double imaginary)
{
  _Complex double z;
  __real__ z = real;
  __imag__ z = imaginary;
  return z;
}
static _Complex float __attribute__((overloadable)) __ferry_complex(float real, float imaginary)
{
  _Complex float z;
  __real__ z = real;
  __imag__ z = imaginary;
  return z;
}
#define __builtin_complex __ferry_complex
/* What compilers call for products and quotients of complex numbers. */
_Complex double __muldc3(double a, double b, double c, double d)
{
  _Complex double z;
  __real__ z = a * c - b * d;
  __imag__ z = a * d + b * c;
  return z;
}
_Complex double __divdc3(double a, double b, double c, double d)
{
  _Complex double z;
  if (fabs(c) >= fabs(d)) {
    const double r = d / c, by = c + d * r;
    __real__ z = (a + b * r) / by;
    __imag__ z = (b - a * r) / by;
  } else {
    const double r = c / d, by = c * r + d;
    __real__ z = (a * r + b) / by;
    __imag__ z = (b * r - a) / by;
  }
  return z;
}
_Complex float __mulsc3(float a, float b, float c, float d)
{
  _Complex float z;
  __real__ z = a * c - b * d;
  __imag__ z = a * d + b * c;
  return z;
}
_Complex float __divsc3(float a, float b, float c, float d)
{
  const _Complex double wide = __divdc3(a, b, c, d);
  _Complex float z;
  __real__ z = (float)__real__ wide;
  __imag__ z = (float)__imag__ wide;
  return z;
}
static double __ferry_c_creal(_Complex double z) { return __real__ z; }
static double __ferry_c_cimag(_Complex double z) { return __imag__ z; }
static double __ferry_c_cabs(_Complex double z) { return hypot(__real__ z, __imag__ z); }
static _Complex double __ferry_c_conj(_Complex double z) { return ~z; }
static float __ferry_c_crealf(_Complex float z) { return __real__ z; }
static float __ferry_c_cimagf(_Complex float z) { return __imag__ z; }
static float __ferry_c_cabsf(_Complex float z) { return hypot(__real__ z, __imag__ z); }
static _Complex float __ferry_c_conjf(_Complex float z) { return ~z; }
#define __ferry_zd _Complex double
