// Rows of arrays that a function is given: loops over elements may be shared where the arrays lie apart, and rows stay in order
// where they meet.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

void expect(int is_right, const char *what) {
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

// Elements of the row of `a` that follow from those of `b`.
void shift(int n, int m, int width, float *a, float *b) {
#pragma omp target teams distribute parallel for map(tofrom : a[0 : n * width], b[0 : n * width])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * width + j] = b[i * width + j] + i + 1;
}

// The same with arrays that are there already, a counter from outside and steps.
void shift_there(long n, long m, int width, double *a, double *b) {
  long i, j;
#pragma omp target teams distribute parallel for private(j)
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j += 2)
      a[i * width + j] = b[i * width + j] + i + 1;
}

void shift_gangs(int n, int m, int width, short *a, short *b, short *c) {
#pragma acc parallel loop gang vector copy(a[0 : n * width], b[0 : n * width]) copyin(c[0 : n])
  for (int i = 0; i < n; i++) {
    for (int j = m; j > 0; j--)
      a[i * width + j - 1] = b[i * width + j - 1] + c[i];
  }
}

// In place each element of a row follows from those before it.
void product(int n, const int *a, const int *b, int *c) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int s = 0;
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s % 101;
    }
}

static void products(int n, int apart) {
  int *a = calloc(n * n + 1, sizeof *a), *b = calloc(n * n + 1, sizeof *b), *c = calloc(n * n + 1, sizeof *c);
  int *row = calloc(n + 1, sizeof *row), *into = apart ? c : a;
  int *by_hand = calloc(n * n + 1, sizeof *by_hand);
  for (int i = 0; i < n * n; i++)
    a[i] = i * 7 % 5, b[i] = i * 3 % 11;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      row[j] = a[i * n + j];
    for (int j = 0; j < n; j++) {
      int s = 0;
      for (int k = 0; k < n; k++)
        s += row[k] * b[k * n + j];
      by_hand[i * n + j] = s % 101;
      if (!apart)
        row[j] = s % 101;
    }
  }
#pragma omp target data map(tofrom : a[0 : n * n], c[0 : n * n]) map(to : b[0 : n * n])
  product(n, a, b, into);
  expect(!memcmp(into, by_hand, n * n * sizeof *into), apart ? "a product" : "a product in place");
  free(a), free(b), free(c), free(row), free(by_hand);
}

// Where `apart` is 0, `b` begins one element before `a` of the same memory.
static void floats(int n, int m, int apart) {
  int width = m + 3, size = n * width + 8;
  float *room = calloc(2 * size, sizeof *room), *by_hand = calloc(2 * size, sizeof *room);
  for (int i = 0; i < 2 * size; i++)
    room[i] = by_hand[i] = i * 7 % 11;
  float *a = room + 1, *b = apart ? room + size : room;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      by_hand[1 + i * width + j] = by_hand[(apart ? size : 0) + i * width + j] + i + 1;
#pragma omp target data map(tofrom : room[0 : 2 * size])
  shift(n, m, width, a, b);
  expect(!memcmp(room, by_hand, 2 * size * sizeof *room), apart ? "rows of two arrays" : "rows of one array");
  free(room), free(by_hand);
}

static void doubles(int n, int m, int apart) {
  int width = m + 3, size = n * width + 8;
  double *room = calloc(2 * size, sizeof *room), *by_hand = calloc(2 * size, sizeof *room);
  for (int i = 0; i < 2 * size; i++)
    room[i] = by_hand[i] = i * 5 % 13;
  double *a = room + 2, *b = apart ? room + size : room;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j += 2)
      by_hand[2 + i * width + j] = by_hand[(apart ? size : 0) + i * width + j] + i + 1;
#pragma omp target data map(tofrom : room[0 : 2 * size])
  shift_there(n, m, width, a, b);
  expect(!memcmp(room, by_hand, 2 * size * sizeof *room), apart ? "rows of two arrays, in steps" : "rows of one array, in steps");
  free(room), free(by_hand);
}

static void shorts(int n, int m, int apart) {
  int width = m + 3, size = n * width + 8;
  short *room = calloc(2 * size, sizeof *room), *by_hand = calloc(2 * size, sizeof *room), *c = calloc(n, sizeof *c);
  for (int i = 0; i < 2 * size; i++)
    room[i] = by_hand[i] = i * 3 % 17;
  for (int i = 0; i < n; i++)
    c[i] = i % 5;
  short *a = room, *b = apart ? room + size : room + 1;
  for (int i = 0; i < n; i++)
    for (int j = m; j > 0; j--)
      by_hand[i * width + j - 1] = by_hand[(apart ? size : 1) + i * width + j - 1] + c[i];
#pragma omp target data map(tofrom : room[0 : 2 * size])
  shift_gangs(n, m, width, a, b, c);
  expect(!memcmp(room, by_hand, 2 * size * sizeof *room), apart ? "rows of two arrays, of gangs" : "rows of one array, of gangs");
  free(room), free(by_hand), free(c);
}

int main(void) {
  int here = 1;
#pragma omp target map(from : here)
  here = omp_is_initial_device();
  expect(!here, "regions run on a device");
  const int sizes[][2] = {{1, 1}, {3, 70}, {40, 33}, {100, 9}, {0, 5}, {5, 0}};
  for (int i = 0; i < 6; i++)
    for (int apart = 0; apart < 2; apart++) {
      floats(sizes[i][0], sizes[i][1], apart);
      doubles(sizes[i][0], sizes[i][1], apart);
      shorts(sizes[i][0], sizes[i][1], apart);
      products(sizes[i][0], apart);
    }
  return wrong;
}
