// Functions that device code calls, and calls of the runtime about pointers, queues and devices: a loop of a
// function that its callers' teams share, pointers that are attached by hand.
#include <openacc.h>
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

enum { N = 300 };

// A loop of a function for the teams of whoever calls: each iteration is run once.
#pragma acc routine gang
static void raise_all(int count, int *a, int by)
{
  int twice = 0;
#pragma acc loop gang
  for (int i = 0; i < count; i++) {
    twice = 2 * by;
    a[i] += twice;
  }
}

static void shared_by_callers(void)
{
  int a[N], once = 1, by = 3;
  for (int i = 0; i < N; i++) a[i] = i;
#pragma acc parallel copy(a) firstprivate(by)
  {
    by++;
    raise_all(N, a, by);
  }
  expect(by == 3, "each team has its own copy");
  for (int i = 0; i < N; i++) once = once && a[i] == i + 8;
  expect(once, "a loop for the teams of whoever calls");
}

struct row {
  int length;
  int *of;
};

// Data first, the record that leads to them later: the pointer on the device is set by hand.
static void attached(void)
{
  struct row row = {N, malloc(N * sizeof(int))};
  int *data = row.of;
  for (int i = 0; i < N; i++) data[i] = i;
#pragma acc enter data copyin(data[0:N])
#pragma acc enter data copyin(row)
  expect(acc_is_present(&row, sizeof row), "the record is there");
  acc_attach((void **)&row.of);
#pragma acc parallel loop present(row)
  for (int i = 0; i < N; i++) row.of[i] += 5;
  acc_attach((void **)&row.of);
  acc_detach((void **)&row.of);
#pragma acc parallel loop present(row)
  for (int i = 0; i < N; i++) row.of[i] *= 2;
#pragma acc exit data detach(row.of)
#pragma acc exit data copyout(row)
#pragma acc exit data copyout(data[0:N])
  expect(row.of == data, "the host's pointer is its own again");
  int all = 1;
  for (int i = 0; i < N; i++) all = all && data[i] == 2 * (i + 5);
  expect(all, "through an attached pointer");
  free(data);
}

static void asked(void)
{
  int *a = malloc(N * sizeof *a), queues[3] = {4, 5, acc_async_sync}, sum = 0, found, seen = 0;
  for (int i = 0; i < N; i++) a[i] = 1;
  void *there = acc_create(a, N * sizeof *a);
  expect(acc_hostptr(acc_deviceptr(a)) == a, "back to the host's address");
  expect(there == acc_deviceptr(a), "the device's address");
#pragma acc update device(a[0:N])
#pragma acc parallel loop present(a[0:N]) async(4)
  for (int i = 0; i < N; i++) a[i] += i;
#pragma acc parallel loop present(a[0:N]) reduction(+ : sum) async(5) wait(4)
  for (int i = 0; i < N; i++) sum += a[i];
  while ((found = acc_wait_any(3, queues)) >= 0) {
    queues[found] = acc_async_sync;
    seen++;
  }
  expect(seen == 2, "each queue is done once");
  expect(sum == N + N * (N - 1) / 2, "a sum in a queue");
  acc_delete(a, N * sizeof *a);
  free(a);
  size_t before = acc_get_property(0, acc_device_default, acc_property_free_memory);
  void *block = acc_malloc(4096);
  expect(block != NULL, "memory of the device");
  acc_free(block);
  expect(before == 0 || acc_get_property(0, acc_device_default, acc_property_memory) > 0, "memory");
}

int main(void)
{
  shared_by_callers();
  attached();
  asked();
  return failures != 0;
}
