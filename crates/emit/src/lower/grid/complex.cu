/* Complex numbers, which the language has not. Operands have been brought to one type. */
template <class T> struct __ferry_complex {
  T re, im;
  __ferry_complex() = default;
  __device__ __ferry_complex(T real, T imaginary) : re(real), im(imaginary) {}
  template <class U> __device__ __ferry_complex(U real) : re((T)real), im(0) {}
  template <class U> __device__ __ferry_complex(__ferry_complex<U> z) : re((T)z.re), im((T)z.im) {}
  __device__ explicit operator bool() const { return re != 0 || im != 0; }
  template <class U> __device__ explicit operator U() const { return (U)re; }
  template <class U> __device__ __ferry_complex &operator+=(const U &z) { return *this = *this + z; }
  template <class U> __device__ __ferry_complex &operator-=(const U &z) { return *this = *this - z; }
  template <class U> __device__ __ferry_complex &operator*=(const U &z) { return *this = *this * z; }
  template <class U> __device__ __ferry_complex &operator/=(const U &z) { return *this = *this / z; }
};
template <class T, class U> struct __ferry_wide { typedef decltype(T() + U()) type; };
template <class T> struct __ferry_real { typedef T type; };
template <class T> struct __ferry_real<__ferry_complex<T>> { typedef T type; };
#define __ferry_both(T, U) __ferry_complex<typename __ferry_wide<T, typename __ferry_real<U>::type>::type>
template <class T> static __device__ __ferry_complex<T> __ferry_plus(__ferry_complex<T> a, __ferry_complex<T> b)
{
  return { a.re + b.re, a.im + b.im };
}
template <class T> static __device__ __ferry_complex<T> __ferry_minus(__ferry_complex<T> a, __ferry_complex<T> b)
{
  return { a.re - b.re, a.im - b.im };
}
template <class T> static __device__ __ferry_complex<T> __ferry_times(__ferry_complex<T> a, __ferry_complex<T> b)
{
  return { a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}
template <class T> static __device__ __ferry_complex<T> __ferry_over(__ferry_complex<T> a, __ferry_complex<T> b)
{
  if (fabs(b.re) >= fabs(b.im)) {
    const T r = b.im / b.re, by = b.re + b.im * r;
    return { (a.re + a.im * r) / by, (a.im - a.re * r) / by };
  }
  const T r = b.re / b.im, by = b.re * r + b.im;
  return { (a.re * r + a.im) / by, (a.im * r - a.re) / by };
}
#define __ferry_operator(op, name) \
  template <class T, class U> \
  static __device__ __ferry_both(T, U) operator op(const __ferry_complex<T> &a, const U &b) \
  { \
    return name(__ferry_both(T, U)(a), __ferry_both(T, U)(b)); \
  }
__ferry_operator(+, __ferry_plus)
__ferry_operator(-, __ferry_minus)
__ferry_operator(*, __ferry_times)
__ferry_operator(/, __ferry_over)
template <class T> static __device__ __ferry_complex<T> operator-(const __ferry_complex<T> &z) { return { -z.re, -z.im }; }
template <class T> static __device__ __ferry_complex<T> operator+(const __ferry_complex<T> &z) { return z; }
template <class T> static __device__ __ferry_complex<T> operator~(const __ferry_complex<T> &z) { return { z.re, -z.im }; }
template <class T> static __device__ bool operator==(const __ferry_complex<T> &a, const __ferry_complex<T> &b)
{
  return a.re == b.re && a.im == b.im;
}
template <class T> static __device__ bool operator!=(const __ferry_complex<T> &a, const __ferry_complex<T> &b)
{
  return a.re != b.re || a.im != b.im;
}
template <class T> static __device__ __ferry_complex<T> __ferry_cmplx(T real, T imaginary) { return { real, imaginary }; }
#define __builtin_complex __ferry_cmplx
#define __ferry_c_creal(z) ((z).re)
#define __ferry_c_crealf(z) ((z).re)
#define __ferry_c_cimag(z) ((z).im)
#define __ferry_c_cimagf(z) ((z).im)
#define __ferry_c_cabs(z) hypot((z).re, (z).im)
#define __ferry_c_cabsf(z) hypotf((z).re, (z).im)
#define __ferry_c_conj(z) (~(z))
#define __ferry_c_conjf(z) (~(z))
#define __ferry_zd __ferry_complex<double>
