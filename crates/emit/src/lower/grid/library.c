/* More of the C library, in words that all languages of grids have. */
__ferry_fn double __ferry_x_nearbyint(double x) { return rint(x); }
__ferry_fn long __ferry_x_lrint(double x) { return (long)rint(x); }
__ferry_fn long __ferry_x_lround(double x) { return (long)round(x); }
__ferry_fn double __ferry_x_scalbn(double x, long by)
{
  return ldexp(x, by > 100000 ? 100000 : by < -100000 ? -100000 : (int)by);
}
__ferry_fn void __ferry_x_sincos(double x, __ferry_far double *sine, __ferry_far double *cosine)
{
  *sine = sin(x);
  *cosine = cos(x);
}
__ferry_fn void __ferry_x_sincosf(float x, __ferry_far float *sine, __ferry_far float *cosine)
{
  *sine = (float)sin((double)x);
  *cosine = (float)cos((double)x);
}
__ferry_fn __ferry_size __ferry_x_strnlen(const __ferry_far char *text, __ferry_size most)
{
  __ferry_size length = 0;
  while (length < most && text[length] != 0)
    length++;
  return length;
}
__ferry_fn __ferry_far char *__ferry_x_strncpy(__ferry_far char *to, const __ferry_far char *from, __ferry_size size)
{
  __ferry_size at = 0;
  for (; at < size && from[at] != 0; at++)
    to[at] = from[at];
  for (; at < size; at++)
    to[at] = 0;
  return to;
}
__ferry_fn __ferry_far char *__ferry_x_strncat(__ferry_far char *to, const __ferry_far char *from, __ferry_size size)
{
  __ferry_size end = 0, at = 0;
  while (to[end] != 0)
    end++;
  for (; at < size && from[at] != 0; at++)
    to[end + at] = from[at];
  to[end + at] = 0;
  return to;
}
#define __ferry_x_strcat(to, from) __ferry_x_strncat(to, from, ~0ul)
__ferry_fn __ferry_far char *__ferry_x_strstr(const __ferry_far char *text, const __ferry_far char *wanted)
{
  for (;; text++) {
    __ferry_size at = 0;
    while (wanted[at] != 0 && text[at] == wanted[at])
      at++;
    if (wanted[at] == 0)
      return (__ferry_far char *)text;
    if (*text == 0)
      return 0;
  }
}
__ferry_fn __ferry_far void *__ferry_x_memchr(const __ferry_far void *memory, int wanted, __ferry_size size)
{
  const __ferry_far unsigned char *at = (const __ferry_far unsigned char *)memory;
  for (; size > 0; size--, at++)
    if (*at == (unsigned char)wanted)
      return (__ferry_far void *)at;
  return 0;
}
/* Characters of the locale "C"; the bits are those of glibc's tables. */
__ferry_fn int __ferry_x_ctype(int c)
{
  int is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z', is_digit = c >= '0' && c <= '9';
  int is_alpha = is_upper || is_lower, is_blank = c == ' ' || c == '\t', is_graph = c > ' ' && c < 127;
  int is_hex = is_digit || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
  int bits = is_blank | ((c >= 0 && c < ' ') || c == 127) << 1 | (is_alpha || is_digit) << 3;
  bits |= (is_graph && !is_alpha && !is_digit) << 2 | is_upper << 8 | is_lower << 9 | is_alpha << 10 | is_digit << 11;
  return bits | is_hex << 12 | (c == ' ' || (c >= '\t' && c <= '\r')) << 13 | (is_graph || c == ' ') << 14 | is_graph << 15;
}
#define __ferry_x_isalnum(c) (__ferry_x_ctype(c) & 0x8)
#define __ferry_x_isalpha(c) (__ferry_x_ctype(c) & 0x400)
#define __ferry_x_isascii(c) (((c) & ~0x7f) == 0)
#define __ferry_x_isblank(c) (__ferry_x_ctype(c) & 0x1)
#define __ferry_x_iscntrl(c) (__ferry_x_ctype(c) & 0x2)
#define __ferry_x_isdigit(c) (__ferry_x_ctype(c) & 0x800)
#define __ferry_x_isgraph(c) (__ferry_x_ctype(c) & 0x8000)
#define __ferry_x_islower(c) (__ferry_x_ctype(c) & 0x200)
#define __ferry_x_isprint(c) (__ferry_x_ctype(c) & 0x4000)
#define __ferry_x_ispunct(c) (__ferry_x_ctype(c) & 0x4)
#define __ferry_x_isspace(c) (__ferry_x_ctype(c) & 0x2000)
#define __ferry_x_isupper(c) (__ferry_x_ctype(c) & 0x100)
#define __ferry_x_isxdigit(c) (__ferry_x_ctype(c) & 0x1000)
#define __ferry_x_toascii(c) ((c) & 0x7f)
__ferry_fn int __ferry_x_tolower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }
__ferry_fn int __ferry_x_toupper(int c) { return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c; }
