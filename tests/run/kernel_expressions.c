// Expressions of GNU C in kernels: statements, `?:` without its second operand, ranges of cases, compound literals with addresses.
#include <limits.h>
#include <stdio.h>

#define N 64

#define LARGER(a, b) ({ __typeof__(a) one = (a), other = (b); one > other ? one : other; })

struct pair { int first; double second[2]; };
union either { float f; int i; };

#pragma omp declare target
static int kind(long value) {
  switch (value) {
  case LONG_MIN ... -1: return -1;
  case 0: return 0;
  case 1 ... 9: {
    switch ((unsigned char)value) {
    case 2 ... 3:
    case 5:
    case 7: return 2;
    default: break;
    }
    return 1;
  }
  case 10 ... LONG_MAX: return 3;
  }
  return 4;
}

static int sum(const int *values, int n) {
  int all = 0;
  while (n-- > 0)
    all += *values++;
  return all;
}

static int calls;
static int once(int value) { return calls++, value; }

static double twice(struct pair *pair) {
  pair->first *= 2;
  struct pair *kept[2];
  for (int i = 0; i < 2; i++) {
    struct pair *copy = &(struct pair){pair->first + i, {pair->second[0], i}};
    copy->second[1] += 1;
    kept[i] = &(struct pair){copy->first};
    if (kept[i]->second[1] != 0 || copy->second[1] != i + 1)
      return -1;
  }
  return pair->first + pair->second[1];
}

#pragma omp end declare target

int main(void) {
  int wrong = 0, out[N], got[14];
  double more[N];
#pragma omp target teams distribute parallel for map(from : out, more)
  for (int i = 0; i < N; i++) {
    out[i] = LARGER(i % 7, LARGER(i % 5, 2)) + 100 * kind(i - 8L);
    int rounds = ({ int n = 0; for (int j = i; j > 0; j /= 2) { if (j == 3) break; n++; } n; });
    more[i] = (i & 8 ?: 3) + rounds + twice(&(struct pair){.first = i, .second = {1, 0.5}});
    more[i] += (&(double[]){1, -1, 2}[0])[i % 3] + (&(struct pair){i, {4, 8}}.second[1])[-1];
  }
  for (int i = 0; i < N; i++) {
    int a = i % 7, b = i % 5 > 2 ? i % 5 : 2, n = 0;
    for (int j = i; j > 0 && j != 3; j /= 2)
      n++;
    long v = i - 8;
    int k = v < 0 ? -1 : v == 0 ? 0 : v > 9 ? 3 : v == 2 || v == 3 || v == 5 || v == 7 ? 2 : 1;
    wrong += out[i] != (a > b ? a : b) + 100 * k;
    wrong += more[i] != (i & 8 ? 8 : 3) + n + 2 * i + 0.5 + (i % 3 == 2 ? 2 : 1 - i % 3 * 2) + 4;
  }
  int kept = 3;
#pragma omp target map(from : got) firstprivate(kept)
  {
    kept = 9;
    const int *first = (const int[]){4, 5, 6}, *second = 0;
    got[0] = sum(first, 3) + sum((int[4]){[1] = 7, [3] = 2}, 4);
    got[1] = once(0) ?: once(5);
    got[2] = once(6) ?: once(7);
    got[3] = calls;
    got[4] = *(second ?: first + 1);
    got[5] = ({ struct pair p = {3, {1, 2}}; p; }).first + (struct pair){8, {9, 10}}.first;
    got[6] = (&(union either){.f = 1.0f})->i == 0x3f800000;
    got[7] = *&(int){11} + (char[]){"ab"}[1];
    ({ got[8] = 3; });
    got[9] = 0;
    for (int i = 0; i < 3; i++) {
      int *at = &(int){i};
      *at += 1;
      got[9] += *at;
    }
    got[10] = ({ got[8] += 1; got[8]; }) + (({ ; }), 1);
    got[11] = (int)(struct pair){1, {2, 3}}.second[1];
    const int *last = &(const int[]){7, 8, 9}[2], *row = (int[2][2]){{1, 2}, {kept, 4}}[1];
    got[12] = last[-1] + *last;
    got[13] = row[0] * 10 + row[1];
  }
  const int want[14] = {24, 5, 6, 3, 5, 11, 1, 109, 4, 6, 5, 3, 17, 94};
  for (int i = 0; i < 14; i++)
    wrong += got[i] != want[i];
  wrong += kept != 3;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
