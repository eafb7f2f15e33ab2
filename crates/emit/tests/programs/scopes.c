/* One spelling for many things: locals, globals, tags, members, labels, typedefs, constants. */
#include <stdio.h>
typedef struct { int x, y; } point;
struct node { int x; struct node *next; };
enum colour { red, green = 5, blue };
static int counter = 100, x = 1;
static struct { int a; } nameless = { 4 };
static int shadow(int counter) {
  { extern int outer_value; counter += outer_value; }
  struct node { char c[3]; } small = { "ab" };
  {
    struct node { double d; } large = { 1.5 };
    struct { long l; } inner = { 3 };
    enum { red = 40, green };
    counter += (int)sizeof large + (int)large.d + (int)inner.l + red + green;
  }
  return counter + (int)sizeof small + red + green;
}
int outer_value = 7;
static int automatic(void) {
  int x = 5;
  { __auto_type x_ = x + 1; __typeof__(x) x = x_ * 2; counter += x; }
  for (int x = 0, *p = &x; x < 3; x++) counter += *p;
  {
    int outer_value = 2;
    { extern int outer_value; outer_value++; }
    counter += outer_value;
  }
  return x;
}
static int point_of(point point) { return point.x + point.y; }
static int labels(int n) {
  int total = 0;
again:
  ({ __label__ again; if (n == 2) goto again; total += 10; again: total++; });
  if (n-- > 0) goto again;
  { typedef long x; x v = n; total += (int)v; }
  return total;
}
static const char *self(void) { return __func__; }
static int count(void) { static int counter; return ++counter; }
int main(void) {
  struct node b = { 2, 0 }, a = { .next = &b, .x = 1 };
  enum colour c = blue;
  printf("%d %d %d\n", shadow(3), automatic(), counter);
  printf("%d %d %s\n", point_of((point){ 3, 4 }), labels(4), self());
  printf("%d %d %d %d %d\n", a.next->x, c, x, nameless.a, outer_value);
  count();
  printf("%d\n", count());
  return 0;
}
