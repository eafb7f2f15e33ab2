/* Declarators, qualifiers, functions that return functions, old-style definitions. */
#include <stdio.h>
#include <string.h>
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int (*choose(int which))(int) { return which ? twice : thrice; }
static int (*table[2])(int) = { twice, [1] = thrice };
static double grid[2][3] = { { 1, 2, 3 }, [1] = { [2] = 6 } };
static double (*row(int at))[3] { return &grid[at]; }
static const char *const words[] = { "a" "b", "c\n\"quoted\"" };
static int old(a, b, c) char a; float b; short c; { return a + (int)b * 10 + c * 100; }
static int sum(int count, ...) {
  __builtin_va_list list, copy;
  int total = 0;
  __builtin_va_start(list, count);
  __builtin_va_copy(copy, list);
  for (int i = 0; i < count; i++) total += __builtin_va_arg(list, int);
  __builtin_va_end(list);
  total += (int)__builtin_va_arg(copy, int);
  __builtin_va_end(copy);
  return total;
}
typedef int (*binary)(int, int);
static int apply(binary f, int a, int b) { return f(a, b); }
static int minus(int a, int b) { return a - b; }
int main(void) {
  int values[4] = { 1, 2, 3, 4 }, *const first = values, *volatile *where;
  int *volatile second = values + 1;
  where = &second;
  volatile const int fixed = 9;
  int (*whole)[4] = &values;
  printf("%d %d %d\n", choose(1)(5), table[1](5), (*choose(0))(7));
  printf("%g %g\n", (*row(0))[2], row(1)[0][2]);
  printf("%s %s\n", words[0], words[1]);
  printf("%d %d %d\n", old('a', 2.5f, 3), sum(3, 1, 2, 3), apply(minus, 9, 4));
  printf("%d %d %d %d\n", first[2], **where, fixed, (*whole)[3]);
  return 0;
}
