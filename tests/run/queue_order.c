// Queues: in order each, waiting for each other where it is said, and the caller goes on.
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 100, N = 64 };

static int failures;

static void expect(int is_right, const char *what) {
  if (!is_right) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec * 1e-9;
}

static long chain[STEPS], copy[STEPS];
static int slow, first, second[N];

static void one_queue(void) {
#pragma acc data copy(chain, copy)
  {
    for (int step = 0; step < STEPS; step++) {
      long add = step + 1;
      // The value is that of the call; the variable changes before the region runs.
#pragma acc serial async(1) firstprivate(add) present(chain)
      { chain[step] = add + (step > 0 ? chain[step - 1] : 0); }
      add = -1000;
    }
#pragma acc serial wait(1) async(2) present(chain, copy)
    {
      for (int step = 0; step < STEPS; step++)
        copy[step] = chain[step];
    }
#pragma acc wait(2)
  }
  for (int step = 0; step < STEPS; step++)
    expect(copy[step] == (step + 1L) * (step + 2L) / 2, "100 regions in one queue are in order");
}

static void the_caller_goes_on(void) {
  double begin = now();
#pragma acc serial copyout(slow) async(3)
  {
    usleep(300000);
    slow = 7;
  }
  double begun = now() - begin;
#pragma acc wait(3) async(4)
#pragma acc serial copyin(slow) copyout(first) async(4)
  { first = slow + 1; }
  double joined = now() - begin;
#pragma acc wait(4)
  double ended = now() - begin;
  expect(begun < 0.2 && joined < 0.2, "nobody waits for a queue that is not waited for");
  expect(ended >= 0.3, "a wait is as long as the work");
  expect(slow == 7 && first == 8, "a queue waits for another");
}

static void data_in_queues(int queue) {
  for (int i = 0; i < N; i++)
    second[i] = i;
#pragma acc enter data copyin(second) async(queue)
#pragma acc serial present(second) async(queue)
  for (int i = 0; i < N; i++)
    second[i] += 1;
#pragma acc update self(second[0:N / 2]) async(queue)
#pragma acc wait(queue)
  for (int i = 0; i < N / 2; i++)
    expect(second[i] == i + 1, "an update comes after the region before it");
#pragma acc data copy(second) async(queue)
#pragma acc serial present(second) async(queue)
  for (int i = 0; i < N; i++)
    second[i] *= 2;
#pragma acc exit data copyout(second) async(queue)
#pragma acc wait if (queue == 5)
#pragma acc wait(devnum : 0 : queues : queue, 77)
  for (int i = 0; i < N; i++)
    expect(second[i] == 2 * (i + 1), "both ends of a data region are in the queue");
}

int main(void) {
  one_queue();
  the_caller_goes_on();
  data_in_queues(5);
  data_in_queues(-1);
  data_in_queues(-2);
#pragma acc wait
  return failures != 0;
}
