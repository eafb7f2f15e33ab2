/* Initialisers: designators, ranges, nesting, strings, compound literals. */
#include <stdio.h>
#include <wchar.h>
struct pair { int a; char name[4]; };
struct deep { struct pair pairs[2]; int *p; int n; };
static int shared[3] = { 1, 2, 3 };
static struct deep one = { { { 1, "ab" }, { .name = { 'x', 'y' }, .a = 2 } }, shared + 1, .n = 4 };
static int sparse[10] = { [2 ... 4] = 7, [8] = 1, 2 };
static int *literal = (int[]){ 10, 20, 30 };
static const char exact[3] = "abc";
static unsigned short wide[] = u"h\u00e9";
static wchar_t broad[] = L"hi" L"!";
static char lines[][4] = { "one", "two" };
static struct pair *nested = &(struct pair){ .a = 5, "z" };
static int twice[] = { 1, 2, [0] = 9 };
int main(void) {
  int n = 3;
  struct pair local = { n * 2, { [1] = 'q' } }, copy = local;
  struct deep two = { .pairs[1].a = n, .p = &n };
  struct deep three = { .pairs = { local, copy } };
  int braced = { 5 };
  printf("%d %s %d %c %d %d\n", one.pairs[0].a, one.pairs[0].name, one.pairs[1].a, one.pairs[1].name[1], *one.p, one.n);
  for (int i = 0; i < 10; i++) printf("%d ", sparse[i]);
  printf("\n%d %c %d %d %s %d %d\n", literal[2], exact[2], wide[1], (int)broad[2], lines[1], nested->a, twice[0]);
  printf("%d %c %d %d %d %d\n", local.a, copy.name[1], two.pairs[1].a, *two.p, three.pairs[1].a, braced);
  printf("%d %d\n", ((struct pair){ n, "k" }).a, (int[]){ 4, 5, 6 }[n - 1]);
  printf("%zu %zu\n", sizeof broad / sizeof broad[0], sizeof twice / sizeof twice[0]);
  return 0;
}
