// Statements of `kernels` and of `parallel` share lines with each other and with braces, as macros write them.
#include <openacc.h>
#include <stdio.h>

enum { N = 300 };

#define FILL(a, n, v) { for (int i = 0; i < n; i++) a[i] = v + i; for (int i = 0; i < n; i++) a[i] += 5; }

int main(void)
{
  int k = 0, g[N], h[N], p[N], bad = 0, here = 0, host = 1;
  for (int i = 0; i < N; i++) p[i] = i;
#pragma acc serial copyin(here)
  here = 1;
#pragma acc serial copyout(host)
  host = acc_on_device(acc_device_host);
#pragma acc data create(g)
  {
#pragma acc kernels copy(k, g)
    { for (int i = 0; i < N; i++) g[i] = 5 + i; k = 2; for (int i = 0; i < N; i++) g[i] += k; }
    k += here ? 0 : 10;
#pragma acc kernels copyout(h) copyin(k)
    FILL(h, N, 7 + k - (here ? 0 : 10))
#pragma acc kernels copy(k, g)
    { if (k > 1) { g[0] = 1;
      g[1] = 2; } for (int i = 2; i < N; i++) { g[i]++;
      g[i] *= 2; } k = g[1] + 1; }
#pragma acc parallel copy(p) num_gangs(4)
    { _Pragma("acc loop gang") for (int i = 0; i < N; i++) p[i] += 3; _Pragma("acc loop gang") for (int i = 0; i < N; i++) p[i] *= 2; }
#pragma acc update self(g)
  }
  for (int i = 0; i < N; i++)
    bad += g[i] != (i < 2 ? i + 1 : (5 + i + 2 + 1) * 2) || h[i] != i + 14 || p[i] != (i + 3) * 2;
  printf("%d wrong, k %d, on the host %d\n", bad, k, host);
  return bad || k != 3 || host;
}
