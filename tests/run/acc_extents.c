// What a construct touches behind pointers, found by the compiler: several loops whose ends are known only when the
// program runs, some of which do not run at all.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 12, AROUND = 4 };

/* Memory before and after counts too: more than is touched must not be brought back. */
static double whole[2][AROUND + SIZE + AROUND], wanted[2][AROUND + SIZE + AROUND];

static void touch(int n, int m, int k, double *a, double *b)
{
  #pragma acc kernels
  {
    for (int i = 0; i < n; i++) a[i] += 1;
    for (int i = 0; i < m; i++) a[i] *= 2;
    for (int i = k; i < n; i++) b[i] += 3;
    for (int i = k; i < m; i++) b[i] *= 5;
  }
}

static void touch_serially(int n, int m, int k, double *a, double *b)
{
  for (int i = 0; i < n; i++) a[i] += 1;
  for (int i = 0; i < m; i++) a[i] *= 2;
  for (int i = k; i < n; i++) b[i] += 3;
  for (int i = k; i < m; i++) b[i] *= 5;
}

static int wrong(int n, int m, int k)
{
  for (int i = 0; i < AROUND + SIZE + AROUND; i++) {
    whole[0][i] = wanted[0][i] = i;
    whole[1][i] = wanted[1][i] = -i;
  }
  touch(n, m, k, whole[0] + AROUND, whole[1] + AROUND);
  touch_serially(n, m, k, wanted[0] + AROUND, wanted[1] + AROUND);
  if (!memcmp(whole, wanted, sizeof whole)) return 0;
  printf("wrong: n %d, m %d, k %d\n", n, m, k);
  return 1;
}

int main(void)
{
  int failures = 0, there = 0;
  #pragma acc serial copyout(there)
  there = acc_on_device(acc_device_not_host);
  if (!there) {
    printf("wrong: not on a device\n");
    failures++;
  }
  for (int n = -2; n <= SIZE; n += 2)
    for (int m = -1; m <= SIZE; m += 3)
      for (int k = -3; k <= SIZE; k += 5) failures += wrong(n, m, k);
  return failures != 0;
}
