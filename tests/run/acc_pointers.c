// Pointers that data clauses name without a length: they stand for the data that were entered, in whichever function.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static double *global;

static double *numbers(double from)
{
  double *p = malloc(N * sizeof *p);
  for (int i = 0; i < N; i++) p[i] = from + i;
  return p;
}

static void enter(double *p) {
#pragma acc enter data copyin(p[0 : N])
}

static void add(double *p, double by)
{
#pragma acc parallel loop present(p)
  for (int i = 0; i < N; i++) p[i] += by;
}

static void take_out(double *p) {
#pragma acc exit data copyout(p)
}

static void drop(double *p) {
#pragma acc exit data delete(p)
}

struct box { int n; double *x; };

static void one_function(void)
{
  double *p = numbers(0);
#pragma acc enter data copyin(p[0 : N])
#pragma acc parallel loop present(p)
  for (int i = 0; i < N; i++) p[i] += 1000;
#pragma acc exit data copyout(p)
  expect(p[N - 1] == 1000 + N - 1, "copyout brings the data");
  expect(!acc_is_present(p, N * sizeof *p), "and takes them away");
  free(p);
}

static void again_and_again(void)
{
  double *p = numbers(0);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) p[i] = round;
#pragma acc enter data copyin(p[0 : N])
    add(p, 10);
#pragma acc update self(p)
#pragma acc exit data delete(p)
    expect(p[5] == round + 10, "every round begins with the host's values");
    expect(!acc_is_present(p, N * sizeof *p), "delete takes the data away");
  }
  free(p);
}

static void other_functions(void)
{
  double *p = numbers(3);
  enter(p);
  add(p, 1);
  take_out(p);
  expect(p[0] == 4 && !acc_is_present(p, N * sizeof *p), "copyout in another function");
  enter(p);
  add(p, 1);
  drop(p);
  expect(!acc_is_present(p, N * sizeof *p), "delete in another function");
  enter(p);
  enter(p);
  drop(p);
  expect(acc_is_present(p, N * sizeof *p), "each enter is counted");
#pragma acc exit data delete(p) finalize
  expect(!acc_is_present(p, N * sizeof *p), "finalize");
  drop(p);
  p = 0;
  drop(p);
}

static void of_the_file(void)
{
  global = numbers(1);
#pragma acc enter data create(global[0 : N])
#pragma acc update device(global)
#pragma acc parallel loop present(global)
  for (int i = 0; i < N; i++) global[i] *= 2;
#pragma acc exit data copyout(global)
  expect(global[9] == 20 && !acc_is_present(global, N * sizeof *global), "a pointer of the file");
}

static void parts(void)
{
  double *p = numbers(0);
  struct box b = { N, numbers(5) };
#pragma acc enter data copyin(p[10 : 20])
#pragma acc parallel loop present(p)
  for (int i = 10; i < 30; i++) p[i] = -1;
#pragma acc exit data copyout(p)
  expect(p[9] == 9 && p[10] == -1 && p[29] == -1 && p[30] == 30, "what was entered, and no more");

#pragma acc enter data copyin(b)
#pragma acc enter data copyin(b.x[0 : N])
#pragma acc parallel loop present(b)
  for (int i = 0; i < N; i++) b.x[i] += b.n;
#pragma acc exit data copyout(b.x)
  expect(b.x[1] == 6 + N && !acc_is_present(b.x, N * sizeof(double)), "a pointer of a structure");
  expect(acc_is_present(&b, sizeof b), "the structure stays");
#pragma acc exit data delete(b)
  expect(!acc_is_present(&b, sizeof b), "and goes");

  double *q = numbers(0);
  double sum = 0;
#pragma acc enter data copyin(q[0 : N])
#pragma acc parallel loop no_create(q) reduction(+ : sum) copy(sum)
  for (int i = 0; i < N; i++) sum += q[i];
#pragma acc exit data delete(q)
  expect(sum == N * (N - 1) / 2, "no_create finds the data");
}

/* A pointer that a clause has put on the device is itself what goes. */
static void itself(void)
{
  double *p = numbers(0);
#pragma acc enter data copyin(p)
  expect(acc_is_present(&p, sizeof p), "the pointer");
#pragma acc exit data delete(p)
  expect(!acc_is_present(&p, sizeof p), "goes as it came");
}

int main(void)
{
  one_function();
  again_and_again();
  other_functions();
  of_the_file();
  parts();
  itself();
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
