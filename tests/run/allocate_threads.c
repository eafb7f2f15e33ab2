// Copies that teams and threads have for themselves are aligned as `allocate` asks, on the device and on the host.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#define IS_ALIGNED(p, to) ((uintptr_t)(p) % (to) == 0)

int main(void) {
  int wrong = 0, bad = 1, threads = 0;
  char list[9] = {1, 2, 3};
#pragma omp target teams num_teams(1) firstprivate(list) allocate(align(256) : list) map(from : bad)
  {
    bad = !IS_ALIGNED(list, 256) || list[1] != 2;
    list[1] = 0;
  }
  wrong += bad;
  bad = 0;
#pragma omp target map(tofrom : bad)
#pragma omp parallel num_threads(2) private(list) allocate(align(256) : list) reduction(+ : bad)
  bad += !IS_ALIGNED(list, 256);
  wrong += bad;
  bad = 0;
#pragma omp parallel num_threads(2) firstprivate(list) allocate(allocator(omp_default_mem_alloc), align(512) : list) reduction(+ : bad, threads)
  {
    bad += !IS_ALIGNED(list, 512) || list[2] != 3;
    list[2] = 0;
    threads++;
  }
  wrong += bad || list[1] != 2 || list[2] != 3 || threads != 2;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
