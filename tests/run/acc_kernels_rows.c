// Loops after each other in one `kernels`: each finds what the one before it left, by whatever groups; sums, statements and
// loops without directives between them, data of the region that are on the device only, and data that were there before.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#define M 70

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static double matrix[N][M];

static void both_ways(int n, int m, const double *p, const double *r, double *q, double *s)
{
#pragma acc kernels copyin(matrix, p[0:m], r[0:n]) copyout(q[0:n], s[0:m])
  {
#pragma acc loop independent gang
    for (int i = 0; i < n; i++) {
      double dot = 0;
#pragma acc loop independent vector reduction(+: dot)
      for (int j = 0; j < m; j++)
        dot += matrix[i][j] * p[j];
      q[i] = dot;
    }
#pragma acc loop independent gang vector
    for (int j = 0; j < m; j++) {
      s[j] = 0;
      for (int i = 0; i < n; i++)
        s[j] += matrix[i][j] * r[i];
    }
  }
}

/* Each loop reads backwards what the one before it wrote. */
static long chain(int n, int *a, int *b, int *made)
{
  long sum = 0;
  int largest = -1, steps = 0;
#pragma acc data copy(a[0:n]) create(b[0:n])
  {
#pragma acc kernels copy(sum, largest, steps) copyin(n)
    {
#pragma acc loop independent
      for (int i = 0; i < n; i++)
        b[i] = a[n - 1 - i] + 1;
      if (acc_on_device(acc_device_not_host))
        steps = steps + 1;
#pragma acc loop independent
      for (int i = 0; i < n; i++)
        a[i] = b[n - 1 - i] * 2 + steps;
#pragma acc loop reduction(+: sum) reduction(max: largest)
      for (int i = 0; i < n; i++) {
        sum += a[n - 1 - i];
        if (a[i] > largest)
          largest = a[i];
      }
      if (sum > 0)
        steps++;
      for (int i = 1; i < n; i++)
        b[i] = a[i - 1] + largest;
      for (int i = 1; i < n; i++)
        a[i] = b[i];
    }
  }
  *made = steps;
  return sum * 10 + largest % 10;
}

/* Arrays that the region alone has, and no clause for scalars. */
static int scratch(int n, const int *a, int *b)
{
  int *t = malloc(sizeof *t * n), bad = 0;
  for (int i = 0; i < n; i++)
    t[i] = -7;
#pragma acc kernels copyin(a[0:n]) create(t[0:n]) copyout(b[0:n])
  {
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      t[i] = a[i] * 3;
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      b[i] = t[n - 1 - i] - t[(i * 7) % n];
  }
  for (int i = 0; i < n; i++)
    bad += b[i] != a[n - 1 - i] * 3 - a[(i * 7) % n] * 3;
  free(t);
  return bad;
}

int main(void)
{
  double p[M], *r = malloc(sizeof *r * N), *q = malloc(sizeof *q * N), s[M];
  for (int i = 0; i < N; i++) {
    r[i] = i % 5 - 2;
    for (int j = 0; j < M; j++)
      matrix[i][j] = (i * 3 + j * 5) % 11;
  }
  for (int j = 0; j < M; j++)
    p[j] = j % 7 - 3;
  both_ways(N, M, p, r, q, s);
  int bad = 0;
  for (int i = 0; i < N; i++) {
    double dot = 0;
    for (int j = 0; j < M; j++)
      dot += matrix[i][j] * p[j];
    bad += dot != q[i];
  }
  expect(bad == 0, "rows");
  bad = 0;
  for (int j = 0; j < M; j++) {
    double sum = 0;
    for (int i = 0; i < N; i++)
      sum += matrix[i][j] * r[i];
    bad += sum != s[j];
  }
  expect(bad == 0, "columns");

  int *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N), steps;
  for (int i = 0; i < N; i++)
    a[i] = i % 1000;
  const long found = chain(N, a, b, &steps);
  long sum = 0;
  int largest = -1;
  for (int i = 0; i < N; i++) {
    const int x = (i % 1000 + 1) * 2 + 1;
    sum += x;
    if (x > largest)
      largest = x;
  }
  expect(found == sum * 10 + largest % 10, "sums of a loop in the middle");
  expect(steps == 2, "statements between loops");
  bad = a[0] != 3;
  for (int i = 1; i < N; i++)
    bad += a[i] != ((i - 1) % 1000 + 1) * 2 + 1 + largest;
  expect(bad == 0, "loops after each other");
  expect(scratch(N, a, b) == 0, "data of the region alone");
  free(r), free(q), free(a), free(b);
  if (failures == 0)
    printf("ok\n");
  return failures;
}
