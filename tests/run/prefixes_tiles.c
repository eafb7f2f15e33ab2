// Prefixes over many iterations: of all types, operators and sizes, in one team and over all groups.
#include <stdio.h>
#include <stdlib.h>

struct map { long m, c; };
static void then(struct map *a, const struct map *b) { a->c = b->m * a->c + b->c; a->m *= b->m; }
#pragma omp declare reduction(then : struct map : then(&omp_out, &omp_in)) initializer(omp_priv = { 1, 0 })

static int faults;
#define CHECK(is, what, at) \
  do { if (!(is) && faults++ < 5) printf("%s: wrong at %d\n", what, (int)(at)); } while (0)

#define SUMS(type, name) \
  static void name(int n) \
  { \
    type *a = malloc(sizeof *a * (n + 1)), *b = malloc(sizeof *b * (n + 1)); \
    for (int i = 0; i < n; i++) a[i] = (type)(i * 37 % 11 - 3); \
    for (int round = 0; round < 3; round++) { \
      type s = (type)round, t = (type)round; \
      _Pragma("omp target parallel for reduction(inscan, +: s) map(to: a[0:n]) map(from: b[0:n]) map(tofrom: s)") \
      for (int i = 0; i < n; i++) { \
        s += a[i]; \
        _Pragma("omp scan inclusive(s)") \
        b[i] = s; \
      } \
      for (int i = 0; i < n; i++) { t += a[i]; CHECK(b[i] == t, #name, i); } \
      CHECK(s == t, #name " in all", n); \
    } \
    free(a), free(b); \
  }
SUMS(int, of_ints)
SUMS(double, of_doubles)
SUMS(unsigned char, of_bytes)
SUMS(long long, of_longs)

static void in_the_region(int n)
{
  int *a = malloc(sizeof *a * n);
  for (int i = 0; i < n; i++) a[i] = i % 5 - 1;
#pragma omp target map(tofrom: a[0:n])
  {
    const int begin = n > 10 ? 3 : 0;
    int s = begin * 2, most = -100;
#pragma omp parallel for reduction(inscan, +: s) reduction(inscan, max: most)
    for (int i = n - 1; i >= begin; i--) {
      s += a[i];
      most = a[i];
#pragma omp scan inclusive(s, most)
      a[i] = s * 100 + most;
    }
  }
  int s = 6, most = -100;
  for (int i = n - 1; i >= 3; i--) {
    const int own = i % 5 - 1;
    s += own;
    most = own > most ? own : most;
    CHECK(a[i] == s * 100 + most, "in the region", i);
  }
}

static void exclusive(int rows, int columns)
{
  const int n = rows * columns;
  unsigned *a = malloc(sizeof *a * n), *b = malloc(sizeof *b * n), all = 1;
  for (int i = 0; i < n; i++) a[i] = i % 7;
  int last = -1;
#pragma omp target parallel for collapse(2) reduction(inscan, ^: all) lastprivate(last) \
  map(to: a[0:n]) map(from: b[0:n]) map(tofrom: all, last)
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      b[y * columns + x] = all;
      last = y * 1000 + x;
#pragma omp scan exclusive(all)
      all ^= a[y * columns + x] << (x % 20);
    }
  unsigned t = 1;
  for (int i = 0; i < n; i++) {
    CHECK(b[i] == t, "exclusive", i);
    t ^= a[i] << (i % columns % 20);
  }
  CHECK(all == t, "exclusive in all", n);
  CHECK(last == (rows - 1) * 1000 + columns - 1, "the last iteration", last);
  free(a), free(b);
}

static void in_order(int n)
{
  long *m = malloc(sizeof *m * n), *c = malloc(sizeof *c * n);
  struct map all = { 1, 0 };
#pragma omp target parallel for reduction(inscan, then: all) map(from: m[0:n], c[0:n]) map(tofrom: all)
  for (int i = 0; i < n; i++) {
    all.m = i % 3 ? 1 : -1;
    all.c = i;
#pragma omp scan inclusive(all)
    m[i] = all.m;
    c[i] = all.c;
  }
  struct map t = { 1, 0 };
  for (int i = 0; i < n; i++) {
    const struct map one = { i % 3 ? 1 : -1, i };
    then(&t, &one);
    CHECK(m[i] == t.m && c[i] == t.c, "in order", i);
  }
  CHECK(all.m == t.m && all.c == t.c, "in order, all", n);
  free(m), free(c);
}

static void of_teams(int n)
{
  int *b = calloc(4 * n, sizeof *b);
#pragma omp target teams distribute num_teams(4) map(tofrom: b[0:4 * n])
  for (int t = 0; t < 4; t++) {
    int s = t;
#pragma omp parallel for reduction(inscan, +: s)
    for (int i = 0; i < n; i++) {
      s += i & 3;
#pragma omp scan inclusive(s)
      b[t * n + i] = s;
    }
  }
  for (int t = 0; t < 4; t++)
    for (int i = 0, s = t; i < n; i++) {
      s += i & 3;
      CHECK(b[t * n + i] == s, "of teams", t * n + i);
    }
  free(b);
}

static void once_each(int n)
{
  int *runs = calloc(n, sizeof *runs), s = 0;
#pragma omp target parallel for reduction(inscan, +: s) map(tofrom: runs[0:n], s)
  for (int i = 0; i < n; i++) {
    runs[i]++;
    s += i;
#pragma omp scan inclusive(s)
    runs[i] += s * 10;
  }
  for (int i = 0, t = 0; i < n; i++) {
    t += i;
    CHECK(runs[i] == 1 + t * 10, "once each", i);
  }
  free(runs);
}

int main(void)
{
  for (int n = 0; n < 100000; n = n * 7 + 5) of_ints(n), of_longs(n), of_bytes(n);
  of_doubles(70001);
  in_the_region(20011);
  exclusive(137, 211);
  in_order(9973);
  of_teams(3001);
  once_each(5003);
  if (!faults) puts("all prefixes are right");
  return faults != 0;
}
