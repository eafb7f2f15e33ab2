// OpenMP and OpenACC in one program: one table of what is on a device, with the counts of both.
#include <omp.h>
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

enum { N = 64 };

static int both(void *at)
{
  int omp = omp_target_is_present(at, omp_get_default_device());
  int acc = acc_is_present(at, 1) != 0;
  expect(omp == acc, "both see the same");
  return omp && acc;
}

static double field[N];
#pragma acc declare create(field)

static int counter = 1;
#pragma omp declare target(counter)

struct vector {
  int n;
  double *at;
};

int main(void)
{
  int a[N], *p = malloc(N * sizeof *p);
  for (int i = 0; i < N; i++) a[i] = p[i] = i;

  // Data of one, regions of the other.
#pragma acc enter data copyin(a, p[0 : N])
  expect(both(a) && both(p), "entered by one");
#pragma omp target teams distribute parallel for map(present, tofrom : a)
  for (int i = 0; i < N; i++) a[i] += p[i];
#pragma omp target update from(a)
  expect(a[5] == 10, "used by the other");
#pragma omp target exit data map(release : a)
  expect(!both(a), "and left by it");
#pragma acc exit data copyout(p[0 : N])

#pragma omp target data map(tofrom : a) map(to : p[0 : N])
  {
#pragma acc serial present(a, p[0 : N])
    for (int i = 0; i < N; i++) a[i] += p[i];
#pragma acc update self(a[7 : 1])
    expect(a[7] == 21, "updated by the other");
    int *there = acc_deviceptr(p);
#pragma omp target is_device_ptr(there)
    there[0] = 5;
#pragma acc update host(p[0 : 1])
    expect(p[0] == 5 && omp_get_mapped_ptr(p, omp_get_default_device()) == there, "one address");
  }
  expect(a[6] == 18 && !both(a), "came back once");

  // A region of OpenACC holds what OpenMP deletes; one of OpenMP does not.
#pragma acc data copy(a)
  {
#pragma omp target exit data map(delete : a)
    expect(both(a), "held");
#pragma omp target map(alloc : a)
    a[1] = 111;
  }
  expect(!both(a) && a[1] == 111, "until its end");
#pragma omp target data map(tofrom : a)
  {
#pragma acc exit data delete(a)
    expect(!both(a), "counted together");
  }
#pragma omp target enter data map(to : a)
#pragma acc enter data copyin(a)
#pragma acc exit data delete(a) finalize
  expect(!both(a), "finalize takes the counts of both");

  // Declarations.
  expect(both(field) && both(&counter), "declared by either");
#pragma omp target
  for (int i = 0; i < N; i++) field[i] = i + counter;
#pragma acc serial
  {
    field[0] = counter;
    counter = 7;
  }
#pragma omp target update from(field, counter)
  expect(field[0] == 1 && field[9] == 10 && counter == 7, "seen by both");

  // Pointers attached by one are followed by the other.
  double data[N];
  for (int i = 0; i < N; i++) data[i] = i;
  struct vector v = { N, data };
#pragma acc enter data copyin(v)
#pragma acc enter data copyin(v.at[0 : N])
#pragma omp target map(present, alloc : v)
  for (int i = 0; i < v.n; i++) v.at[i] *= 2;
#pragma acc exit data copyout(v.at[0 : N])
#pragma acc exit data delete(v)
  expect(data[4] == 8, "attached");
#pragma omp target data map(to : v) map(tofrom : v.at[0 : N])
  {
#pragma acc serial present(v)
    v.at[4] = 44;
  }
  expect(data[4] == 44, "the other way round");
  free(p);
  printf("%d failures\n", failures);
  return failures != 0;
}
