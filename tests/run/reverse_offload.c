/* Kernels that hand regions back to the host. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp requires reverse_offload

#define N 64

static int failures;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Only the host has this one. */
static int calls;
static char journal[N * 4];

static void note(int value) {
#pragma omp atomic
  calls++;
#pragma omp critical
  sprintf(journal + strlen(journal), "%d ", value);
}
#pragma omp declare target device_type(host) enter(note)

/* What was mapped is the host's own: it is copied only where the program says so. */
static void mapped_data(void) {
  int a[N], sum = 0, seen = -1, remote = 1;
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target map(to : a) map(from : remote, seen) map(tofrom : sum)
  {
    remote = !omp_is_initial_device();
    for (int i = 0; i < N; i++)
      a[i] += 100;
#pragma omp target device(ancestor : 1) map(always, to : a)
    for (int i = 0; i < N; i++)
      a[i] *= 2;
    seen = a[1];
    for (int i = 0; i < N; i++)
      sum += a[i];
#pragma omp target device(ancestor : 1) map(always, tofrom : sum)
    sum += omp_is_initial_device() ? 1000000 : 0;
  }
  expect(remote, "the kernel runs on a device");
  expect(a[3] == 2 * 103, "the host got what the kernel had");
  expect(sum >= 1000000, "the host ran the region, and the kernel got its answer");
  expect(seen == 101 || seen == 202, "the kernel keeps its own unless memory is shared");
}

struct box {
  int n;
  double *data;
};

struct row {
  int n;
  int *cells;
};
#pragma omp declare mapper(struct row r) map(r) map(r.cells[0 : r.n])

/* What lives in the kernel alone is copied there and back. */
static void data_of_the_kernel(void) {
  int ok = 0;
#pragma omp target map(from : ok)
  {
    int own[5] = {1, 2, 3, 4, 5};
    int factor = 7;
    double store[4] = {0.5, 1.5, 2.5, 3.5};
    struct box box = {4, store};
    int made = 0;
#pragma omp target device(ancestor : 1) map(tofrom : own) map(from : made) \
    map(box) map(box.data[0 : 4]) firstprivate(factor)
    {
      made = omp_is_initial_device() ? 42 : 0;
      for (int i = 0; i < 5; i++)
        own[i] *= factor;
      for (int i = 0; i < box.n; i++)
        box.data[i] += own[0];
      factor = 0;
      box.n = 9;
    }
    ok = made == 42 && own[4] == 35 && factor == 7;
    int cells[3] = {1, 2, 3};
    struct row row = {3, cells};
#pragma omp target device(ancestor : 1) map(row)
    for (int i = 0; i < row.n; i++)
      row.cells[i] += omp_is_initial_device();
    ok = ok && cells[0] == 2 && cells[2] == 4;
    ok = ok && box.n == 9 && box.data == store && store[3] == 10.5;
  }
  expect(ok, "variables of a kernel go to the host and come back");
}

/* Every thread of a kernel may ask; functions of the host are called there. */
static void many_threads(void) {
  int answers[N] = {0};
#pragma omp target map(tofrom : answers)
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < N; i++) {
    int answer = 0;
#pragma omp target device(ancestor : 1) map(tofrom : answer) firstprivate(i)
    {
      answer = 3 * i + 1;
      if (i % 16 == 0)
        note(i);
    }
    answers[i] = answer;
  }
  int right = 0;
  for (int i = 0; i < N; i++)
    right += answers[i] == 3 * i + 1;
  expect(right == N, "all threads were answered");
  expect(calls == 4 && strstr(journal, "48") != NULL, "the host's functions use the host's data");
}

/* Data that live on the device for longer, and behind pointers. */
static int table[N];
#pragma omp declare target enter(table)

static void lasting_data(void) {
  int *heap = malloc(N * sizeof *heap);
  for (int i = 0; i < N; i++)
    heap[i] = table[i] = i;
#pragma omp target enter data map(to : heap[0 : N])
#pragma omp target update to(table)
#pragma omp target
  {
    for (int i = 0; i < N; i++) {
      heap[i] = 5;
      table[i] = 6;
    }
#pragma omp target device(ancestor : 1) map(always, to : heap[8 : 8])
    heap[8] += 10;
#pragma omp target device(ancestor : 1) map(present, always, from : heap[0 : 4])
    for (int i = 0; i < 4; i++)
      heap[i] = -i;
  }
  expect(heap[8] == 15 && heap[9] == 5, "a part of what is mapped goes back");
#pragma omp target exit data map(from : heap[0 : 4]) map(release : heap[4 : N - 4])
  expect(heap[3] == -3, "and what the host writes comes to the device");
  free(heap);
}

int main(void) {
  mapped_data();
  data_of_the_kernel();
  many_threads();
  lasting_data();
  return failures != 0;
}
