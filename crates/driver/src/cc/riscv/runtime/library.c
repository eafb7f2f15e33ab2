/* What C programs take for granted, as far as a machine without a system can give it. Numbers are printed, and memory is
 * found, by the host. */

typedef struct { u64 address, bytes, align; } Answer;

static void *allocate(size_t bytes, size_t align) {
  Answer answer = {0, bytes ? bytes : 1, align};
  ferry_ask(ASK_ALLOCATE, low(&answer), 0, 0);
  return (void *)answer.address;
}
void *malloc(size_t bytes) { return allocate(bytes, 16); }
void *aligned_alloc(size_t align, size_t bytes) { return allocate(bytes, align); }
void free(void *it) {
  if (!it) return;
  Answer answer = {(u64)it, 0};
  ferry_ask(ASK_FREE, low(&answer), 0, 0);
}
void *memset(void *to, int byte, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);
void *calloc(size_t count, size_t bytes) {
  if (bytes && count > ~0ul / bytes) return NULL;
  void *it = malloc(count * bytes);
  if (it) memset(it, 0, count * bytes);
  return it;
}
void *realloc(void *old, size_t bytes) {
  if (!old) return malloc(bytes);
  Answer answer = {(u64)old, 0};
  ferry_ask(ASK_SIZE, low(&answer), 0, 0);
  void *it = malloc(bytes);
  if (!it) return NULL;
  memcpy(it, old, answer.bytes < bytes ? answer.bytes : bytes);
  free(old);
  return it;
}

__attribute__((noreturn)) static void ferry_crash(const char *why) {
  Answer answer = {(u64)why, 0};
  ferry_ask(ASK_CRASH, low(&answer), 0, 0);
  for (;;)
    ;
}
__attribute__((noreturn)) void exit(int status) {
  ferry_ask(ASK_STOP, (u32)status, 0, 0);
  for (;;)
    ;
}
__attribute__((noreturn)) void _exit(int status) { exit(status); }
__attribute__((noreturn)) void abort(void) { ferry_crash("abort() was called"); }
static int ferry_print(int stream, const char *format, u64 *slots);
__attribute__((noreturn)) void __assert_fail(const char *what, const char *file, u32 line, const char *function) {
  u64 slots[4] = {(u64)file, line, (u64)function, (u64)what};
  ferry_print(2, "%s:%u: %s: Assertion `%s' failed.\n", slots);
  ferry_crash("an assertion failed");
}
/* A directive `error`; the severity 2 ends the program. */
void __kmpc_error(void *place, int severity, const char *message) {
  u64 slots[1] = {(u64)(message ? message : "")};
  ferry_print(2, "error directive: %s\n", slots);
  if (severity == 2) ferry_crash("an `error` directive was reached");
}

/* Texts are read where they lie, here or on the host. */
typedef struct { u64 format, slots, stream, done, into, room; } Print;
static int ferry_print(int stream, const char *format, u64 *slots) {
  Print print = {(u64)format, (u64)slots, (u64)stream, 0, 0, 0};
  ferry_ask(ASK_PRINT, low(&print), 0, 0);
  return (int)print.done;
}
int ferry_va_printf(const char *format, u64 *slots) { return ferry_print(1, format, slots); }
void *stdout = (void *)1, *stderr = (void *)2;
int ferry_va_fprintf(void *stream, const char *format, u64 *slots) {
  return ferry_print(stream == stderr ? 2 : 1, format, slots);
}
static int ferry_print_into(char *into, size_t room, const char *format, u64 *slots) {
  Print print = {(u64)format, (u64)slots, 0, 0, (u64)into, room};
  ferry_ask(ASK_PRINT, low(&print), 0, 0);
  return (int)print.done;
}
int ferry_va_sprintf(char *into, const char *format, u64 *slots) { return ferry_print_into(into, 1ul << 40, format, slots); }
int ferry_va_snprintf(char *into, size_t room, const char *format, u64 *slots) {
  return ferry_print_into(into, room, format, slots);
}
int puts(const char *text) {
  u64 slots[1] = {(u64)text};
  return ferry_print(1, "%s\n", slots);
}
int putchar(int it) {
  u64 slots[1] = {(u64)it};
  ferry_print(1, "%c", slots);
  return it;
}
int fflush(void *stream) { return 0; }

size_t strlen(const char *it) {
  size_t n = 0;
  while (it[n]) n++;
  return n;
}
int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
int strncmp(const char *a, const char *b, size_t n) {
  for (; n; n--, a++, b++)
    if (*a != *b || !*a) return *(const unsigned char *)a - *(const unsigned char *)b;
  return 0;
}
char *strcpy(char *to, const char *from) {
  char *it = to;
  while ((*it++ = *from++))
    ;
  return to;
}
char *strncpy(char *to, const char *from, size_t n) {
  size_t i = 0;
  for (; i < n && from[i]; i++) to[i] = from[i];
  for (; i < n; i++) to[i] = 0;
  return to;
}
char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}
char *strchr(const char *in, int what) {
  for (;; in++) {
    if (*in == (char)what) return (char *)in;
    if (!*in) return NULL;
  }
}
int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n; n--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
char *strrchr(const char *in, int what) {
  const char *last = NULL;
  for (;; in++) {
    if (*in == (char)what) last = in;
    if (!*in) return (char *)last;
  }
}
size_t strnlen(const char *it, size_t most) {
  size_t length = 0;
  while (length < most && it[length]) length++;
  return length;
}
char *strncat(char *to, const char *from, size_t n) {
  size_t end = strlen(to), at = 0;
  for (; at < n && from[at]; at++) to[end + at] = from[at];
  to[end + at] = 0;
  return to;
}
char *strstr(const char *in, const char *what) {
  const size_t length = strlen(what);
  for (; *in || !length; in++)
    if (!strncmp(in, what, length)) return (char *)in;
  return NULL;
}
void *memchr(const void *in, int what, size_t n) {
  const unsigned char *at = in;
  for (; n; n--, at++)
    if (*at == (unsigned char)what) return (void *)at;
  return NULL;
}

/* Characters of the locale "C"; the bits, and the tables from -128 on, are those of the host's C library. */
#define EIGHT(of, c) of(c), of(c + 1), of(c + 2), of(c + 3), of(c + 4), of(c + 5), of(c + 6), of(c + 7)
#define MANY(of, c) \
  EIGHT(of, c), EIGHT(of, c + 8), EIGHT(of, c + 16), EIGHT(of, c + 24), EIGHT(of, c + 32), EIGHT(of, c + 40), \
      EIGHT(of, c + 48), EIGHT(of, c + 56)
#define ALL(of) {MANY(of, -128), MANY(of, -64), MANY(of, 0), MANY(of, 64), MANY(of, 128), MANY(of, 192)}
#define IN(c, from, to) ((c) >= from && (c) <= to)
#define ALPHA(c) (IN(c, 'A', 'Z') || IN(c, 'a', 'z'))
#define KINDS(c) \
  (((c) == ' ' || (c) == '\t') | (IN(c, 0, 31) || (c) == 127) << 1 | (IN(c, 33, 126) && !ALPHA(c) && !IN(c, '0', '9')) << 2 | \
   (ALPHA(c) || IN(c, '0', '9')) << 3 | IN(c, 'A', 'Z') << 8 | IN(c, 'a', 'z') << 9 | ALPHA(c) << 10 | IN(c, '0', '9') << 11 | \
   (IN(c, '0', '9') || IN(c, 'A', 'F') || IN(c, 'a', 'f')) << 12 | ((c) == ' ' || IN(c, 9, 13)) << 13 | IN(c, 32, 126) << 14 | \
   IN(c, 33, 126) << 15)
#define LOWER(c) (IN(c, 'A', 'Z') ? (c) + 32 : (c))
#define UPPER(c) (IN(c, 'a', 'z') ? (c) - 32 : (c))
static const unsigned short kinds[384] = ALL(KINDS), *const kinds_at = kinds + 128;
static const int lowers[384] = ALL(LOWER), *const lowers_at = lowers + 128;
static const int uppers[384] = ALL(UPPER), *const uppers_at = uppers + 128;
const unsigned short *const *__ctype_b_loc(void) { return &kinds_at; }
const int *const *__ctype_tolower_loc(void) { return &lowers_at; }
const int *const *__ctype_toupper_loc(void) { return &uppers_at; }
int tolower(int c) { return LOWER(c); }
int toupper(int c) { return UPPER(c); }
#define KIND(name, bit) int name(int c) { return KINDS(c) & bit; }
KIND(isblank, 1) KIND(iscntrl, 2) KIND(ispunct, 4) KIND(isalnum, 8) KIND(isupper, 0x100) KIND(islower, 0x200)
KIND(isalpha, 0x400) KIND(isdigit, 0x800) KIND(isxdigit, 0x1000) KIND(isspace, 0x2000) KIND(isprint, 0x4000)
KIND(isgraph, 0x8000)

int abs(int it) { return it < 0 ? -it : it; }
long labs(long it) { return it < 0 ? -it : it; }
i64 llabs(i64 it) { return it < 0 ? -it : it; }

static u32 seed = 1;
int rand(void) {
  seed = seed * 1103515245 + 12345;
  return (seed >> 1) & 0x7fffffff;
}
void srand(u32 it) { seed = it; }
int rand_r(u32 *it) {
  *it = *it * 1103515245 + 12345;
  return (*it >> 1) & 0x7fffffff;
}

/* Complex numbers are handed over otherwise by the library for 32 bits, so those with a simple answer are here. */
double hypot(double, double), atan2(double, double);
float hypotf(float, float), atan2f(float, float);
double cabs(double _Complex z) { return hypot(__real__ z, __imag__ z); }
float cabsf(float _Complex z) { return hypotf(__real__ z, __imag__ z); }
double carg(double _Complex z) { return atan2(__imag__ z, __real__ z); }
float cargf(float _Complex z) { return atan2f(__imag__ z, __real__ z); }
double creal(double _Complex z) { return __real__ z; }
float crealf(float _Complex z) { return __real__ z; }
double cimag(double _Complex z) { return __imag__ z; }
float cimagf(float _Complex z) { return __imag__ z; }
double _Complex conj(double _Complex z) { return ~z; }
float _Complex conjf(float _Complex z) { return ~z; }

/* Functions of libm that give a second number through a pointer, which may lead anywhere. */
double scalbn(double, int);
float scalbnf(float, int);
static int ferry_power(long by) { return by > 100000 ? 100000 : by < -100000 ? -100000 : (int)by; }
double scalbln(double x, long by) { return scalbn(x, ferry_power(by)); }
float scalblnf(float x, long by) { return scalbnf(x, ferry_power(by)); }
double modf(double x, double *whole) {
  double it = __builtin_trunc(x);
  *whole = it;
  return __builtin_isinf(x) ? __builtin_copysign(0.0, x) : __builtin_copysign(x - it, x);
}
double frexp(double x, int *exponent) {
  u64 bits;
  __builtin_memcpy(&bits, &x, 8);
  int power = (int)(bits >> 52 & 0x7ff);
  *exponent = 0;
  if (power == 0x7ff || x == 0) return x;
  if (!power) {
    x *= 0x1p64;
    __builtin_memcpy(&bits, &x, 8);
    power = (int)(bits >> 52 & 0x7ff) - 64;
  }
  *exponent = power - 1022;
  bits = (bits & ~(0x7ffull << 52)) | 1022ull << 52;
  __builtin_memcpy(&x, &bits, 8);
  return x;
}
double sin(double), cos(double);
float sinf(float), cosf(float);
void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }

/* Complex numbers, as the C standard's Annex G has it. */
#define COMPLEX(T, SUFFIX, F) \
  typedef T _Complex C##SUFFIX; \
  C##SUFFIX __mul##SUFFIX##3(T a, T b, T c, T d) { \
    T ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc; \
    if (__builtin_isnan(x) && __builtin_isnan(y)) { \
      int again = 0; \
      if (__builtin_isinf(a) || __builtin_isinf(b)) { \
        a = __builtin_copysign##F(__builtin_isinf(a) ? 1 : 0, a), b = __builtin_copysign##F(__builtin_isinf(b) ? 1 : 0, b); \
        if (__builtin_isnan(c)) c = __builtin_copysign##F(0, c); \
        if (__builtin_isnan(d)) d = __builtin_copysign##F(0, d); \
        again = 1; \
      } \
      if (__builtin_isinf(c) || __builtin_isinf(d)) { \
        c = __builtin_copysign##F(__builtin_isinf(c) ? 1 : 0, c), d = __builtin_copysign##F(__builtin_isinf(d) ? 1 : 0, d); \
        if (__builtin_isnan(a)) a = __builtin_copysign##F(0, a); \
        if (__builtin_isnan(b)) b = __builtin_copysign##F(0, b); \
        again = 1; \
      } \
      if (!again && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) { \
        if (__builtin_isnan(a)) a = __builtin_copysign##F(0, a); \
        if (__builtin_isnan(b)) b = __builtin_copysign##F(0, b); \
        if (__builtin_isnan(c)) c = __builtin_copysign##F(0, c); \
        if (__builtin_isnan(d)) d = __builtin_copysign##F(0, d); \
        again = 1; \
      } \
      if (again) x = __builtin_inf##F() * (a * c - b * d), y = __builtin_inf##F() * (a * d + b * c); \
    } \
    C##SUFFIX made; \
    __real__ made = x, __imag__ made = y; \
    return made; \
  } \
  /* By the larger part of the divisor first, so that nothing overflows on the way. */ \
  C##SUFFIX __div##SUFFIX##3(T a, T b, T c, T d) { \
    T x, y; \
    if (__builtin_fabs##F(c) < __builtin_fabs##F(d)) { \
      T ratio = c / d, whole = c * ratio + d; \
      x = (a * ratio + b) / whole, y = (b * ratio - a) / whole; \
    } else { \
      T ratio = d / c, whole = d * ratio + c; \
      x = (b * ratio + a) / whole, y = (b - a * ratio) / whole; \
    } \
    if (__builtin_isnan(x) && __builtin_isnan(y)) { \
      if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) { \
        x = __builtin_copysign##F(__builtin_inf##F(), c) * a, y = __builtin_copysign##F(__builtin_inf##F(), c) * b; \
      } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) { \
        a = __builtin_copysign##F(__builtin_isinf(a) ? 1 : 0, a), b = __builtin_copysign##F(__builtin_isinf(b) ? 1 : 0, b); \
        x = __builtin_inf##F() * (a * c + b * d), y = __builtin_inf##F() * (b * c - a * d); \
      } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) { \
        c = __builtin_copysign##F(__builtin_isinf(c) ? 1 : 0, c), d = __builtin_copysign##F(__builtin_isinf(d) ? 1 : 0, d); \
        x = 0 * (a * c + b * d), y = 0 * (b * c - a * d); \
      } \
    } \
    C##SUFFIX made; \
    __real__ made = x, __imag__ made = y; \
    return made; \
  }
COMPLEX(double, dc, )
COMPLEX(float, sc, f)

/* A cycle stands for a nanosecond. */
static u64 cycles(void) {
  u32 high, again, low;
  do {
    __asm__ volatile("csrr %0, cycleh" : "=r"(high));
    __asm__ volatile("csrr %0, cycle" : "=r"(low));
    __asm__ volatile("csrr %0, cycleh" : "=r"(again));
  } while (high != again);
  return (u64)high << 32 | low;
}
int usleep(u32 micros) {
  u64 end = cycles() + (u64)micros * 1000;
  while (cycles() < end) pause_for(64);
  return 0;
}
u32 sleep(u32 seconds) {
  while (seconds--) usleep(1000000);
  return 0;
}

/* Data that no instruction of the cluster changes at once. */
IN_L1 static u32 tickets, served;
/* In the order of arrival: cores that ask again and again in step would never let another through. Written out: what is
 * called here would be given the lock itself. */
void ferry_lock_host(void) {
  u32 mine = __atomic_fetch_add(&tickets, 1, __ATOMIC_ACQUIRE);
  while (__atomic_load_n(&served, __ATOMIC_ACQUIRE) != mine) {
    u32 left;
    __asm__ volatile("divu %0, %1, %2" : "=r"(left) : "r"(1), "r"(1));
  }
}
void ferry_unlock_host(void) { __atomic_store_n(&served, served + 1, __ATOMIC_RELEASE); }
void any_load(size_t bytes, void *from, void *to, int order) __asm__("__atomic_load");
void any_load(size_t bytes, void *from, void *to, int order) {
  ferry_lock_host();
  memcpy(to, from, bytes);
  ferry_unlock_host();
}
void any_store(size_t bytes, void *to, void *from, int order) __asm__("__atomic_store");
void any_store(size_t bytes, void *to, void *from, int order) {
  ferry_lock_host();
  memcpy(to, from, bytes);
  ferry_unlock_host();
}
void any_exchange(size_t bytes, void *at, void *value, void *old, int order) __asm__("__atomic_exchange");
void any_exchange(size_t bytes, void *at, void *value, void *old, int order) {
  ferry_lock_host();
  memcpy(old, at, bytes);
  memcpy(at, value, bytes);
  ferry_unlock_host();
}
_Bool any_compare_exchange(size_t bytes, void *at, void *expected, void *value, int order, int other) __asm__("__atomic_compare_exchange");
_Bool any_compare_exchange(size_t bytes, void *at, void *expected, void *value, int order, int other) {
  ferry_lock_host();
  _Bool same = !memcmp(at, expected, bytes);
  if (same) memcpy(at, value, bytes);
  else memcpy(expected, at, bytes);
  ferry_unlock_host();
  return same;
}
