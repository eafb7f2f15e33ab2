// Data that a queue brings or takes are there, or gone, when the call returns; the queue has the copies.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// More than a caller copies by itself where the queue is empty.
enum { N = 100000, BYTES = N * sizeof(int) };

static int failures;

static void expect(int is_right, const char *what) {
  if (!is_right) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int all_are(const int *a, int value) {
  for (int i = 0; i < N; i++)
    if (a[i] != value)
      return 0;
  return 1;
}

static void fill(int *a, int value) {
  for (int i = 0; i < N; i++)
    a[i] = value;
}

// Keeps a queue from going on for a while.
static void hold_up(int queue) {
#pragma acc serial async(queue)
  { usleep(100000); }
}

static void directives(int *a) {
  fill(a, 1);
  hold_up(1);
#pragma acc enter data copyin(a[0:N]) async(1)
  expect(acc_is_present(a, BYTES), "data are there when the directive returns");
#pragma acc enter data create(a[0:N]) async(2)
  // Counted twice: once more and they are gone, whatever the queues have done.
#pragma acc exit data delete (a[0:N]) async(3)
  expect(acc_is_present(a, BYTES), "counts change when the directive returns");
#pragma acc parallel loop present(a[0:N]) async(1)
  for (int i = 0; i < N; i++)
    a[i] += 1;
#pragma acc exit data copyout(a[0:N]) async(1)
  expect(!acc_is_present(a, BYTES), "data are gone when the directive returns");
  // The same data once more, in the same queue: they get another place.
#pragma acc enter data copyin(a[0:N]) async(1)
  expect(acc_is_present(a, BYTES), "data that have gone may come again");
#pragma acc parallel loop present(a[0:N]) async(1)
  for (int i = 0; i < N; i++)
    a[i] *= 10;
#pragma acc exit data copyout(a[0:N]) async(1)
  expect(!acc_async_test(1), "the copies are not made yet");
#pragma acc wait(1)
  expect(all_are(a, 20), "copies and regions of a queue are in order");
}

static void regions(int *a, int *b) {
  fill(a, 3), fill(b, 0);
  hold_up(4);
#pragma acc parallel loop copy(a[0:N]) async(4)
  for (int i = 0; i < N; i++)
    a[i] += 1;
  expect(!acc_is_present(a, BYTES), "what a region brings goes when the construct returns");
#pragma acc data copyin(a[0:N]) copyout(b[0:N]) async(4)
  {
    expect(acc_is_present(a, BYTES), "data of a region are there at once");
#pragma acc parallel loop present(a[0:N], b[0:N]) async(4)
    for (int i = 0; i < N; i++)
      b[i] = 2 * a[i];
#pragma acc update self(b[0:N]) async(4)
  }
  expect(!acc_is_present(b, BYTES), "and gone with its end");
#pragma acc wait(4)
  expect(all_are(a, 4) && all_are(b, 8), "each region sees what the one before has copied back");
}

static void routines(int *a) {
  fill(a, 5);
  hold_up(6);
  acc_copyin_async(a, BYTES, 6);
  acc_copyin_async(a, BYTES, 6);
  acc_copyout_async(a, BYTES, 6);
  expect(acc_is_present(a, BYTES), "routines count at the call");
#pragma acc parallel loop present(a[0:N]) async(6)
  for (int i = 0; i < N; i++)
    a[i] = 7;
  acc_copyout_finalize_async(a, BYTES, 6);
  expect(!acc_is_present(a, BYTES) && !acc_async_test(6), "and what is counted no more has gone");
  acc_wait(6);
  expect(all_are(a, 7), "the copy is the queue's");
}

struct list {
  int length;
  int *items;
};

static void pointers(struct list *list) {
  fill(list->items, 1);
  hold_up(8);
#pragma acc enter data copyin(list[0:1], list->items[0:N]) async(8)
#pragma acc parallel loop present(list[0:1]) async(8)
  for (int i = 0; i < N; i++)
    list->items[i] += list->length;
#pragma acc exit data copyout(list->items[0:N]) delete (list[0:1]) async(8)
#pragma acc wait(8)
  expect(all_are(list->items, 1 + N), "a pointer is attached in its turn");
}

int main(void) {
  int *a = malloc(BYTES), *b = malloc(BYTES);
  struct list list = {N, malloc(BYTES)};
  int here = 0;
#pragma acc serial copy(here)
  here = 1;
  expect(here == 1 && acc_get_num_devices(acc_device_default) > 0, "there is a device");
  directives(a);
  regions(a, b);
  routines(a);
  pointers(&list);
  // Places are given back: as many as this would fill all memory otherwise.
  for (int turn = 0; turn < 2000; turn++) {
#pragma acc enter data create(a[0:N]) async(turn % 3)
#pragma acc exit data delete (a[0:N]) async(turn % 3)
  }
#pragma acc wait
  free(a), free(b), free(list.items);
  return failures != 0;
}
