// Data clauses of OpenACC on regions: what is copied, made, asked for, and in which form it is named.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 40, M = 6 };

static int there(void *at) { return acc_is_present(at, 1) != 0; }

static double filed[N];
static double *grown;

static void motions(void)
{
  int a[N], b[N], c[N], d[N], shared;
  for (int i = 0; i < N; i++) a[i] = b[i] = c[i] = d[i] = i;
#pragma acc serial copy(a) copyin(readonly : b) copyout(c) create(d)
  for (int i = 0; i < N; i++) {
    d[i] = b[i] + 1;
    a[i] += d[i];
    c[i] = d[i] * 2;
  }
  expect(a[5] == 11 && c[5] == 12, "both ways, in, out, neither");
#pragma acc serial pcopy(a) present_or_copyin(b) pcopyout(c) pcreate(d)
  for (int i = 0; i < N; i++) c[i] = a[i] + b[i];
  expect(c[5] == 16, "old names");
  // The same variable in two clauses asks for both.
  int x = 1;
#pragma acc data copyin(x) copyout(x)
  {
#pragma acc serial
    x += 1;
  }
#pragma acc serial copyin(x) copyout(x)
  x += 1;
  expect(x == 3, "in and out");
  // What a condition leaves out is not there for regions inside.
  int both = 3, list[N];
  for (int i = 0; i < N; i++) list[i] = i;
#pragma acc data copyout(list) copyin(both) if (N == 0)
  {
#pragma acc serial
    for (int i = 0; i < N; i++) list[i] = list[i] + both;
#pragma acc serial copy(both)
    both += list[1];
  }
  expect(list[5] == 8 && both == 7, "data under a condition that is false");
  // Zeros do not come from the host, and do not go there before the end.
  for (int i = 0; i < N; i++) d[i] = 7, filed[i] = 7;
  int sum = 0;
#pragma acc data create(zero : d, filed) copyout(zero : c)
  {
    shared = d[3];
#pragma acc serial copy(sum) present(d, filed, c)
    for (int i = 0; i < N; i++) {
      sum += d[i] + (int)filed[i];
      if (i % 2) c[i] = i;
    }
  }
  expect(sum == 0 && shared == 7 && d[3] == 7 && filed[3] == 7, "zeros on the device alone");
  expect(c[3] == 3 && c[4] == 0, "zeros come back");
}

static void presence(void)
{
  int a[N], b[N], *p = malloc(sizeof a);
  for (int i = 0; i < N; i++) a[i] = b[i] = p[i] = i;
  // Not made if absent.
#pragma acc data no_create(a) no_create(p[0 : N])
  expect(!there(a) && !there(p), "not made");
#pragma acc enter data copyin(a)
#pragma acc data no_create(a)
  {
#pragma acc exit data delete(a)
    expect(there(a), "used if there");
#pragma acc serial no_create(a)
    a[1] = 10;
#pragma acc update self(a[1 : 1])
  }
  expect(!there(a) && a[1] == 10, "held meanwhile");
#pragma acc data copy(a, b) copy(p[0 : N])
  {
#pragma acc serial default(present)
    for (int i = 0; i < N; i++) a[i] += b[i], p[i] = a[i];
    // What a region around names is not a copy here.
    int once = 5;
#pragma acc data copy(once)
    {
#pragma acc serial
      once = 6;
    }
    expect(once == 6, "a scalar of a region around");
  }
  expect(a[2] == 4 && p[2] == 4, "default(present)");
#pragma acc enter data copyin(p[0 : N])
  int *q = acc_deviceptr(p);
#pragma acc serial deviceptr(q)
  q[3] = 77;
#pragma acc data deviceptr(q)
  {
#pragma acc serial
    q[4] = 78;
  }
#pragma acc exit data copyout(p[0 : N])
  expect(p[3] == 77 && p[4] == 78, "device pointers");
  free(p);
}

struct inner {
  double *v;
  int n;
};
struct outer {
  struct inner in[2];
  float w[N];
  struct inner *far;
};

static void members(void)
{
  struct outer s, *h = malloc(sizeof *h);
  double x[N], y[N], z[N];
  for (int i = 0; i < N; i++) x[i] = y[i] = z[i] = s.w[i] = h->w[i] = i;
  struct inner far = { z, N };
  s.in[0] = (struct inner){ x, N };
  s.in[1] = (struct inner){ y, N };
  s.far = &far;
  *h = s;
#pragma acc serial copy(s.w)
  s.w[1] = 9;
  expect(s.w[1] == 9, "a member that is an array");
#pragma acc data copyin(s) copy(s.in[0].v[0 : N], s.in[1].v[0 : N])
  {
#pragma acc serial present(s)
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < s.in[k].n; i++) s.in[k].v[i] += k + 1;
  }
  expect(x[4] == 5 && y[4] == 6 && s.in[0].v == x, "members of members");
#pragma acc enter data copyin(h[0 : 1])
#pragma acc enter data copyin(h->in[0].v[0 : N]) copyin(h->far[0 : 1])
#pragma acc enter data copyin(h->far->v[0 : N])
#pragma acc serial present(h[0 : 1])
  for (int i = 0; i < h->in[0].n; i++) h->far->v[i] += h->in[0].v[i];
#pragma acc exit data copyout(h->far->v[0 : N])
#pragma acc exit data delete(h->in[0].v[0 : N], h->far[0 : 1])
#pragma acc exit data delete(h[0 : 1])
  expect(z[4] == 9 && h->far == &far && far.v == z, "three levels");
  free(h);
}

static void rows(void)
{
  double **a = malloc(M * sizeof *a), *b[M];
  for (int i = 0; i < M; i++) {
    a[i] = malloc(N * sizeof *a[i]);
    b[i] = malloc(N * sizeof *b[i]);
    for (int j = 0; j < N; j++) a[i][j] = i * N + j, b[i][j] = j;
  }
#pragma acc serial copy(a[0 : M][0 : N]) copyin(b[0 : M][0 : N])
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) a[i][j] += b[i][j];
  expect(a[2][3] == 2 * N + 6, "rows of their own");
#pragma acc data copyin(a[1 : 3][0 : N]) create(b[0 : M][0 : N])
  {
#pragma acc serial present(a[1 : 3][0 : N], b[0 : M][0 : N])
    for (int j = 0; j < N; j++) a[2][j] = 1, b[5][j] = a[3][j];
#pragma acc update self(a[2 : 1][0 : N], b[5 : 1][0 : N])
  }
  expect(a[2][7] == 1 && b[5][7] == 3 * N + 14 && a[2] != b[5], "some of the rows");
#pragma acc enter data copyin(a[0 : M])
  for (int i = 0; i < M; i++) {
#pragma acc enter data copyin(a[i][0 : N])
  }
#pragma acc serial present(a[0 : M])
  a[0][0] = a[M - 1][N - 1];
  for (int i = 0; i < M; i++) {
#pragma acc exit data copyout(a[i][0 : N])
  }
#pragma acc exit data delete(a[0 : M])
  expect(a[0][0] == M * N - 1 + N - 1, "row by row");
  for (int i = 0; i < M; i++) {
    free(a[i]);
    free(b[i]);
  }
  free(a);
}

static void updates(void)
{
  int a[N], m[M][N], *p = malloc(sizeof a);
  for (int i = 0; i < N; i++) a[i] = p[i] = i;
  for (int i = 0; i < M * N; i++) m[i / N][i % N] = i;
#pragma acc data copyin(a, m) copyin(p[0 : N])
  {
#pragma acc serial
    {
      for (int i = 0; i < N; i++) a[i] = p[i] = 100 + i;
      for (int i = 0; i < M * N; i++) m[i / N][i % N] = 1000 + i;
    }
#pragma acc update self(a[2 : 3]) host(p[0 : 4 : 2])
    expect(a[2] == 102 && a[4] == 104 && p[0] == 100 && p[6] == 106, "what is named");
    for (int i = 0; i < N; i++) a[i] = 7;
#pragma acc update device(a) if (a[0] == 8)
#pragma acc serial
    p[1] = a[5];
#pragma acc update self(p[1 : 1], m[1 : 2][3 : 2])
    expect(m[1][3] == 1000 + N + 3 && m[2][4] == 1000 + 2 * N + 4, "rows of a section");
#pragma acc update device(a) if_present
#pragma acc serial
    p[2] = a[5];
#pragma acc update self(p[2 : 1])
    expect(p[2] == 7, "to the device");
  }
  int absent[N];
#pragma acc update self(absent) if_present
#pragma acc update device(a[0 : N], absent[1 : 2]) if_present
  free(p);
}

static void addresses(void)
{
  int a[N], *p = malloc(sizeof a), *null = 0;
  for (int i = 0; i < N; i++) a[i] = p[i] = i;
  int *of_a, *of_p;
#pragma acc data copy(a) copy(p[0 : N])
  {
#pragma acc host_data use_device(a, p)
    {
      of_a = a;
      of_p = p;
    }
    expect(of_a == acc_deviceptr(a) && of_p == acc_deviceptr(p), "of the device");
#pragma acc host_data use_device(p) if (N == 0)
    of_p = p;
    expect(of_p == p, "the host's, under this condition");
#pragma acc host_data use_device(p, null) if_present
    {
      int *inside = p;
      expect(null == 0, "null is null");
#pragma acc serial deviceptr(inside)
      inside[7] = 70;
    }
  }
#pragma acc host_data use_device(p) if_present
  of_p = p;
  expect(of_p == p && p[7] == 70, "the host's, if absent");
  free(p);
}

static void global_pointer(void)
{
  grown = malloc(N * sizeof *grown);
  for (int i = 0; i < N; i++) grown[i] = i;
#pragma acc enter data copyin(grown[0 : N])
#pragma acc serial
  for (int i = 0; i < N; i++) grown[i] *= 2;
#pragma acc exit data copyout(grown[0 : N])
  expect(grown[9] == 18, "what a global pointer points to");
  free(grown);
}

int main(void)
{
  motions();
  presence();
  members();
  rows();
  updates();
  addresses();
  global_pointer();
  int seen = 0;
#pragma acc data create(seen)
  seen = there(&seen);
  expect(seen, "directives are heard");
  printf("%d failures\n", failures);
  return failures != 0;
}
