// What `declare` of OpenACC says of variables of files and of functions, left by several ways.
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

enum { N = 32 };

static int there(void *at) { return acc_is_present(at, 1) != 0; }

int table[N] = { 3, 1, 4 };
#pragma acc declare copyin(table)
static double work[N];
static int count = 2;
#pragma acc declare create(work[0 : N], count)
float only[N];
#pragma acc declare device_resident(only)
extern int later[N];
#pragma acc declare create(later)
int later[N];
int linked[N];
#pragma acc declare link(linked)
double *heap;
#pragma acc declare create(heap)

#pragma omp begin declare target
static double scaled(int i) { return heap[i] * count + table[i]; }
#pragma omp end declare target

static void of_file(void)
{
  expect(there(table) && there(work) && there(&count) && there(later), "there from the start");
  expect(!there(linked), "but not what is linked");
  int got = 0;
#pragma acc serial copyout(got)
  got = table[2];
  expect(got == 4, "with its first value");
  count = 5;
#pragma acc update device(count)
  heap = malloc(N * sizeof *heap);
  for (int i = 0; i < N; i++) heap[i] = i, linked[i] = i;
#pragma acc enter data copyin(heap[0 : N])
#pragma acc serial
  {
    for (int i = 0; i < N; i++) {
      only[i] = i;
      later[i] = table[i] + 1;
    }
    for (int i = 0; i < N; i++) work[i] = scaled(i) + only[i];
  }
#pragma acc update self(work[0 : N], later)
  expect(work[2] == 2 * 5 + 4 + 2 && later[2] == 5, "functions see it too");
#pragma acc exit data delete(heap[0 : N])
  free(heap);
#pragma acc data copy(linked)
  {
    expect(there(linked), "linked and mapped");
#pragma acc serial
    linked[1] = 10;
  }
  expect(!there(linked) && linked[1] == 10, "and not any more");
  // What is there for good cannot be deleted.
#pragma acc exit data delete(table) finalize
#pragma acc data copy(table)
  {
  }
  expect(there(table), "for good");
}

static int *left;

// Ends at every way out.
static int leave(int how, int *given, int n)
{
  int own[N] = { 0 };
#pragma acc declare copy(given[0 : n]) create(own)
  left = own;
  expect(there(given) && there(own), "while the function runs");
#pragma acc serial
  for (int i = 0; i < n; i++) {
    own[i] = how;
    given[i] += own[i];
  }
  n = 0;
  if (how == 1) return 1;
  for (int i = 0; i < 3; i++) {
    if (how == 2) goto out;
    if (how == 3 && i == 1) return own[0] + 3;
  }
  if (how == 4) {
    int inner = 1;
#pragma acc declare copyin(inner)
#pragma acc serial present(inner)
    own[0] = inner;
    return 4;
  }
out:
  return how;
}

static int summed(int *a, int n)
{
  int sum = 0;
#pragma acc declare present(a[0 : n])
#pragma acc serial copy(sum)
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}

static void in_place(int *a, int n)
{
#pragma acc declare deviceptr(a)
#pragma acc serial
  for (int i = 0; i < n; i++) a[i] += 1000;
}

static int kept(int value)
{
  static int memory[4] = { 7, 7, 7, 7 };
#pragma acc declare copyin(memory)
  int before;
  int scratch[4];
#pragma acc declare device_resident(scratch)
#pragma acc serial copyout(before)
  {
    scratch[1] = memory[1];
    before = scratch[1];
    memory[1] = value;
  }
  expect(there(memory), "it outlives the call");
  return before;
}

int main(void)
{
  of_file();
  int a[N];
  for (int how = 0; how < 5; how++) {
    for (int i = 0; i < N; i++) a[i] = i;
    leave(how, a, N);
    expect(!there(a) && !there(left), "all of it has ended");
    expect(a[3] == 3 + how, "what was copied came back");
  }
#pragma acc data copyin(a)
  {
    expect(summed(a, N) == N * (N - 1) / 2 + 4 * N, "present");
#pragma acc host_data use_device(a)
    in_place(a, N);
#pragma acc update self(a)
  }
  expect(a[3] == 1007, "device pointers");
  expect(kept(20) == 7 && kept(30) == 20 && kept(40) == 30, "static variables of a function");
  int seen = 0;
#pragma acc data create(seen)
  seen = there(&seen);
  expect(seen, "directives are heard");
  printf("%d failures\n", failures);
  return failures != 0;
}
