// Loops that join values with small arrays atomically, whatever their test, step, direction and type: cores give threads copies of the arrays.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { N = 40, STEPS = 3 };

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  int upto[5] = { 0 }, down[5] = { 0 }, by[5] = { 0 }, other[7] = { 0 }, nest[4] = { 0 }, pointed[4] = { 0 };
  int data[N], n = 20, step = STEPS;
  for (int i = 0; i < N; i++) data[i] = i;
  int here = 1;
#pragma omp target map(from: here)
  here = omp_is_initial_device();
  expect(!here, "regions run on a device");

#pragma omp target teams distribute parallel for map(tofrom: upto)
  for (int i = 1; i <= 16; i++) {
#pragma omp atomic
    upto[i % 5] += i;
  }
#pragma omp target teams distribute parallel for map(tofrom: down)
  for (int i = n; i >= 1; i -= 3) {
#pragma omp atomic
    down[i % 5] += i;
  }
#pragma omp target teams distribute parallel for map(tofrom: by) firstprivate(step)
  for (long i = 2; i < 31; i += step) {
#pragma omp atomic
    by[i % 5] += i;
  }
#pragma omp target teams distribute parallel for map(tofrom: other)
  for (unsigned i = 0; i != 23; i++) {
#pragma omp atomic
    other[i % 7] ^= i;
  }
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: nest)
  for (int i = 6; i > 0; i -= 2)
    for (short j = 0; j <= 9; j += 2) {
#pragma omp atomic
      nest[(i + j) % 4] += i * 100 + j;
    }
#pragma omp target map(tofrom: pointed) map(to: data)
#pragma omp parallel for
  for (int *p = data + N - 2; p >= data; p -= 2) {
#pragma omp atomic
    pointed[*p % 4] += *p;
  }

  int sums[5] = { 0 }, falling[5] = { 0 }, strided[5] = { 0 }, bits[7] = { 0 }, both[4] = { 0 }, even[4] = { 0 };
  for (int i = 1; i <= 16; i++) sums[i % 5] += i;
  for (int i = 20; i >= 1; i -= 3) falling[i % 5] += i;
  for (int i = 2; i < 31; i += STEPS) strided[i % 5] += i;
  for (int i = 0; i < 23; i++) bits[i % 7] ^= i;
  for (int i = 6; i > 0; i -= 2)
    for (int j = 0; j <= 9; j += 2) both[(i + j) % 4] += i * 100 + j;
  for (int i = N - 2; i >= 0; i -= 2) even[i % 4] += i;
  expect(memcmp(upto, sums, sizeof sums) == 0, "up to a bound that belongs to it");
  expect(memcmp(down, falling, sizeof falling) == 0, "downwards");
  expect(memcmp(by, strided, sizeof strided) == 0, "by a step that is a variable");
  expect(memcmp(other, bits, sizeof bits) == 0, "until a value is reached");
  expect(memcmp(nest, both, sizeof both) == 0, "two loops, of small numbers");
  expect(memcmp(pointed, even, sizeof even) == 0, "a pointer");
  return failures != 0;
}
