// Functions called through pointers in kernels: from tables, records and arguments, of several types, chosen on the device or on the host,
// and come there in any way: private, in mapped records, arrays and variables of the device.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 48

struct vector { double x, y; };
typedef double (*weight)(double);
typedef struct vector (*turn)(struct vector, int);

#pragma omp begin declare target indirect
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int mul(int a, int b) { return a * b; }
static void raise(int *at) { *at += 1; }
static void lower(int *at) { *at -= 1; }
static struct vector left(struct vector v, int n) { return (struct vector){-v.y * n, v.x * n}; }
static struct vector right(struct vector v, int n) { return (struct vector){v.y * n, -v.x * n}; }
static double half(double x) { return x / 2; }
#pragma omp end declare target

#pragma omp declare target
static int (*const table[3])(int, int) = {add, sub, mul};
struct shape {
  turn turn;
  weight weight;
  void (*change[2])(int *);
};
static weight chosen(int i) { return i % 3 == 0 ? half : i % 3 == 1 ? sqrt : 0; }
static int folded(const int *values, int n, int (*with)(int, int)) {
  int all = values[0];
  for (int i = 1; i < n; i++)
    all = (*with)(all, values[i]);
  return all;
}
typedef int (*binary)(int, int);
struct object { binary with; int value; struct { binary each[2]; } in; };
static binary resident = 0;
static int nothing(void) { return 40; }
static int something(void) { return 2; }
#pragma omp end declare target

// Pointers of the host that come with data.
static int carried(void) {
  int wrong = 0, got = 0, each[4];
  binary one = mul;
#pragma omp target firstprivate(one) map(from : got)
  got = (*one)(6, 7);
  wrong += got != 42;
  struct object object = {add, 5, {{mul, sub}}};
#pragma omp target map(to : object) map(from : got)
  got = object.with(object.value, 1) + object.in.each[0](10, 2) * 100 + (**object.in.each[1])(5, 3) * 10000;
  wrong += got != 22006;
#pragma omp target firstprivate(object) map(from : got)
  got = object.with(1, 2) + object.in.each[1](9, 4);
  wrong += got != 8;
  binary list[4] = {add, mul, sub, 0}, *heap = malloc(sizeof list);
#pragma omp target teams distribute parallel for map(to : list) map(from : each)
  for (int i = 0; i < 4; i++)
    each[i] = list[i] ? list[i](10 * i, 2) : -1;
  wrong += each[0] != 2 || each[1] != 20 || each[2] != 18 || each[3] != -1;
  heap[0] = sub;
  resident = mul;
#pragma omp target update to(resident)
#pragma omp target map(to : heap[0 : 1]) map(from : got)
  got = heap[0](9, 4) * 100 + (resident ? resident(4, 2) : -1);
  wrong += got != 508;
  free(heap);
  return wrong;
}

int main(void) {
  int wrong = 0, out[N], sums[3];
  double weights[N];
#pragma omp target teams distribute parallel for map(from : out, weights)
  for (int i = 0; i < N; i++) {
    struct shape shape = {i % 2 ? left : &right, chosen(i), {raise, &lower}};
    struct vector v = shape.turn((struct vector){1, i}, 2);
    int n = table[i % 3](i, 3);
    shape.change[i % 2](&n);
    out[i] = n + 1000 * (int)v.x + (shape.turn == left);
    weights[i] = shape.weight ? shape.weight(i) : -1;
  }
  for (int i = 0; i < N; i++) {
    int n = i % 3 == 0 ? i + 3 : i % 3 == 1 ? i - 3 : i * 3;
    wrong += out[i] != n + (i % 2 ? -1 : 1) + 1000 * (i % 2 ? -2 * i : 2 * i) + i % 2;
    wrong += fabs(weights[i] - (i % 3 == 0 ? i / 2.0 : i % 3 == 1 ? sqrt(i) : -1)) > 1e-12;
  }
  int values[4] = {2, 3, 4, 5};
  // A pointer of the host leads to the device's function.
  int (*host[3])(int, int) = {add, sub, mul};
  for (int i = 0; i < 3; i++) {
    int (*one)(int, int) = host[i], sum = 0;
#pragma omp target map(to : values) map(from : sum)
    {
      int (*none)(void) = 0, (**which)(void) = &none;
      *which = something;
      if (none() != 2)
        *which = nothing;
      int two = (*something)() + (&nothing)() - 40;
      none = i == 1 ? something : nothing;
      sum = folded(values, 4, one) + folded(values, two, i == 2 ? sub : add) + (*which)();
    }
    sums[i] = sum;
  }
  wrong += sums[0] != 14 + 5 + 40 || sums[1] != -10 + 5 + 2 || sums[2] != 120 - 1 + 40;
  for (int i = 0; i < 4; i++)
    values[i] = -values[i];
#pragma omp target firstprivate(values) map(tofrom : out)
  {
    values[0] = 7;
    out[0] = folded(values, 2, table[2]);
  }
  wrong += out[0] != -21 || values[0] != -2;
  wrong += carried();
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
