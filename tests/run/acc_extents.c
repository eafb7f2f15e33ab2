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

/* Types that C compares as unsigned numbers, and sums that do not fit an int. */
static int mixed(unsigned n, int m, size_t z)
{
  int a[24], b[24], wanted[2][24], is_wrong = 0, *p = a + 8, *q = b + 8;
  for (int i = 0; i < 24; i++) a[i] = b[i] = wanted[0][i] = wanted[1][i] = i;
  #pragma acc kernels
  {
    for (unsigned i = 0; i < n; i++) p[i] += 1;
    for (int i = 0; i < m; i++) p[i] += 2;
    for (int i = 0; i < 4; i++) q[m + i] += 3;
    for (int i = 0; i < 4; i++) q[z + i] += 4;
  }
  for (unsigned i = 0; i < n; i++) wanted[0][8 + i] += 1;
  for (int i = 0; i < m; i++) wanted[0][8 + i] += 2;
  for (int i = 0; i < 4; i++) wanted[1][8 + m + i] += 3;
  for (int i = 0; i < 4; i++) wanted[1][8 + z + i] += 4;
  is_wrong |= memcmp(a, wanted[0], sizeof a) || memcmp(b, wanted[1], sizeof b);
  if (is_wrong) printf("wrong: %u, %d, %zu\n", n, m, z);
  return is_wrong;
}

/* Rows from the last to the first, and beside other rows. */
static int downwards(int n, int m, int ld)
{
  int a[64], b[64], is_wrong = 0;
  int *p = a, *q = b;
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  #pragma acc kernels
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) p[i * ld + j] += i + j + 1;
  #pragma acc kernels
  {
    for (int i = n - 1; i >= 0; i--)
      for (int j = 0; j < m; j++) q[i * ld + j] += i + j + 1;
    for (int i = 0; i < n; i++) q[i] += 5;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      a[i * ld + j] -= i + j + 1;
      b[i * ld + j] -= i + j + 1;
    }
    b[i] -= 5;
  }
  for (int i = 0; i < 64; i++) is_wrong |= a[i] || b[i];
  if (is_wrong) printf("wrong: rows from the last, %d, %d, %d\n", n, m, ld);
  return is_wrong;
}

/* Parts that are on the device already and begin before their pointer. */
static int before(int lo, int n)
{
  int a[64], is_wrong = 0, *p = a + 40;
  for (int i = 0; i < 64; i++) a[i] = i;
  #pragma acc data copy(p[lo:n])
  {
    #pragma acc parallel loop
    for (int i = lo; i < lo + n; i++) p[i] += 1;
    #pragma acc kernels
    {
      for (int i = lo; i < lo + n; i++) p[i] *= 2;
      for (int i = lo; i < lo + n; i++) p[i] += 3;
    }
    #pragma acc kernels present(p[lo:n])
    {
      for (int i = lo; i < lo + n; i++) p[i] *= 2;
      for (int i = lo; i < lo + n; i++) p[i] -= 1;
    }
  }
  for (int i = 0; i < 64; i++) {
    int is_inside = i >= 40 + lo && i < 40 + lo + n;
    is_wrong |= a[i] != (is_inside ? ((i + 1) * 2 + 3) * 2 - 1 : i);
  }
  if (is_wrong) printf("wrong: a part from %d\n", lo);
  return is_wrong;
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
  failures += mixed(3, -5, 2) + mixed(0, 4, 0) + mixed(5, 7, 9) + mixed(6, -8, 0);
  failures += downwards(5, 4, 7) + downwards(1, 3, 3) + downwards(0, 4, 7);
  failures += before(-30, 10) + before(-5, 20) + before(3, 9);
  return failures != 0;
}
