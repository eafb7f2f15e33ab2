/* Packed bit-fields lie across words, and begin anywhere in a byte. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) row {
  unsigned a : 3;
  unsigned long b : 63;
  int c : 30;
  long long d : 64;
  _Bool e : 1;
  char f;
  unsigned g : 19;
};

#pragma omp begin declare target
static long work(struct row *it, long n)
{
  it->a += 6;
  it->b = 0x7123456789abcdef + (unsigned long)n;
  it->c = (int)(n * -1000003);
  it->d ^= n << 40 | 5;
  it->e = n;
  it->f++;
  it->g -= 1;
  struct row other = { .b = it->b, .c = it->c, .d = n - 1, .e = 1 }, same = other;
  same.a = 5;
  return (long)same.b + same.c + same.d + same.e + same.a;
}
#pragma omp end declare target

int main(void)
{
  struct row here[20], there[20];
  long sums[20], own[20];
  int on_device = 0, wrong = 0;
  memset(here, 0x5a, sizeof here);
  memcpy(there, here, sizeof here);
  for (int i = 0; i < 20; i++)
    own[i] = work(&here[i], i);
#pragma omp target map(tofrom: there) map(from: sums, on_device)
  {
    on_device = !omp_is_initial_device();
    for (int i = 0; i < 20; i++)
      sums[i] = work(&there[i], i);
  }
  for (int i = 0; i < 20; i++)
    wrong += memcmp(&here[i], &there[i], sizeof here[i]) != 0 || sums[i] != own[i];
  printf("%d wrong\n", wrong);
  return wrong || !on_device;
}
