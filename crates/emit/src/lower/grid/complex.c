/* Functions of complex numbers, in words that all languages of grids have. */
__ferry_fn double __ferry_z_carg(__ferry_zd z) { return atan2(__ferry_c_cimag(z), __ferry_c_creal(z)); }
__ferry_fn __ferry_zd __ferry_z_cexp(__ferry_zd z)
{
  const double size = exp(__ferry_c_creal(z));
  return __builtin_complex(size * cos(__ferry_c_cimag(z)), size * sin(__ferry_c_cimag(z)));
}
__ferry_fn __ferry_zd __ferry_z_clog(__ferry_zd z)
{
  return __builtin_complex(log(__ferry_c_cabs(z)), __ferry_z_carg(z));
}
__ferry_fn __ferry_zd __ferry_z_csqrt(__ferry_zd z)
{
  const double real = __ferry_c_creal(z), imaginary = __ferry_c_cimag(z);
  if (real == 0 && imaginary == 0)
    return __builtin_complex(0.0, imaginary);
  const double root = sqrt((__ferry_c_cabs(z) + fabs(real)) / 2);
  return real >= 0 ? __builtin_complex(root, imaginary / (2 * root))
                   : __builtin_complex(fabs(imaginary) / (2 * root), copysign(root, imaginary));
}
__ferry_fn __ferry_zd __ferry_z_cpow(__ferry_zd z, __ferry_zd to)
{
  if (__ferry_c_creal(z) == 0 && __ferry_c_cimag(z) == 0)
    return __builtin_complex(__ferry_c_creal(to) == 0 ? 1.0 : 0.0, 0.0);
  return __ferry_z_cexp(to * __ferry_z_clog(z));
}
__ferry_fn __ferry_zd __ferry_z_csin(__ferry_zd z)
{
  const double real = __ferry_c_creal(z), imaginary = __ferry_c_cimag(z);
  return __builtin_complex(sin(real) * cosh(imaginary), cos(real) * sinh(imaginary));
}
__ferry_fn __ferry_zd __ferry_z_ccos(__ferry_zd z)
{
  const double real = __ferry_c_creal(z), imaginary = __ferry_c_cimag(z);
  return __builtin_complex(cos(real) * cosh(imaginary), -sin(real) * sinh(imaginary));
}
