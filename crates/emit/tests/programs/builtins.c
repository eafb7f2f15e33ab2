/* Builtins, vectors, atomics, generic selection, overflow, choose. */
#include <stdatomic.h>
#include <stdio.h>
#include <tgmath.h>
typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
static v4 add(v4 a, v4 b) { return a + b * 2 - (a > b); }
static _Atomic int count = 5;
static atomic_long wide;
_Atomic(int) *where = &count;
#define kind(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
int main(void) {
  v4 a = { 1, 2, 3, 4 }, b = { 4, 3, 2, 1 };
  v4 c = add(a, b), *p = &c;
  f4 f = __builtin_convertvector(c, f4) * 0.5f;
  (*p)[0] = 9;
  printf("%d %d %d %g\n", c[0], c[1], c[3], f[2]);
  v4 s = __builtin_shuffle(a, (v4){ 3, 2, 1, 0 });
  printf("%d %d\n", s[0], (~s)[1]);
  count += 3; count++; atomic_fetch_add(&wide, 7); *where -= 1;
  int expected = 8;
  printf("%d %ld %d\n", count, atomic_load(&wide), atomic_compare_exchange_strong(&count, &expected, 1));
  int r;
  printf("%d %d\n", __builtin_add_overflow(2147483647, 1, &r), r);
  printf("%d %d %d\n", __builtin_popcount(255), __builtin_ctzl(8), __builtin_expect(r == 0, 0));
  printf("%s %s %s %s\n", kind(1), kind(1.0), kind("x"), kind(1L));
  printf("%g %g\n", sqrt(2.0f) - sqrtf(2.0f), (double)fabs(-2));
  printf("%d %d\n", __builtin_types_compatible_p(int, unsigned), __builtin_choose_expr(1, 3, 4));
  int old = __sync_fetch_and_add(&r, 2);
  printf("%d %d\n", old + 2 == r, __atomic_load_n(&r, __ATOMIC_SEQ_CST) == r);
  __builtin_prefetch(&r);
  char text[8];
  __builtin_memcpy(text, "copied", 7);
  printf("%s %zu\n", text, __builtin_strlen(text));
  if (r > 0 && r < 0) __builtin_unreachable();
  return 0;
}
