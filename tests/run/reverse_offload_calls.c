/* Regions that go back to the host from functions, from many teams, with large data and with code that only a host can run. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp requires reverse_offload

#define MANY 40000

static int failures;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Of the host alone. */
static char text[256];
static double total;
static int calls;

static void count(float x) {
  calls++;
  total += x;
}

static int append(int number, int value) {
  char *copy = malloc(32);
  snprintf(copy, 32, "%d:%d;", number, value);
  strcat(text, copy);
  free(copy);
  return (int)strlen(text);
}
#pragma omp declare target device_type(host) enter(count, append)

struct pair {
  float x;
  short y;
  double z[3];
};

/* A function of devices that asks the host: for a number that it keeps there. */
#pragma omp begin declare target
static double ask(float x, double y, struct pair pair, unsigned char small) {
  double answer = 0;
#pragma omp target device(ancestor : 1) map(from : answer) firstprivate(x, y, pair, small)
  {
    count(x);
    answer = x * 2 + y + pair.x + pair.y + pair.z[2] + small + 1000 * omp_is_initial_device();
    pair.z[2] = 0;
  }
  return answer + pair.z[2] * 0;
}
#pragma omp end declare target

static void functions(void) {
  double got[2] = {0, 0};
  int is_away = 0;
#pragma omp target map(from : got, is_away)
  {
    is_away = !omp_is_initial_device();
    struct pair pair = {0.5f, -3, {1, 2, 4}};
    got[0] = ask(1.5f, 0.25, pair, 200);
    got[1] = ask(-1.5f, -0.25, pair, 255);
  }
  expect(is_away, "the kernel runs on a device");
  expect(got[0] == 1000 + 3 + 0.25 + 0.5 - 3 + 4 + 200, "values of all types reach the host");
  expect(got[1] == 1000 - 3 - 0.25 + 0.5 - 3 + 4 + 255, "and again");
  expect(calls == 2 && total == 0, "what the host keeps stays there");
}

/* Threads of all teams ask, and the host shares iterations among threads of its own. */
static void teams(void) {
  long sums[32] = {0};
#pragma omp target teams distribute parallel for num_teams(4) map(tofrom : sums)
  for (int i = 0; i < 32; i++) {
    long sum = i % 2;
#pragma omp target device(ancestor : 1) map(tofrom : sum) firstprivate(i)
    {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
      for (int j = 0; j < 100; j++)
        sum += j * (i + 1);
    }
    sums[i] = sum;
  }
  int right = 0;
  for (int i = 0; i < 32; i++)
    right += sums[i] == 4950 * (i + 1) + i % 2;
  expect(right == 32, "threads of all teams were answered");
}

/* A part of an array that threads share, whose place each thread says. */
static void parts(void) {
  int a[512], bad = 0, wrong = 0;
#pragma omp target map(from : a) map(tofrom : bad)
#pragma omp parallel for num_threads(4) reduction(+ : bad)
  for (int i = 0; i < 512; i++) {
    a[i] = i + 1;
    if (i % 50 == 0) {
      int got = 0, set = i;
#pragma omp target device(ancestor : 1) map(always, to : a[i : 1]) map(from : got) firstprivate(i)
      got = a[i];
      bad += got != i + 1;
#pragma omp target device(ancestor : 1) map(always, from : a[i : 1]) firstprivate(i, set)
      a[i] = 7 * set;
    }
    a[i] += 1;
  }
  for (int i = 0; i < 512; i++)
    wrong += a[i] != (i % 50 == 0 ? 7 * i + 1 : i + 2);
  expect(bad == 0 && wrong == 0, "parts of an array go to the host and come back");
}

/* More than one message holds, on its way to the host and back. */
static void large(void) {
  int *data = malloc(MANY * sizeof *data);
  long wrong = -1;
  for (int i = 0; i < MANY; i++)
    data[i] = i;
#pragma omp target data map(to : data[0 : MANY])
  {
#pragma omp target map(from : wrong)
    {
      int i, many = MANY, first = 0;
      for (i = 0; i < MANY; i++)
        data[i] *= 3;
#pragma omp target device(ancestor : 1) map(always, tofrom : data[first : many]) if (many > first)
      for (int i = 0; i < MANY; i++)
        data[i] += omp_is_initial_device();
      wrong = 0;
      for (i = 0; i < MANY; i++)
        wrong += data[i] != 3 * i + 1;
    }
  }
  expect(wrong == 0, "large data come and go");
  expect(data[5] == 16, "and the host has them");
  free(data);
}

struct owner {
  int count;
  float *values;
  struct {
    short a, b;
  } in;
};

/* Parts of structures, what pointers lead to, memory that the kernel has allocated, and what single threads of a team ask. */
static void owners(void) {
  float values[8];
  struct owner owner = {8, values, {1, 2}};
  int ok = 0, singles = 0, total = 0;
  for (int i = 0; i < 8; i++)
    values[i] = i;
#pragma omp target map(tofrom : owner) map(tofrom : owner.values[0 : 8])
  {
    for (int i = 0; i < owner.count; i++)
      owner.values[i] += 1;
#pragma omp target device(ancestor : 1) map(always, tofrom : owner.values[0 : 8]) map(always, tofrom : owner.in)
    {
      for (int i = 0; i < 8; i++)
        owner.values[i] *= 2;
      owner.in.a += 5;
    }
    owner.in.b += owner.in.a;
  }
  expect(values[7] == 16 && owner.in.a == 6 && owner.in.b == 8, "parts of structures");
#pragma omp target map(from : ok)
  {
    int *all = malloc(10 * sizeof *all), *some = all + 2, many = 5;
    for (int i = 0; i < 10; i++)
      all[i] = i;
#pragma omp target device(ancestor : 1) map(tofrom : some[1 : many])
    for (int i = 1; i <= 5; i++)
      some[i] = -some[i];
    ok = all[2] == 2 && all[3] == -3 && all[7] == -7 && all[8] == 8;
    free(all);
  }
  expect(ok, "memory of the kernel");
#pragma omp target map(tofrom : singles, total)
#pragma omp parallel num_threads(4)
  {
#pragma omp single
    {
      int own = singles;
#pragma omp target device(ancestor : 1) map(tofrom : own)
      own += 100;
      singles = own;
    }
#pragma omp critical
    {
      int own = total;
#pragma omp target device(ancestor : 1) map(tofrom : own)
      own++;
      total = own;
    }
  }
  expect(singles == 100 && total >= 1 && total <= 4, "single threads and critical sections");
}

/* What is printed there and what the C library does there is the host's. */
static void library(void) {
  int length = 0;
#pragma omp target map(from : length)
  {
    int parts[3] = {7, 8, 9}, own = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp target device(ancestor : 1) map(to : parts) map(from : own) firstprivate(i)
      own = append(i, parts[i]);
    }
    length = own;
  }
  expect(!strcmp(text, "0:7;1:8;2:9;") && length == 12, "the host's library");
}

/* Nobody waits for the kernel in its place. */
static void later(void) {
  int seen[4] = {0};
  for (int i = 0; i < 4; i++) {
#pragma omp target nowait map(tofrom : seen[i : 1]) firstprivate(i)
    {
      int number = 0;
#pragma omp target device(ancestor : 1) map(tofrom : number) firstprivate(i)
      number = 10 * i + omp_is_initial_device();
      seen[i] = number;
    }
  }
#pragma omp taskwait
  expect(seen[0] == 1 && seen[1] == 11 && seen[2] == 21 && seen[3] == 31, "regions that are not waited for");
}

int main(void) {
  functions();
  teams();
  parts();
  large();
  owners();
  library();
  later();
  return failures != 0;
}
