/* Addresses of the device, handed from one region to another: of variables, of arrays and their parts, and of what
 * pointers lead to. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6, M = 5 };

static int failures, aways;

static void expect(int condition, const char *what) {
  if (!condition) printf("wrong: %s\n", what), failures++;
}

struct pair {
  int a, b[3];
};

/* Rows behind a parameter that is written as an array, or as a pointer to rows. */
static void rows(int m[][M], int (*r)[M], int *sum) {
#pragma omp target has_device_addr(m[0 : N]) map(tofrom : sum[0 : 1])
  for (int i = 0; i < N; i++) sum[0] += m[i][i % M]++;
#pragma omp target teams distribute parallel for has_device_addr(r[1 : 2][0 : M])
  for (int j = 0; j < M; j++) r[1][j] = r[2][j] * 2;
}

static void elements(double *p, const double *q, int n) {
#pragma omp target teams distribute parallel for has_device_addr(p[0 : n], q[0 : n])
  for (int i = 0; i < n; i++) p[i] += q[n - 1 - i];
#pragma omp target has_device_addr(p[n - 1])
  p[n - 1] = 100;
}

static void records(struct pair *s, int at) {
#pragma omp target has_device_addr(s[at : 1])
  s[at].b[1] = s[at].a + 7;
}

int main(void) {
  int m[N][M], sum = 0, x = 3, part[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  double p[N], *q = malloc(N * sizeof *q);
  struct pair s[3] = {{1, {2, 3, 4}}, {5, {6, 7, 8}}, {9, {10, 11, 12}}};
  for (int i = 0; i < N; i++) {
    p[i] = i, q[i] = 10 * i;
    for (int j = 0; j < M; j++) m[i][j] = 10 * i + j;
  }
#pragma omp target map(from : aways)
  aways = !omp_is_initial_device();
#pragma omp target data map(tofrom : m, x, part, s, p, q[0 : N])
  {
#pragma omp target data use_device_addr(m)
    rows(m, m, &sum);
#pragma omp target data use_device_addr(p, q[0 : N])
    elements(p, q, N);
#pragma omp target data use_device_addr(s)
    records(s, 2);
#pragma omp target data use_device_addr(x, part)
    {
#pragma omp target has_device_addr(x, part)
      x += part[7];
#pragma omp target has_device_addr(part[2 : 3])
      part[3] = -part[4];
// An array that is given as a pointer of the device is the same.
#pragma omp target is_device_ptr(part)
      part[5] = part[6] * 4;
#pragma acc parallel loop deviceptr(part)
      for (int i = 0; i < 2; i++) part[i] += 30;
    }
  }
  expect(aways, "it runs on a device");
  expect(sum == 0 + 11 + 22 + 33 + 44 + 50, "rows are read");
  expect(m[0][0] == 1 && m[5][0] == 51 && m[1][3] == 46 && m[1][2] == 46, "rows are written");
  expect(p[0] == 50 && p[4] == 14 && p[5] == 100, "elements behind pointers");
  expect(s[2].b[1] == 16 && s[1].b[1] == 7, "records behind pointers");
  expect(x == 10 && part[3] == -4, "variables and parts of arrays");
  expect(part[5] == 24 && part[0] == 30 && part[1] == 31, "arrays as pointers of the device");
  free(q);
  return failures != 0;
}
