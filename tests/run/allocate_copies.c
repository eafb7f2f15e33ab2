// Copies that a region has for itself are aligned as `allocate` asks: arrays, records, scalars and arrays of computed length.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#define IS_ALIGNED(p, to) ((uintptr_t)(p) % (to) == 0)

int main(void) {
  int wrong = 0, bad = 1, n = 5, one = 4;
  char list[9] = {1, 2, 3};
  struct pair { int first, second[2]; } pair = {5, {6, 7}};
  double many[n];
  for (int i = 0; i < n; i++)
    many[i] = i;
#pragma omp target private(list) allocate(allocator(omp_default_mem_alloc), align(512) : list) map(from : bad) uses_allocators(omp_default_mem_alloc)
  {
    list[0] = 7;
    bad = !IS_ALIGNED(list, 512) || list[0] != 7;
  }
  wrong += bad;
#pragma omp target firstprivate(list, pair, one) allocate(align(512) : list, pair, one) map(from : bad)
  {
    bad = !IS_ALIGNED(list, 512) || !IS_ALIGNED(&pair, 512) || !IS_ALIGNED(&one, 512);
    bad += list[2] != 3 || pair.second[1] != 7 || one != 4;
    list[2] = 0, pair.second[1] = 0, one = 0;
  }
  wrong += bad;
#pragma omp target firstprivate(many) allocate(align(1024) : many) map(from : bad)
  {
    bad = !IS_ALIGNED(many, 1024) || many[4] != 4;
    many[4] = 0;
  }
  wrong += bad;
  // What copies became is lost.
  wrong += list[2] != 3 || pair.second[1] != 7 || one != 4 || many[4] != 4;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
