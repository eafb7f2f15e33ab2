// Nests that cores cut into blocks: products with variables of the function, sums along columns, convolutions, stencils and
// transpositions, of several types, with sizes that fill no block, one, or several and a rest. Each element comes out as
// it does in order, and variables that a clause makes private keep their values.
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
  static void old_words_##name(int n, int m, int l)                                                             \
  {                                                                                                             \
    type *a = a_##name, *b = b_##name, *c = c_##name, s = 77;                                                   \
    int i, j = -2, k = -3;                                                                                      \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) {                                                                             \
        type s = 0;                                                                                             \
        for (int k = 0; k < l; k++) s += a[i * l + k] * b[k * m + j];                                           \
        known_##name[i * m + j] = s;                                                                            \
      }                                                                                                         \
    _Pragma("omp target parallel for collapse(2) private(k, s) map(to: a[:MOST * MOST], b[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (i = 0; i < n; i++)                                                                                     \
      for (j = 0; j < m; j++) {                                                                                 \
        s = 0;                                                                                                  \
        for (k = 0; k < l; k++) s += a[i * l + k] * b[k * m + j];                                               \
        c[i * m + j] = s;                                                                                       \
      }                                                                                                         \
    same_##name("product with variables of the function", n);                                                   \
    expect(s == 77 && k == -3, "variables that are private", #type, n);                                         \
  }                                                                                                             \
  static void grids_##name(int n, int m)                                                                        \
  {                                                                                                             \
    type *a = a_##name, *b = b_##name, *c = c_##name;                                                           \
    for (int j = 0; j < m; j++) {                                                                               \
      type s = 0;                                                                                               \
      for (int i = 0; i < n; i++) s += a[i * m + j];                                                            \
      known_##name[j] = s;                                                                                      \
    }                                                                                                           \
    _Pragma("acc parallel loop copyin(a[:MOST * MOST]) copy(c[:MOST * MOST])")                                  \
    for (int j = 0; j < m; j++) {                                                                               \
      type s = 0;                                                                                               \
      for (int i = 0; i < n; i++) s += a[i * m + j];                                                            \
      c[j] = s;                                                                                                 \
    }                                                                                                           \
    same_##name("sums of columns", n);                                                                          \
    for (int i = 1; i < n - 1; i++)                                                                             \
      for (int j = 1; j < m - 1; j++) {                                                                         \
        type s = 0;                                                                                             \
        for (int p = -1; p <= 1; p++)                                                                           \
          for (int q = -1; q <= 1; q++) s += b[(p + 1) * 3 + q + 1] * a[(i + p) * m + j + q];                   \
        known_##name[i * m + j] = s;                                                                            \
      }                                                                                                         \
    _Pragma("omp target teams distribute parallel for collapse(2) map(to: a[:MOST * MOST], b[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (int i = 1; i < n - 1; i++)                                                                             \
      for (int j = 1; j < m - 1; j++) {                                                                         \
        type s = 0;                                                                                             \
        for (int p = -1; p <= 1; p++)                                                                           \
          for (int q = -1; q <= 1; q++) s += b[(p + 1) * 3 + q + 1] * a[(i + p) * m + j + q];                   \
        c[i * m + j] = s;                                                                                       \
      }                                                                                                         \
    same_##name("convolution", n);                                                                              \
    for (int i = 1; i < n - 1; i++)                                                                             \
      for (int j = 1; j < m - 1; j++)                                                                           \
        known_##name[i * m + j] = 4 * a[i * m + j] - a[(i - 1) * m + j] - a[i * m + j + 1];                     \
    _Pragma("acc parallel loop collapse(2) copyin(a[:MOST * MOST]) copy(c[:MOST * MOST])")                      \
    for (int i = 1; i < n - 1; i++)                                                                             \
      for (int j = 1; j < m - 1; j++)                                                                           \
        c[i * m + j] = 4 * a[i * m + j] - a[(i - 1) * m + j] - a[i * m + j + 1];                                \
    same_##name("stencil", n);                                                                                  \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) known_##name[j * n + i] = a[i * m + j] + 1;                                   \
    _Pragma("omp target teams distribute parallel for collapse(2) map(to: a[:MOST * MOST]) map(c[:MOST * MOST])") \
    for (int i = 0; i < n; i++)                                                                                 \
      for (int j = 0; j < m; j++) c[j * n + i] = a[i * m + j] + 1;                                              \
    same_##name("transposition", n);                                                                            \
  }                                                                                                             \
  static void all_##name(void)                                                                                  \
  {                                                                                                             \
    for (int i = 0; i < MOST * MOST; i++) {                                                                     \
      a_##name[i] = (type)(i % 5), b_##name[i] = (type)(i % 3);                                                 \
      c_##name[i] = known_##name[i] = 0;                                                                        \
    }                                                                                                           \
    static const int sizes[][3] = { { 1, 1, 1 }, { 2, 5, 3 }, { 8, 16, 4 }, { 9, 33, 0 }, { 67, 71, 19 }, { 83, 83, 83 } }; \
    for (int it = 0; it < 6; it++) {                                                                            \
      old_words_##name(sizes[it][0], sizes[it][1], sizes[it][2]);                                               \
      grids_##name(sizes[it][0], sizes[it][1]);                                                                 \
    }                                                                                                           \
  }

NESTS(float, float)
NESTS(double, double)
NESTS(int, int)
NESTS(long, long)
NESTS(short, short)
NESTS(unsigned char, byte)

int main(void)
{
  all_float();
  all_double();
  all_int();
  all_long();
  all_short();
  all_byte();
  if (failures == 0) printf("right\n");
  return failures != 0;
}
