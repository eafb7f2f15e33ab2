// How long data live on a device by OpenACC: regions hold them, directives count them, pointers are attached.
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

enum { N = 48 };

static int there(void *at) { return acc_is_present(at, 1) != 0; }

// A region holds its data whatever directives do meanwhile.
static void structured(void)
{
  int a[N];
  for (int i = 0; i < N; i++) a[i] = i;
#pragma acc enter data copyin(a)
#pragma acc data copy(a)
  {
#pragma acc exit data delete(a) finalize
    expect(there(a), "a region holds what was finalized");
#pragma acc serial present(a)
    a[3] = 33;
#pragma acc exit data copyout(a)
    expect(there(a), "a second exit counts nothing");
  }
  expect(!there(a), "both counts are zero");
  expect(a[3] == 33, "the region's end copied");

#pragma acc enter data copyin(a)
#pragma acc data copyout(a)
  {
#pragma acc serial
    a[4] = 44;
  }
  expect(there(a), "the directive's count is left");
#pragma acc exit data copyout(a)
  expect(a[4] == 44 && !there(a), "the last one copies");

  // Of absent data there is nothing to exit.
#pragma acc exit data copyout(a) delete(a) finalize
  expect(!there(a), "still absent");

#pragma acc enter data create(a)
#pragma acc data present(a)
  {
#pragma acc exit data delete(a)
    expect(there(a), "present holds too");
  }
  expect(!there(a), "and lets go");
}

static void dynamic(void)
{
  int *p = malloc(N * sizeof *p);
  for (int i = 0; i < N; i++) p[i] = i;
#pragma acc enter data copyin(p[0 : N])
#pragma acc enter data create(p[0 : N])
#pragma acc enter data copyin(p[2 : 4])
#pragma acc exit data delete(p[0 : N])
  expect(there(p), "two are left");
#pragma acc serial
  p[1] = 11;
#pragma acc exit data copyout(p[0 : N]) finalize
  expect(!there(p) && p[1] == 11, "finalize is the end");
#pragma acc enter data copyin(p[0 : N]) if(p[0] == 1)
  expect(!there(p), "not under this condition");
#pragma acc data copyin(p[0 : N]) if(p[0] == 0)
  {
    expect(there(p), "under this");
#pragma acc exit data delete(p[0 : N]) if(0)
  }
  expect(!there(p), "the end of it");
  free(p);
}

static void api(void)
{
  int a[N] = { 1 };
  acc_copyin(a, sizeof a);
#pragma acc data copy(a)
  {
    acc_delete(a, sizeof a);
    expect(there(a), "a region holds what a routine deletes");
#pragma acc serial
    a[0] = 2;
  }
  expect(!there(a) && a[0] == 2, "then it is gone");
#pragma acc enter data copyin(a)
  acc_copyin(a, sizeof a);
#pragma acc exit data delete(a)
  expect(there(a), "routines and directives count together");
  acc_delete(a, sizeof a);
  expect(!there(a), "down to zero");
}

struct list {
  int n;
  int *items;
};

static void pointers(void)
{
  int x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i, y[i] = -i;
  struct list s = { N, x };
#pragma acc enter data copyin(s)
#pragma acc enter data copyin(x)
#pragma acc enter data attach(s.items)
#pragma acc serial present(s)
  s.items[1] += 100;
#pragma acc enter data copyin(s.items[0 : N])
#pragma acc exit data detach(s.items)
#pragma acc serial present(s)
  s.items[2] += 100;
#pragma acc exit data delete(s.items[0 : N])
  // Attached no more: the device's pointer holds the host's address again.
  int same = 0;
#pragma acc serial present(s) copyout(same) copyin(x)
  same = s.items == x;
  expect(!same || x == acc_deviceptr(x), "detached");
  // To detach what is not attached is nothing.
#pragma acc exit data detach(s.items) finalize
#pragma acc exit data copyout(x)
  expect(x[1] == 101 && x[2] == 102, "reached through the pointer");
#pragma acc exit data copyout(s)
  expect(s.items == x && s.n == N, "the host's pointer is the host's");

  s.items = y;
#pragma acc data copyin(s) copy(y)
  {
#pragma acc data attach(s.items)
    {
#pragma acc serial present(s)
      s.items[5] = 55;
    }
  }
  expect(y[5] == 55, "attached for a region");
#pragma acc serial copy(s.items[0 : N])
  s.items[s.n - 1] = 99;
  expect(y[N - 1] == 99, "a member's data, and the structure that nobody names");
  s.items = 0;
#pragma acc data copy(s) copy(s.items[0 : 0])
  {
#pragma acc serial present(s) copyout(same)
    same = s.items == 0;
  }
  expect(same, "a null pointer stays null");
}

/* A data region that never is one says nothing of what the regions in it copy. */
static void never(void)
{
  double part[N];
  for (int i = 0; i < N; i++)
    part[i] = i;
#pragma acc data copy(part[1 : 1]) if(0)
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
      part[i] += 100;
  }
  int same = 1;
  for (int i = 0; i < N; i++)
    same &= part[i] == 100 + i;
  expect(same, "all of it is copied where the data region is none");
}

int main(void)
{
  expect(acc_get_num_devices(acc_device_default) > 0, "there is a device");
  structured();
  dynamic();
  api();
  pointers();
  never();
  int seen = 0;
#pragma acc data create(seen)
  seen = there(&seen);
  expect(seen, "directives are heard");
  printf("%d failures\n", failures);
  return failures != 0;
}
