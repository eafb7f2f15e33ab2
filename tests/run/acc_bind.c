// On devices another function stands for one: by name, by a string, before or behind its definition; not where the host
// runs the region.
#include <openacc.h>
#include <stdio.h>

#pragma acc routine seq
static int there(int x) { return x + 100; }

#pragma acc routine seq
int by_string(int x) { return x + 200; }

#pragma acc routine seq bind(there)
static int here(int x) { return x + 1; }

static int second(int x);
#pragma acc routine(second) seq bind("by_string")
static int second(int x) { return x + 2; }

// Through functions that host and device share.
#pragma acc routine seq
static int through(int x) { return here(x) + second(x); }
#pragma acc routine seq
static int deep(int x) { return through(x) + here(x); }

int main(void) {
  int failures = 0, a = 0, b = 0, sum = 0;
#pragma acc parallel copyout(a, b)
  {
    a = here(1);
    b = second(1);
  }
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 10; i++)
    sum += here(i);
  if (a != 101 || b != 201 || sum != 1045) {
    printf("on the device: %d %d %d\n", a, b, sum);
    failures++;
  }
  for (int leaves = 0; leaves < 2; leaves++) {
    int both[2] = { 0, 0 };
#pragma acc parallel loop copy(both) if (leaves)
    for (int i = 0; i < 2; i++) both[i] = i ? deep(4) : through(1);
    if (both[0] != (leaves ? 302 : 5) || both[1] != (leaves ? 412 : 16) || through(1) != 5) {
      printf("through functions, %d: %d %d\n", leaves, both[0], both[1]);
      failures++;
    }
  }
  for (int leaves = 0; leaves < 2; leaves++) {
    int n = 10, c = 0;
    sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(n) copyout(c) if (leaves)
    for (int i = 0; i < n; i++) {
      sum += here(i);
      if (i == 0) c = second(1);
    }
    if (sum != (leaves ? 1045 : 55) || c != (leaves ? 201 : 3)) {
      printf("a region that leaves the host %d times: %d %d\n", leaves, sum, c);
      failures++;
    }
  }
  a = b = 0;
#pragma acc serial copyout(a) self
  a = here(1);
#pragma acc kernels copyout(b) if (0)
  b = second(1);
  if (a != 2 || b != 3) {
    printf("regions of the host: %d %d\n", a, b);
    failures++;
  }
  if (here(1) != 2 || second(1) != 3) {
    printf("on the host: %d %d\n", here(1), second(1));
    failures++;
  }
  return failures != 0;
}
