/* `loop` constructs inside of each other, in nests and around sums, beside `simd` and `loop seq` in iterations, and elements that inner
   loops add to. */
#include <omp.h>
#include <stdio.h>

enum { N = 37, M = 29 };
static long a[N][M], b[M][N], c[N][N], d[N][N], row[N], low[N], sum[N];

static int check(const char *what, int right)
{
  if (!right)
    printf("%s is wrong\n", what);
  return right;
}

int main(void)
{
  int right = 1, on_host = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++)
      a[i][k] = i * 7 % 5 - k, b[k][i] = k * 3 % 11 - i;
#pragma omp target map(from: on_host)
  on_host = omp_is_initial_device();

#pragma omp target teams loop collapse(2) map(to: a, b) map(from: c)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      long s = 0;
#pragma omp loop reduction(+: s)
      for (int k = 0; k < M; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
#pragma acc parallel loop gang copyin(a, b) copyout(d)
  for (int i = 0; i < N; i++)
#pragma acc loop vector
    for (int j = 0; j < N; j++) {
      d[i][j] = 0;
#pragma acc loop seq
      for (int k = 0; k < M; k++) {
        if (a[i][k] == 0)
          continue;
        d[i][j] += a[i][k] * b[k][j];
      }
    }
  int good = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      long s = 0;
      for (int k = 0; k < M; k++)
        s += a[i][k] * b[k][j];
      good &= c[i][j] == s && d[i][j] == s;
    }
  right &= check("a product", good && !on_host);

#pragma omp target teams loop map(to: a) map(from: row, low) map(tofrom: d)
  for (int i = 0; i < N; i++) {
    long s = i;
#pragma omp loop reduction(+: s)
    for (int k = 0; k < M; k++)
      s += a[i][k];
    row[i] = s;
#pragma omp loop
    for (int j = 0; j < N; j++)
      d[i][j] -= s;
    low[i] = d[i][N - 1];
  }
#pragma omp target teams distribute parallel for map(to: a) map(from: sum)
  for (int i = 0; i < N; i++) {
    long s = i;
#pragma omp simd reduction(+: s)
    for (int k = 0; k < M; k++)
      s += a[i][k];
    sum[i] = s;
  }
  good = 1;
  for (int i = 0; i < N; i++) {
    long s = i;
    for (int k = 0; k < M; k++)
      s += a[i][k];
    good &= row[i] == s && sum[i] == s && low[i] == c[i][N - 1] - s;
    for (int j = 0; j < N; j++)
      good &= d[i][j] == c[i][j] - s;
  }
  right &= check("sums of rows", good);

#pragma omp target teams loop map(to: a) map(tofrom: b)
  for (int i = 0; i < N; i++)
#pragma omp loop
    for (int k = 0; k < M; k++) {
      long s = b[k][i];
#pragma omp loop bind(thread) reduction(+: s)
      for (int t = 0; t < 3; t++)
        s += a[i][k] * t;
      b[k][i] = s;
    }
  good = 1;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++)
      good &= b[k][i] == k * 3 % 11 - i + 3 * a[i][k];
  right &= check("a nest", good);
  puts(right ? "right" : "wrong");
  return !right;
}
