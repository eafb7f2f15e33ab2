// run: check
// Elements that their arrays do not have, and lengths below zero, in lists of both standards.
struct s { int n, m[2][3]; };
#pragma omp declare mapper(struct s v) map(v.n, v.m[2][0])

int g[4], t[4][8];

void f(struct s *p, int *q)
{
#pragma omp target map(to: g[4])
  g[0] = 1;
#pragma omp target map(to: g[3], p->m[1][2], q[-1])
  g[0] = 1;
#pragma omp target enter data map(to: t[4][8])
#pragma omp target update to(t[3][8:1], p->m[0][3])
#pragma omp target exit data map(from: t[-1][0:8])
#pragma acc parallel copyin(t[4][8])
  g[0] = t[0][0];
#pragma acc update self(g[2:-1])
#pragma acc enter data create(p->m[2])
#pragma acc parallel loop firstprivate(g[4])
  for (int i = 0; i < 4; i++)
    q[i] = g[i];
}
