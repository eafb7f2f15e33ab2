// Records are reduced member by member: arrays, records inside, elements of arrays of records; by all gangs, by one, in order.
#include <stdio.h>

struct inner { int most[2]; short few; };
struct stat { int n; double sum[3]; struct { long wide; }; struct inner in; };

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  struct stat s = { .n = 5, .sum = { 0.25, 0, 1 }, .wide = 7, .in = { { 1, 2 }, 3 } };
#pragma acc parallel loop reduction(+ : s)
  for (int i = 0; i < 300; i++) {
    s.n += 1;
    s.sum[i % 3] += i;
    s.wide += 2;
    s.in.most[i % 2] += 1;
    s.in.few += i % 2;
  }
  expect(s.n == 305 && s.sum[0] == 14850.25 && s.sum[2] == 15051, "gangs: numbers and arrays");
  expect(s.wide == 607 && s.in.most[0] == 151 && s.in.most[1] == 152 && s.in.few == 153, "gangs: records inside");

  struct inner m = { { 40, -9 }, 6 };
#pragma acc parallel num_gangs(1) reduction(max : m)
  {
    m.most[0] = 12;
    m.most[1] = 12;
    m.few = -1;
  }
  expect(m.most[0] == 40 && m.most[1] == 12 && m.few == 6, "one gang");

  struct inner list[2] = { { { 1, 1 }, 1 }, { { 2, 2 }, 2 } };
#pragma acc parallel num_gangs(4) reduction(+ : list)
  {
    list[1].most[0] = 5;
    list[0].few = 1;
  }
  expect(list[0].few == 5 && list[1].most[0] == 22 && list[1].few == 2, "counted gangs, an array of them");

  struct inner last = { { 8, 8 }, 8 };
#pragma acc serial loop seq reduction(min : last)
  for (int i = 0; i < 4; i++) last = (struct inner){ { i, 20 }, 9 };
  expect(last.most[0] == 3 && last.most[1] == 8 && last.few == 8, "in order");
  if (failures == 0) printf("right\n");
  return failures != 0;
}
