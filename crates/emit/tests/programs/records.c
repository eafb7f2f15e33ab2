/* Layout: bit-fields, packing, alignment, anonymous members, flexible arrays, unions. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
struct packed { char c; int i; short s; } __attribute__((packed));
struct aligned { char c; int i __attribute__((aligned(16))); } __attribute__((aligned(64)));
struct member { char c; long l __attribute__((packed)); };
#pragma pack(push, 2)
struct two { char c; int i; struct { char a; double d; } in; };
#pragma pack(pop)
struct bits { unsigned a : 3, : 0, b : 7; signed char c : 2; long : 5; long d : 33; };
struct anonymous { int tag; union { int i; float f; struct { short lo, hi; }; }; };
struct flexible { int n; double data[]; };
union number { int i; unsigned char bytes[4]; };
typedef int far_int __attribute__((aligned(32)));
struct holds { char c; far_int f; };
struct list { struct list *next; struct item { int v; } item, *items; };
struct __attribute__((packed)) { char c; far_int *p; } *odd;
typedef union { int *i; float *f; } either __attribute__((transparent_union));
static int take(either e) { return *e.i; }
static struct flexible ready = { 2, { 1.5, 2.5 } };
_Alignas(128) static char buffer[3];
int main(void) {
  printf("%zu %zu %zu\n", sizeof(struct packed), sizeof(struct aligned), sizeof(struct member));
  printf("%zu %zu %zu\n", sizeof(struct two), offsetof(struct two, in.d), sizeof(struct bits));
  printf("%zu %zu %zu\n", sizeof(struct holds), _Alignof(struct holds), sizeof *odd);
  struct anonymous a = { .tag = 1, .hi = 2 }, *p = &a;
  p->lo = 1;
  printf("%x %d\n", a.i, p->hi);
  struct bits b = { 9, 100, -1, -5 };
  printf("%d %d %d %ld\n", b.a, b.b, b.c, (long)b.d);
  struct flexible *f = malloc(sizeof *f + 2 * sizeof f->data[0]);
  f->data[1] = 3;
  printf("%g %g\n", f->data[1], ready.data[1]);
  union number n = { .bytes = { 1, 2 } };
  struct list l = { 0, { 4 }, &l.item };
  int seven = 7;
  printf("%d %d %d\n", n.i, l.items->v, take(&seven));
  far_int g = 3;
  printf("%d %d %d\n", (int)((size_t)&g % 32), (int)((size_t)buffer % 128), g);
  printf("%zu\n", __builtin_offsetof(struct flexible, data[3]));
  free(f);
  return 0;
}
