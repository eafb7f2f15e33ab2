// Integers of 128 bits in regions: products, quotients, shifts, and such values that are mapped.
#include <omp.h>
#include <stdio.h>

enum { N = 40 };
typedef unsigned __int128 wide;

static wide mixed(int i, __int128 offset)
{
  wide product = (wide)(0x9e3779b97f4a7c15ull * (i + 1)) * (0xc2b2ae3d27d4eb4full + i) + offset;
  return (product / (i + 3) ^ product << 7) % 0xffffffffffffffc5ull + (product >> (64 + i % 30));
}
#pragma omp declare target to(mixed)

int main(void)
{
  wide made[N];
  __int128 offset = -((__int128)7 << 100), least = offset;
  int right = 1, away = 0;
#pragma omp target teams distribute parallel for map(from : made) map(tofrom : away, least)
  for (int i = 0; i < N; i++) {
    made[i] = mixed(i, offset);
    if (i == 0) away = !omp_is_initial_device();
    if (i == N - 1) least -= i;
  }
  for (int i = 0; i < N; i++) right &= made[i] == mixed(i, offset);
  right &= least == offset - (N - 1);
  if (!right || !away) printf("wrong: wide integers\n");
  return !(right && away);
}
