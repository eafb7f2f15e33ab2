// List items that are computed: sections of pointers that are cast or moved in data clauses, and arrays of arrays, whole
// and in part, in reductions. Threads chosen by a number that another thread has computed; tasks that change threads.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

struct row {
  int n;
  double v[];
};

static void pointers(void)
{
  int n = 8, list[20], *p = malloc(sizeof list), elsewhere = 0;
  size_t bytes = sizeof(struct row) + 4 * sizeof(double);
  struct row *row = malloc(bytes);
  row->n = 4;
  for (int i = 0; i < 4; i++) row->v[i] = i;
  for (int i = 0; i < 20; i++) p[i] = list[i] = i;
#pragma omp target map(tofrom : ((char *)row)[0:bytes]) map(from : elsewhere)
  {
    for (int i = 0; i < row->n; i++) row->v[i] += 1;
    elsewhere = !omp_is_initial_device();
  }
  expect(row->v[0] == 1 && row->v[3] == 4 && elsewhere, "a record with its elements, as bytes");
#pragma omp target map(tofrom : (p + 3)[0:n])
  for (int i = 3; i < 3 + n; i++) p[i] += 100;
#pragma omp target map(tofrom : (list + 2)[1:n])
  for (int i = 3; i < 3 + n; i++) list[i] += 100;
  int is_right = 1;
  for (int i = 0; i < 20; i++) is_right &= p[i] == list[i] && p[i] == i + (i >= 3 && i < 11) * 100;
  expect(is_right, "sections of moved pointers");
#pragma omp target map(tofrom : *(p + 12))
  p[12] = -1;
  struct { int *q; } s = {p};
#pragma omp target map(tofrom : ((unsigned char *)s.q)[0:n * sizeof(int)])
  s.q[1] = 77;
#pragma acc parallel copy(((char *)p)[0:n * sizeof(int)])
  p[2] = 78;
  expect(p[12] == -1 && p[1] == 77 && p[2] == 78, "an element, a member, and a section of OpenACC");
#pragma omp target data map(tofrom : ((char *)p)[0:sizeof list])
  {
    p[3] = 50;
#pragma omp target update to(((int *)p)[0:4])
#pragma omp target
    p[3] += 1;
#pragma omp target update from((p + 1)[0:n])
    expect(p[3] == 51, "updates");
  }
  free(row);
  free(p);
}

static void arrays_of_arrays(void)
{
  enum { N = 60 };
  double m[3][4] = {{1}};
  int q[2][3][2] = {{{0}}};
  long(*p)[5] = calloc(4, sizeof *p), want[4][5] = {{0}};
  float r[4][2] = {{0}};
#pragma omp target teams distribute parallel for reduction(+ : m, q[0:2], p[1:2], r[1:2][0:2])
  for (int i = 0; i < N; i++) {
    m[i % 3][i % 4] += 1;
    q[i % 2][i % 3][i / 6 % 2] += 1;
    p[1 + i % 2][i % 5] += i;
    r[1 + i % 2][i / 2 % 2] += 2;
  }
#pragma omp target map(tofrom : m, q)
  {
#pragma omp parallel for reduction(+ : m) reduction(max : q)
    for (int i = 0; i < N; i++) {
      m[2][i % 4] += 1;
      if (q[1][i % 3][1] < i) q[1][i % 3][1] = i;
    }
  }
  for (int i = 0; i < N; i++) want[1 + i % 2][i % 5] += i;
  expect(m[0][0] == 6 && m[1][1] == 5 && m[2][3] == 20, "a whole array of arrays");
  expect(q[0][0][0] == 5 && q[1][2][1] == 59, "arrays of arrays of arrays");
  expect(!memcmp(want, p, sizeof want), "rows behind a pointer");
  expect(r[0][0] == 0 && r[1][1] == 30 && r[2][0] == 30, "a section of a section");
  free(p);
}

static void chosen_threads(void)
{
  int who = -1, threads = 0, parts[4] = {0}, last = -1;
#pragma omp target parallel num_threads(4) map(tofrom : who, threads, parts)
  {
    int me = omp_get_thread_num();
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp masked filter(threads - 1)
    who = me;
#pragma omp barrier
#pragma omp sections
    {
#pragma omp section
      parts[0] = 1;
#pragma omp section
      {
        parts[1] = 2;
        parts[2] = 3;
      }
    }
  }
  expect(threads > 0 && who == threads - 1, "the thread with the last number");
  expect(parts[0] == 1 && parts[1] == 2 && parts[2] == 3, "sections");
  int done[6] = {0};
#pragma omp target map(tofrom : done, last)
  {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task untied shared(done)
      {
        int half = i * 10;
#pragma omp taskyield
        done[i] = half + 1;
      }
    }
    last = done[5];
  }
  int is_right = 1;
  for (int i = 0; i < 6; i++) is_right &= done[i] == i * 10 + 1;
  expect(is_right && last == 51, "untied tasks");
}

int main(void)
{
  pointers();
  arrays_of_arrays();
  chosen_threads();
  return failures != 0;
}
