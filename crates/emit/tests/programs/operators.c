/* Precedence, promotions, conversions that must stay and such that C makes by itself. */
#include <limits.h>
#include <stdio.h>
static unsigned char byte = 200;
static signed char small = -3;
static unsigned u = 5;
static long l = -7;
static float f = 0.1f;
static int calls;
static int call(void) { return ++calls; }
struct bits { unsigned a : 3; int b : 5; unsigned long c : 40; _Bool d : 1; };
int main(void) {
  struct bits s = { 7, -9, (1UL << 39) + 3, 1 };
  int x = 3, y = 4, z = 5;
  printf("%d %d %d\n", x - (y - z), x - y - z, -(-x));
  printf("%d %d %d\n", (x + y) * z, x + y * z, x << y + 1 & 0x7f);
  printf("%d %d\n", (x & y) == z, x & (y == 4));
  printf("%d %d %d\n", byte + byte, (unsigned char)(byte + byte), small >> 1);
  printf("%d %d\n", small < u, (int)small < (int)u);
  printf("%d %d\n", l < u, l < (unsigned long)u);
  printf("%d %d\n", f == 0.1, f == (float)0.1);
  printf("%d %d\n", (x = 5, y) , x);
  printf("%d\n", x > 3 ? y > 3 ? 1 : 2 : 3);
  printf("%d\n", x && !y || z && (x || y));
  printf("%d %d\n", call() ?: 7, 0 ?: call());
  printf("%d %ld %lld\n", INT_MIN, LONG_MIN, LLONG_MIN);
  printf("%u %lu %d\n", UINT_MAX, ULONG_MAX, -INT_MAX - 1);
  printf("%d %d %lu %d\n", s.a - 8 < 0, s.b >> 1, (unsigned long)(s.c << 1), s.d + s.d);
  printf("%d %d %d\n", ~byte, -byte, !byte);
  x = 10; x += 3.7; printf("%d\n", x);
  x = 10; x -= byte; byte += 100; byte <<= 1; printf("%d %d\n", x, byte);
  int *p = &x, *q = p + 1;
  printf("%d %d %d\n", (int)(q - p), p == 0, p != (void *)0);
  printf("%d %d\n", - -x, + +x);
  printf("%d %d %d\n", x++ + ++x, x-- - --x, 1);
  printf("%zu %zu\n", sizeof(byte + byte), sizeof 'a');
  printf("%g %g\n", 7 / 2 * 1.0, 7 / (2 * 1.0));
  printf("%d\n", (_Bool)0.5 + (_Bool)256);
  printf("%d %c\n", 'a' + 1, 'b');
  return 0;
}
