// Copies by the C library between all memories: overlapping, of odd lengths, small and large.
#include <ferry_cluster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100003, SOME = 20000 };

#pragma omp begin declare target
static unsigned char own[3000];
#pragma omp end declare target

static unsigned long checksum(const unsigned char *a, int n) {
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + a[i];
  return sum;
}

static void large(unsigned char *a, unsigned char *b) {
#pragma omp target map(tofrom: a[0:MANY], b[0:MANY])
  {
    memcpy(b, a, MANY - 3);
    memmove(a + 5, a, 50000);
    memmove(a + 20000, a + 15000, 50000);
    memmove(a + 50001, a + 50010, 40000);
    memset(a + 3, 0x5a, 33333);
    unsigned char *near = ferry_l1_malloc(40000);
    memcpy(near, b + 1, 40000);
    memmove(near + 3, near, 39000);
    memset(near + 100, 9, 20001);
    memcpy(b + 50001, near, 40000);
    ferry_l1_free(near);
  }
}

static void small(unsigned char *a, unsigned char *b) {
#pragma omp target map(tofrom: a[0:SOME], b[0:SOME])
  {
    unsigned char *near = ferry_l1_malloc(3000);
    memset(near, 0, 3000);
    for (int n = 0; n < 600; n = n * 3 / 2 + 1) {
      memcpy(own + n % 7, a + 3 * n, n);
      memmove(b + n, b + n / 2, 3 * n);
      memmove(a + 5, a + n, 2 * n + 100);
      memmove(a + 300, a + 300 - n % 90, n + 200);
      memcpy(near + n % 5, own, 2 * n);
      memset(near + n, n, n + 3);
      memset(own + n / 3, -n, n * 2);
      memset(b + 10 * n, n, 3 * n);
      memcpy(b + 12000 + n, near, 2000);
      memcpy(a + 9000 + n, own, 2500);
    }
    ferry_l1_free(near);
  }
}

int main(void) {
  unsigned char *a = malloc(MANY), *b = malloc(MANY);
  for (int i = 0; i < MANY; i++) a[i] = i * 7 + (i >> 8), b[i] = 1;
  large(a, b);
  printf("%lu %lu\n", checksum(a, MANY), checksum(b, MANY));
  small(a, b);
  printf("%lu %lu\n", checksum(a, MANY), checksum(b, MANY));
  return 0;
}
