/* Pointers behind pointers: every level that is followed is on the device during the region, and
   gone after it; data that came before its pointer is found when the pointer comes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct leaf {
  int before;
  int *p;
  int *q;
  int n;
};

struct middle {
  char pad[24];
  struct leaf *l;
};

struct root {
  struct middle *m;
  double weight;
};

static int wrong;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      wrong++; \
      printf("%d: %s\n", __LINE__, #condition); \
    } \
  } while (0)

static int *numbers(int n, int first)
{
  int *p = malloc((size_t)n * sizeof(int));
  for (int i = 0; i < n; i++)
    p[i] = first + i;
  return p;
}

static int on_device(void *p)
{
  return omp_target_is_present(p, omp_get_default_device());
}

static void two_levels(void)
{
  struct leaf leaf = { 3, numbers(10, 0), numbers(4, 50), 10 };
  struct middle middle = { "", &leaf }, *pm = &middle;
  int device = 0;
#pragma omp target map(pm->l->p[1:5]) map(from: device)
  {
    device = !omp_is_initial_device();
    for (int i = 1; i < 6; i++)
      pm->l->p[i] += 100;
  }
  CHECK(device);
  CHECK(leaf.p[0] == 0 && leaf.p[1] == 101 && leaf.p[5] == 105 && leaf.p[6] == 6);
  CHECK(!on_device(&pm->l) && !on_device(&leaf.p) && !on_device(leaf.p + 1));

  /* Several members behind one pointer lie side by side. */
#pragma omp target map(pm->l->p[0:10], pm->l->q[1:2]) map(tofrom: pm->l->n)
  {
    for (int i = 0; i < pm->l->n; i++)
      pm->l->p[i] -= 1;
    pm->l->q[2] += pm->l->q[1];
    pm->l->n = 77;
  }
  CHECK(leaf.p[0] == -1 && leaf.p[9] == 8 && leaf.q[2] == 52 + 51 && leaf.n == 77 && leaf.before == 3);
  CHECK(!on_device(&pm->l) && !on_device(&leaf.p) && !on_device(leaf.q + 1) && !on_device(&leaf.n));

#pragma omp target map(tofrom: pm->l->before, pm->l->n)
  pm->l->before += pm->l->n;
  CHECK(leaf.before == 80);

#pragma omp target map(tofrom: pm->l[0:1], pm->l->q[0:4])
  pm->l->q[0] = pm->l->before++;
  CHECK(leaf.q[0] == 80 && leaf.before == 81);
  CHECK(!on_device(&leaf) && !on_device(leaf.q));
}

static void three_levels(void)
{
  struct leaf leaf = { 1, numbers(8, 20), numbers(8, 30), 8 };
  struct middle middle = { "", &leaf };
  struct root root = { &middle, 0.5 };
#pragma omp target data map(root.weight) map(tofrom: root.m->l->q[2:3])
  {
#pragma omp target map(tofrom: root.m->l->q[2:3])
    root.m->l->q[3] *= 2;
    CHECK(on_device(&leaf.q[3]));
  }
  CHECK(leaf.q[2] == 32 && leaf.q[3] == 66 && leaf.q[4] == 34);
  CHECK(!on_device(&root.m) && !on_device(&middle.l) && !on_device(&leaf.q) && !on_device(leaf.q + 2));
}

static void data_first(void)
{
  enum { N = 64 };
  struct leaf s = { 0, numbers(N, 0), numbers(N, 1000), N };
  int sum = 0;
#pragma omp target enter data map(to: s.p[0:N])
  for (int i = 0; i < N; i++)
    s.p[i] = -1;
  /* All of `s` comes now; its member finds the data. */
#pragma omp target map(sum)
  for (int i = 0; i < s.n; i++)
    sum += s.p[i]++;
  CHECK(sum == N * (N - 1) / 2 || sum == -N); /* the second where memory is shared */
  CHECK(s.p[5] == -1 || s.p[5] == 0);
#pragma omp target update from(s.p[0:N])
  CHECK(s.p[0] >= 0 && s.p[N - 1] >= 0);
  int *old = s.p;
  s.p = s.q;
  /* The member points elsewhere now. */
  sum = 0;
#pragma omp target map(tofrom: s, s.p[0:N]) map(sum)
  sum = s.p[3];
  CHECK(sum == 1003);
  s.p = old;
#pragma omp target exit data map(delete: s.p[0:N])
  CHECK(!on_device(s.p) && !on_device(&s));
}

struct vector {
  int count;
  int *data;
};

#pragma omp declare mapper(struct vector v) map(v.count) map(iterator(i = 0 : v.count), tofrom: v.data[i])

static void one_by_one(void)
{
  struct vector v = { 9, numbers(9, 0) };
#pragma omp target
  for (int i = 0; i < v.count; i++)
    v.data[i] = v.data[i] * v.count;
  CHECK(v.data[8] == 72);
  CHECK(!on_device(v.data));
  struct leaf s = { 0, numbers(12, 4), 0, 12 };
#pragma omp target map(to: s.n) map(iterator(i = 2 : 12), tofrom: s.p[i])
  for (int i = 2; i < s.n; i++)
    s.p[i] += s.p[i] & 1;
  CHECK(s.p[1] == 5 && s.p[2] == 6 && s.p[3] == 8 && s.p[11] == 16);
}

int main(void)
{
  two_levels();
  three_levels();
  data_first();
  one_by_one();
  return wrong != 0;
}
