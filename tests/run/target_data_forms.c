// Every way for data to come to a device and back: scalars, arrays, sections, members, pointers in
// structures, variable lengths, copies of aggregates.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct vector {
  int length;
  double *data;
  double spare[3];
};

static double table[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int scalars(void)
{
  int on_device = 0, kept = 5;
  char letter = 'a';
  float half = 0.5f;
  double wide = 2.0;
#pragma omp target map(from : on_device) map(tofrom : letter)
  {
    on_device = !omp_is_initial_device();
    letter += kept;
    kept = 77; // a copy of its own
    half *= 2;
    wide *= 2;
  }
  expect(letter == 'f', "scalar by value");
  expect(kept == 5 && half == 0.5f && wide == 2.0, "copies stay copies");
  return on_device;
}

static void arrays(int n)
{
  double local[4] = { 0 }, variable[n][n + 1];
  double *heap = malloc(n * sizeof *heap);
  for (int i = 0; i < n; i++) {
    heap[i] = i;
    for (int j = 0; j <= n; j++) variable[i][j] = 0;
  }
#pragma omp target teams distribute parallel for map(tofrom : heap[1 : n - 2], table, variable) map(tofrom : local)
  for (int i = 1; i < n - 1; i++) {
    heap[i] += 100;
    variable[i][n] = heap[i];
    if (i < 4) local[i] = table[i];
    if (i == 1) table[7] = 80;
  }
  expect(heap[0] == 0 && heap[1] == 101 && heap[n - 2] == 98 + n && heap[n - 1] == n - 1, "section");
  expect(variable[2][n] == 102 && variable[0][n] == 0, "variable length");
  expect(local[3] == 4 && table[7] == 80, "arrays of the file and of the function");
  free(heap);
}

static void members(void)
{
  struct vector v = { 16, malloc(16 * sizeof(double)), { 1, 2, 3 } };
  struct vector *p = &v;
  for (int i = 0; i < 16; i++) v.data[i] = i;
#pragma omp target map(tofrom : v.length, v.data[0 : 16])
  {
    for (int i = 0; i < v.length; i++) v.data[i] *= 2;
    v.length = 4;
  }
  expect(v.length == 4 && v.data[15] == 30, "members of a structure");
#pragma omp target map(tofrom : p->spare, p->data[4 : 8])
  {
    p->spare[1] = p->data[4];
    p->data[11] = -1;
  }
  expect(v.spare[1] == 8 && v.data[11] == -1, "members through a pointer");
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v.data[0 : 16])
#pragma omp target
  v.data[0] = 41 + v.length - 3;
#pragma omp target exit data map(from : v.data[0 : 16])
#pragma omp target exit data map(release : v)
  expect(v.data[0] == 42, "a pointer is attached to data that comes later");
  free(v.data);
}

static void copies(void)
{
  struct { int a[4]; } whole = { { 1, 2, 3, 4 } };
  enum { FIRST = 3, SECOND } kind = SECOND;
  int array[5] = { 1, 2, 3, 4, 5 }, sum = 0;
#pragma omp target firstprivate(whole, array) map(tofrom : sum)
  {
    array[0] += 10;
    whole.a[3] = 40;
    sum = array[0] + array[4] + whole.a[3] + (kind == SECOND ? FIRST : 0);
  }
  expect(sum == 11 + 5 + 40 + 3, "copies of aggregates arrive");
  expect(array[0] == 1 && whole.a[3] == 4, "and are not brought back");
}

int main(void)
{
  int on_device = scalars();
  arrays(20);
  members();
  copies();
  expect(on_device, "the region runs on a device");
  return failures != 0;
}
