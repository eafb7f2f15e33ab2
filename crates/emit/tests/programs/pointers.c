/* Pointers: void, functions, arithmetic, qualifiers lost and kept, members through them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
struct tree { int key; struct tree *sub[2]; int (*visit)(const struct tree *); };
static int shown(const struct tree *t) { return t ? t->key + t->sub[0]->key : 0; }
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static struct tree make(int key) { struct tree t = { key }; return t; }
static struct { struct { int deep[2]; } in; } box = { { { 1, 2 } } };
static struct tree *left(struct tree *t) { return t->sub[0]; }
int main(int argc, char **argv) {
  int v[] = { 3, 1, 2 }, *end = v + sizeof v / sizeof *v;
  qsort(v, end - v, sizeof *v, order);
  for (int *p = v; p < end; ) printf("%d ", *p++);
  struct tree a = make(1), b = { 2, { &a, NULL }, shown };
  printf("\n%d %d %d\n", b.visit(&b), (*b.visit)(&b), left(&b)->key);
  void *any = &b;
  const struct tree *t = any;
  printf("%d %d\n", ((struct tree *)any)->sub[0]->key, t == any);
  char *text = strdup("hello"), *q = strchr(text, 'l');
  *q++ = 'L';
  printf("%s %td %c %c\n", text, q - text, *q, 1[q]);
  printf("%d %d\n", make(8).key, box.in.deep[1]);
  int (*f)(const void *, const void *) = &order;
  printf("%d %d\n", f == order, (*****f)(v, v + 1));
  unsigned long bits = (unsigned long)(void *)0;
  errno = 0;
  char **args = argv;
  printf("%lu %d %d %d\n", bits, errno, argc, *args != 0);
  free(text);
  return !(&v[3] == end && *&v[0] == 1);
}
