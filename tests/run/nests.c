// Nests that cores cut into blocks: products with operands in any order, of several types, with sizes that fill no block, one,
// or several and a rest. Each element comes out as it does in order.
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what, const char *type, int n)
{
  if (!holds) {
    printf("wrong: %s of %s, %d\n", what, type, n);
    failures++;
  }
}

enum { MOST = 83 };

#define NESTS(type, name)                                                                                       \
  static type a_##name[MOST * MOST], b_##name[MOST * MOST], c_##name[MOST * MOST], known_##name[MOST * MOST];   \
  static void same_##name(const char *what, int n)                                                              \
  {                                                                                                             \
    expect(!memcmp(c_##name, known_##name, sizeof c_##name), what, #type, n);                                   \
    for (int i = 0; i < MOST * MOST; i++) c_##name[i] = known_##name[i] = (type)(i % 3);                        \
  }                                                                                                             \
  static void product_##name(int n, int m, int l)                                                               \
  {                                                                                                             \
    type *a = a_##name, *b = b_##name, *c = c_##name;                                                           \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) {                                                                             \
        type s = 1;                                                                                             \
        for (int k = 0; k < l; k++) s += a[i * l + k] * b[k * m + j];                                           \
        known_##name[i * m + j] = s;                                                                            \
      }                                                                                                         \
    _Pragma("omp target teams distribute parallel for collapse(2) map(to: a[:MOST * MOST], b[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) {                                                                             \
        type s = 1;                                                                                             \
        for (int k = 0; k < l; k++) s += a[i * l + k] * b[k * m + j];                                           \
        c[i * m + j] = s;                                                                                       \
      }                                                                                                         \
    same_##name("product", n);                                                                                  \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) {                                                                             \
        known_##name[i * m + j] += 2;                                                                           \
        for (int k = 0; k <= l - 1; k++) known_##name[i * m + j] += a[i * l + k] * b[j * l + k];                \
      }                                                                                                         \
    _Pragma("omp target teams loop collapse(2) map(to: a[:MOST * MOST], b[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) {                                                                             \
        type s = c[i * m + j] + 2;                                                                              \
        for (int k = 0; k <= l - 1; k++) s += a[i * l + k] * b[j * l + k];                                      \
        c[i * m + j] = s;                                                                                       \
      }                                                                                                         \
    same_##name("product with a transposed operand", n);                                                        \
    for (unsigned i = 0; i < (unsigned)n; i++)                                                                  \
      for (long j = 0; j < m; j++) {                                                                            \
        known_##name[i * m + j] = 0;                                                                            \
        for (int k = 0; k < l; k++) known_##name[i * m + j] += a[k * n + i] * b[k * m + j];                     \
      }                                                                                                         \
    _Pragma("omp target teams distribute parallel for collapse(2) map(to: a[:MOST * MOST], b[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (unsigned i = 0; i < (unsigned)n; i++)                                                                  \
      for (long j = 0; j < m; j++) {                                                                            \
        c[i * m + j] = 0;                                                                                       \
        for (int k = 0; k < l; k++) c[i * m + j] += a[k * n + i] * b[k * m + j];                                \
      }                                                                                                         \
    same_##name("product in memory", n);                                                                        \
  }                                                                                                             \
  static void all_##name(void)                                                                                  \
  {                                                                                                             \
    for (int i = 0; i < MOST * MOST; i++) {                                                                     \
      a_##name[i] = (type)(i % 5), b_##name[i] = (type)(i % 3);                                                 \
      c_##name[i] = known_##name[i] = 0;                                                                        \
    }                                                                                                           \
    static const int sizes[][3] = { { 1, 1, 1 }, { 2, 5, 3 }, { 8, 16, 4 }, { 9, 33, 0 }, { 67, 71, 19 }, { 83, 83, 83 } }; \
    for (int it = 0; it < 6; it++) {                                                                            \
      product_##name(sizes[it][0], sizes[it][1], sizes[it][2]);                                                 \
    }                                                                                                           \
  }

NESTS(float, float)
NESTS(double, double)
NESTS(int, int)
NESTS(long, long)
NESTS(short, short)
NESTS(unsigned char, byte)

// What an iteration looks at before it stores there keeps its value: on a condition, of complex numbers, of pointers.
enum { R = 40, C = 50 };
static double u[R][C], v[R][C], kept[R][C];
static double _Complex z[R][C], w[R][C];

static void values(void)
{
  int is_right = 1, last = -4;
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) u[i][j] = v[i][j] = i * 100 + j, z[i][j] = i + j * 1.0i;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : u, kept) private(last)
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) {
      last = i > 0;
      double old = last ? u[i][j] : -1;
      u[i][j] = 7;
      kept[i][j] = old + u[i][j];
    }
  expect(last == -4, "a private variable", "int", R);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) is_right &= kept[i][j] == (i > 0 ? i * 100 + j : -1) + 7;
#pragma acc parallel loop collapse(2) copy(v, kept)
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) {
      int is_large = i > 3 && v[i][j] > 1000;
      v[i][j] = 7;
      kept[i][j] = is_large;
    }
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) is_right &= kept[i][j] == (i > 3 && i * 100 + j > 1000);
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : z) map(from : w)
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) {
      double _Complex old = z[i][j];
      z[i][j] = old + 2;
      w[i][j] = z[i][j] - old;
    }
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) is_right &= w[i][j] == 2 && z[i][j] == i + 2 + j * 1.0i;
  expect(is_right, "values looked at before a store", "double", R);
}

int main(void)
{
  values();
  all_float();
  all_double();
  all_int();
  all_long();
  all_short();
  all_byte();
  if (failures == 0) printf("right\n");
  return failures != 0;
}
