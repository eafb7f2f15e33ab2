// Arrays whose length is computed, declared by kernels and functions and copied for regions; released however their block ends.
#include <stdio.h>
#include <stdlib.h>

#define N 40

#pragma omp declare target
static int calls;
static int more(int n) { return calls++, n + 1; }

// Left from within loops, and with a value of the array.
static int largest(int n, const int *from) {
  int best = 0;
  for (int round = 0; round < 3; round++) {
    int list[n + round], last = -1;
    for (int i = 0; i < n + round; i++)
      list[i] = from[i % n] + round;
    if (round == 1)
      continue;
    if (sizeof list != sizeof(int) * (unsigned long)(n + round))
      return -1;
    for (int i = 0; i < n + round; i++)
      last = list[i] > last ? list[i] : last;
    best = last > best ? last : best;
    if (best > 1000)
      return list[0];
  }
  return best;
}

// Rows of computed length: of a parameter, of an array, of what is pointed to.
static double trace(int n, int m, double table[n][m]) {
  double own[m][n], sum = 0;
  m = m > n ? n : m;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      own[j][i] = table[i][j];
  double (*row)[n] = own;
  int old = n;
  n = 0;
  for (int j = 0; j < m; j++, row++)
    sum += (*row)[j];
  return sizeof *row == sizeof(double) * (unsigned long)old ? sum : -1;
}
#pragma omp end declare target

struct item { char tag; double value; };

// Pointers to rows whose length is computed, which passes may give other names.
static int through_rows(int n, int m) {
  int (*from)[m] = malloc(sizeof(int[n][m])), (*to)[m] = malloc(sizeof(int[n][m])), wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      from[i][j] = i * 10 + j;
#pragma omp target teams distribute parallel for map(to : from[0 : n]) map(from : to[0 : n])
  for (int i = 0; i < n; i++) {
    int(*row)[m] = &to[i];
    for (int j = 0; j < m; j++)
      (*row)[m - 1 - j] = from[i][j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      wrong += to[i][j] != i * 10 + m - 1 - j;
  double sums[n][m], weights[m];
  for (int j = 0; j < m; j++)
    weights[j] = j * 0.5;
#pragma omp target map(from : sums) map(to : weights)
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sums[i][j] = weights[j] + i;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      wrong += sums[i][j] != weights[j] + i;
  free(from), free(to);
  return wrong;
}

int main(void) {
  int wrong = 0, out[N], values[5] = {3, 9, 4, 1, 5}, n = 4, got[6];
  double sums[N];

#pragma omp target teams distribute parallel for map(from : out, sums) map(to : values) firstprivate(n)
  for (int i = 0; i < N; i++) {
    int m = i % n + 1;
    struct item items[m];
    for (int k = 0; k < m; k++)
      items[k] = (struct item){'a', k * 0.5};
    double sum = 0;
    for (struct item *at = items; at < items + m; at++)
      sum += at->value + (at->tag == 'a');
    double table[m][m + 1];
    for (int k = 0; k < m * (m + 1); k++)
      table[k / (m + 1)][k % (m + 1)] = k;
    sums[i] = sum + trace(m, m + 1, table);
    out[i] = largest(5, values) + m;
  }
  for (int i = 0; i < N; i++) {
    int m = i % n + 1;
    double sum = m;
    for (int k = 0; k < m; k++)
      sum += k * 0.5 + k * (m + 1) + k;
    wrong += out[i] != 11 + m || sums[i] != sum;
  }

  // Lengths are computed once, where the variable is declared.
  for (int i = 0; i < 5; i++)
    values[i] *= 1000;
#pragma omp target map(from : got) map(to : values)
  {
    int length = 3;
    long list[more(length)];
    length = 100;
    got[0] = (int)(sizeof list / sizeof *list) + 10 * calls;
    int total = 0;
    for (int i = 1; i < 30; i++) {
      char text[i * 7];
      text[0] = text[i * 7 - 1] = (char)i;
      if (i % 5 == 0)
        continue;
      total += text[0] + text[i * 7 - 1];
      if (i == 27)
        break;
    }
    got[1] = total;
    got[2] = largest(5, values);
    int (*rows)[length / 50] = (int (*)[2])values;
    length = 0;
    got[3] = rows[1][1];
    __typeof__(list) other;
    other[3] = 5;
    got[4] = (int)(sizeof other / sizeof *other) + (int)other[3];
  }
  wrong += got[0] != 14 || got[1] != 2 * (27 * 14 - 75) || got[2] != 3000 || got[3] != 1000 || got[4] != 9;

  // Copies.
  float own[n];
  for (int i = 0; i < n; i++)
    own[i] = (float)i;
#pragma omp target teams distribute parallel for map(from : out) firstprivate(own)
  for (int i = 0; i < N; i++) {
    own[i % n] = (float)(10 + i);
    out[i] = (int)own[i % n] + (int)(sizeof own / sizeof *own);
  }
  for (int i = 0; i < N; i++)
    wrong += out[i] != 14 + i;
#pragma omp target private(own) map(from : got)
  {
    for (int i = 0; i < n; i++)
      own[i] = 7;
    got[5] = 0;
#pragma omp parallel for firstprivate(own) num_threads(2) reduction(+ : got[5 : 1])
    for (int i = 0; i < 4; i++) {
      own[i] += 1;
      got[5] += (int)own[i];
    }
  }
  wrong += got[5] != 32;
  for (int i = 0; i < n; i++)
    wrong += own[i] != (float)i;

#pragma acc parallel loop copyout(out) private(own)
  for (int i = 0; i < N; i++) {
    own[0] = (float)i;
    int twice[i + 1];
    twice[i] = 2 * i;
    out[i] = twice[i] + (int)own[0];
  }
  for (int i = 0; i < N; i++)
    wrong += out[i] != 3 * i;
  wrong += own[0] != 0;
  wrong += through_rows(7, 5);
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
