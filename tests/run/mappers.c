// Users' mappers: what they name is mapped, with the map type that both say; objects in objects, behind
// pointers and in arrays.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Whether the device has memory of its own: only there a copy that is not made is seen. */
static int is_apart(void)
{
  int seen = 1;
#pragma omp target map(to : seen)
  seen = 2;
  return seen == 1;
}

struct three { int a, b, c; };
#pragma omp declare mapper(struct three s) map(to : s.a) map(from : s.b)
#pragma omp declare mapper(late : struct three s) map(alloc : s.a) map(tofrom : s.c)

static void members(int apart)
{
  struct three s = { 1, 2, 3 };
#pragma omp target map(tofrom : s)
  {
    s.b = s.a + 10;
    s.a = 100;
    s.c = 300;
  }
  expect(s.b == 11, "a member that comes back");
  expect(!apart || (s.a == 1 && s.c == 3), "members that do not come back");

  struct three t = { 1, 2, 3 };
#pragma omp target map(to : t)
  {
    t.b = t.a + 10;
  }
  expect(!apart || t.b == 2, "both clauses must ask for the copy");

  struct three u = { 1, 2, 3 };
#pragma omp target map(mapper(late), tofrom : u)
  {
    u.a = 50;
    u.c += u.a;
  }
  expect(u.c == 53 && (!apart || u.a == 1), "a mapper by its name");

  struct three row[5];
  for (int i = 0; i < 5; i++) row[i] = (struct three){ i, -1, 7 };
#pragma omp target map(tofrom : row[1 : 3])
  for (int i = 1; i < 4; i++) {
    row[i].b = row[i].a * 2;
    row[i].c = 0;
  }
  for (int i = 0; i < 5; i++) {
    int is_mapped = i >= 1 && i < 4;
    expect(row[i].b == (is_mapped ? i * 2 : -1), "a section of objects");
    expect(!apart || row[i].c == 7, "what no clause names");
  }
}

static void motion(int apart)
{
  struct three s = { 1, 2, 3 };
  int got = 0;
#pragma omp target enter data map(to : s)
  expect(omp_target_is_present(&s, omp_get_default_device()), "the object is there");
  s.a = 20;
  s.b = 30;
#pragma omp target update to(s)
#pragma omp target map(from : got) map(s)
  {
    got = s.a;
    s.b = s.a + 1;
    s.a = 99;
    s.c = 98;
  }
  expect(got == 20, "an update to the device");
  s.b = 0;
#pragma omp target update to(s)
#pragma omp target update from(s)
  expect(!apart || s.b == 21, "an update moves what both ask for");
  expect(!apart || s.c == 3, "an update leaves the rest");
#pragma omp target map(always, tofrom : s)
  {
    s.b = s.a * 2;
  }
  expect(s.b == 40 || !apart, "always");
#pragma omp target exit data map(from : s)
  expect(!omp_target_is_present(&s, omp_get_default_device()), "the object is gone");

  struct three grid[4][4];
  for (int i = 0; i < 16; i++) grid[i / 4][i % 4] = (struct three){ i, 0, 5 };
#pragma omp target enter data map(to : grid)
#pragma omp target map(grid)
  for (int i = 0; i < 16; i++) grid[i / 4][i % 4].b = grid[i / 4][i % 4].a + 1;
  for (int i = 0; i < 16; i++) if (apart) grid[i / 4][i % 4].b = 0;
#pragma omp target update from(grid[1 : 2][1 : 2])
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int moved = i >= 1 && i < 3 && j >= 1 && j < 3;
      expect(grid[i][j].b == (moved || !apart ? i * 4 + j + 1 : 0), "an update of a part of a table");
    }
#pragma omp target update from(grid[0][0 : 2 : 2])
  expect(grid[0][0].b == 1 && grid[0][2].b == 3 && (!apart || grid[0][1].b == 0), "an update with a stride");
#pragma omp target exit data map(delete : grid)
}

struct cells { int len; int spare; double *x; };
struct table { int rows; int fixed[3]; struct cells *r; };
struct book { int pages; struct table *t; struct cells front; };
#pragma omp declare mapper(struct cells t) map(to : t.len) map(t.x[0 : t.len])
#pragma omp declare mapper(struct table m) map(to : m.rows, m.fixed[1 : 2]) map(m.r[0 : m.rows])
#pragma omp declare mapper(struct book b) map(to : b.pages) map(b.t[0 : b.pages]) map(b.front)

static struct cells some(int len, double from)
{
  struct cells it = { len, 77, malloc(sizeof(double) * len) };
  for (int i = 0; i < len; i++) it.x[i] = from + i;
  return it;
}

static void nested(int apart)
{
  struct table m = { 3, { 1, 2, 3 }, malloc(3 * sizeof(struct cells)) };
  for (int i = 0; i < 3; i++) m.r[i] = some(2 + i, i);
  double sum = 0;
#pragma omp target map(tofrom : m) map(tofrom : sum)
  for (int i = 0; i < m.rows; i++)
    for (int j = 0; j < m.r[i].len; j++) {
      sum += m.r[i].x[j] * m.fixed[1];
      m.r[i].x[j] = -1;
      m.r[i].spare = 0;
    }
  expect(sum == 2 * ((0 + 1) + (1 + 2 + 3) + (2 + 3 + 4 + 5)), "records behind a pointer of a record");
  expect(m.r[0].x[0] == -1 && m.r[2].x[3] == -1, "their data come back");
  expect(!apart || m.r[1].spare == 77, "what they do not name stays");

  struct book b = { 2, malloc(2 * sizeof(struct table)), some(3, 100) };
  for (int k = 0; k < 2; k++) {
    b.t[k] = (struct table){ 2, { 0, 0, k }, malloc(2 * sizeof(struct cells)) };
    for (int i = 0; i < 2; i++) b.t[k].r[i] = some(3, 10 * k + i);
  }
  sum = 0;
#pragma omp target data map(tofrom : b)
  {
#pragma omp target map(tofrom : sum) map(b)
    for (int k = 0; k < b.pages; k++)
      for (int i = 0; i < b.t[k].rows; i++)
        for (int j = 0; j < b.t[k].r[i].len; j++) {
          sum += b.t[k].r[i].x[j] + b.front.x[j] * b.t[k].fixed[2];
          b.t[k].r[i].x[j] += 1000;
        }
  }
  double right = 0;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) right += 10 * k + i + j + (100 + j) * k;
  expect(sum == right, "three levels of mappers");
  expect(b.t[1].r[1].x[2] == 1013, "the last level comes back");

  /* Parts of an object that no mapper is for, of which one has a mapper. */
  struct { int n; struct cells in; int last; } o = { 4, some(4, 1), 9 };
#pragma omp target map(tofrom : o.n, o.in, o.last)
  {
    o.n += o.last;
    o.in.x[3] += o.in.len;
  }
  expect(o.n == 13 && o.in.x[3] == 8, "a member with a mapper");

  struct cells *p = malloc(3 * sizeof *p);
  for (int i = 0; i < 3; i++) p[i] = some(i + 1, i);
  struct { struct cells *p; } q = { p };
#pragma omp target map(tofrom : q.p[0 : 3])
  for (int i = 0; i < 3; i++) q.p[i].x[i] += q.p[i].len;
  expect(p[0].x[0] == 1 && p[1].x[1] == 4 && p[2].x[2] == 7, "objects behind a pointer");
#pragma omp target enter data map(alloc : p[0 : 3])
#pragma omp target update to(p[0 : 3])
#pragma omp target
  for (int i = 0; i < 3; i++) p[i].x[0] *= p[i].len + 1;
#pragma omp target update from(p[1 : 2])
#pragma omp target exit data map(release : p[0 : 3])
  expect(p[2].x[0] == 8 && (p[0].x[0] == 1 || !apart), "updates of objects behind a pointer");
  expect(!omp_target_is_present(p[2].x, omp_get_default_device()), "released as a whole");
}

struct lines { int n; struct cells *p; };
#pragma omp declare mapper(by_line : struct lines l) map(l.n) map(iterator(i = 0 : l.n), tofrom : l.p[i])

static void one_by_one(void)
{
  struct lines l = { 3, malloc(3 * sizeof *l.p) };
  for (int i = 0; i < l.n; i++) l.p[i] = some(i + 1, i);
#pragma omp target map(mapper(by_line), tofrom : l)
  for (int i = 0; i < l.n; i++) l.p[i].x[i] += l.p[i].len;
  expect(l.p[0].x[0] == 1 && l.p[1].x[1] == 4 && l.p[2].x[2] == 7, "objects behind a pointer, one by one");
}

static int inner(void)
{
  struct three s = { 1, 2, 3 };
#pragma omp declare mapper(struct three s) map(tofrom : s.a)
#pragma omp target map(s)
  s.a += 5;
  return s.a;
}

static int other(void)
{
  struct three s = { 1, 2, 3 };
#pragma omp declare mapper(struct three s) map(tofrom : s.c)
#pragma omp target map(s)
  s.c += 5;
  return s.c;
}

// An array of which some elements are there, and that no clause names: the rest is not mapped.
static void in_part(void)
{
  struct cells c[4];
  double got = 0;
  for (int i = 0; i < 4; i++) {
    c[i] = (struct cells){ 5, 0, malloc(5 * sizeof(double)) };
    for (int k = 0; k < 5; k++)
      c[i].x[k] = i * 10 + k;
  }
#pragma omp target enter data map(to : c[1 : 2])
#pragma omp target map(from : got)
  got = c[2].x[3] + c[1].len;
#pragma omp target exit data map(release : c[1 : 2])
  expect(got == 28, "an array that is there in part");
  for (int i = 0; i < 4; i++)
    free(c[i].x);
}

int main(void)
{
  int apart = is_apart();
  members(apart);
  motion(apart);
  nested(apart);
  one_by_one();
  in_part();
  expect(inner() == 6 && other() == 8, "a mapper of the function");
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
