// Loops after each other in one `parallel`: each finds what the one before it left, by whatever gangs; with queues, copies that
// one of them has, values that all of them begin with, and loops that share a gang's vectors.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#define M 90

static int failures;
static double matrix[N][M];

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Each loop reads backwards what the one before it wrote; what lies between them is on the device alone. */
static int chain(int n, int *a, int *b, int queue)
{
  int bad = 0, last = -1;
  int *t = malloc(sizeof *t * n);
#pragma acc data copy(a[0:n], b[0:n]) create(t[0:n])
  {
#pragma acc parallel present(a[0:n], b[0:n], t[0:n]) private(last) async(queue) wait
    {
#pragma acc loop gang vector
      for (int i = 0; i < n; i++)
        t[i] = a[n - 1 - i] + 1;
#pragma acc loop gang vector private(last)
      for (int i = 0; i < n; i++) {
        last = t[n - 1 - i] * 2;
        b[i] = last + t[(i * 7) % n];
      }
#pragma acc loop gang
      for (int k = 0; k < 10; k++)
#pragma acc loop vector
        for (int i = k * (n / 10); i < (k + 1) * (n / 10); i++)
          a[i] = b[n - 1 - i];
    }
#pragma acc wait(queue)
  }
  for (int i = 0; i < n; i++)
    bad += b[i] != (i + 1) * 2 + (n - (i * 7) % n);
  for (int i = 0; i < n; i++)
    bad += a[i] != b[n - 1 - i];
  free(t);
  return bad;
}

/* What gangs compute for themselves before they share a loop. */
static int rows(int n, int m, const double *p, double *q, int *where)
{
  int bad = 0;
#pragma acc parallel copyin(matrix, p[0:m]) copyout(q[0:n]) copy(where[0:1])
  {
    double scale = 2;
    const int half = m / 2;
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
      double dot = 0;
#pragma acc loop vector reduction(+: dot)
      for (int j = 0; j < m; j++)
        dot += matrix[i][j] * p[j];
      q[i] = dot * scale + half;
      if (i == n - 1)
        where[0] = acc_on_device(acc_device_not_host) != 0;
    }
  }
  for (int i = 0; i < n; i++) {
    double dot = 0;
    for (int j = 0; j < m; j++)
      dot += matrix[i][j] * p[j];
    bad += q[i] != dot * 2 + m / 2;
  }
  return bad;
}

/* A value that goes from one loop to the next, statements of one gang, and so many gangs as are asked for. */
static int carried(int n, int *a, int *b)
{
  int bad = 0, total[2] = {0, 0};
#pragma acc parallel copy(a[0:n], total)
  {
    total[0] = total[0] + 3;
#pragma acc loop
    for (int i = 0; i < n; i++)
      a[i] = i + total[0];
    total[1] = a[n - 1] + a[0];
  }
  bad += total[0] != 3 || total[1] != n + 5;
  for (int i = 0; i < n; i++)
    b[i] = i;
#pragma acc parallel copy(a[0:n], b[0:n]) num_gangs(7)
  {
    int shift = 5;
#pragma acc loop gang vector
    for (int i = 0; i < n; i++)
      a[i] += shift;
    shift = shift + 1;
#pragma acc loop gang vector
    for (int i = 0; i < n; i++)
      b[i] += shift;
  }
#pragma acc parallel copy(a[0:n]) num_gangs(11) vector_length(32)
  {
#pragma acc loop gang vector
    for (int i = 0; i < n; i++)
      a[i] *= 2;
#pragma acc loop gang vector
    for (int i = 0; i < n / 2; i++) {
      const int kept = a[i];
      a[i] = a[n - 1 - i];
      a[n - 1 - i] = kept;
    }
  }
  for (int i = 0; i < n; i++)
    bad += a[i] != 2 * (n - 1 - i + 3 + 5) || b[i] != i + 6;
  return bad;
}

int main(void)
{
  double p[M], *q = malloc(sizeof *q * N);
  int *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N), where[1] = {-1};
  for (int i = 0; i < N; i++) {
    a[i] = i;
    for (int j = 0; j < M; j++)
      matrix[i][j] = (i * 3 + j * 5) % 11;
  }
  for (int j = 0; j < M; j++)
    p[j] = j % 7 - 3;
  expect(chain(N, a, b, 3) == 0, "loops after each other in a queue");
  expect(rows(N, M, p, q, where) == 0, "rows of gangs");
  expect(where[0] == 1, "where it ran");
  expect(carried(N, a, b) == 0, "values that go on");
  free(q), free(a), free(b);
  if (failures == 0)
    printf("ok\n");
  return failures;
}
