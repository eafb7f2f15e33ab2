// Variables live in memory of the allocator that is named, with the alignment that is asked for.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

static int fixed;
#pragma omp allocate(fixed) allocator(omp_default_mem_alloc) align(256)

static int is_aligned(const void *p, uintptr_t to) { return (uintptr_t)p % to == 0; }

static int sum_of(const int *list, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += list[i];
  return sum;
}

int main(void) {
  int wrong = 0;
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 1024}};
  omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
  for (int round = 0; round < 3; round++) {
    int n = 10 + round, start = 3;
    double pair[2] = {1.5, 2.5};
    int list[n];
#pragma omp allocate(start, list) allocator(mine)
#pragma omp allocate(pair) align(512)
    wrong += !is_aligned(&start, 1024) || !is_aligned(list, 1024) || !is_aligned(pair, 512);
    wrong += start != 3 || pair[0] + pair[1] != 4.0 || sizeof(list) != n * sizeof(int);
#pragma omp parallel for shared(list, start)
    for (int i = 0; i < n; i++)
      list[i] = i + start;
    wrong += sum_of(list, n) != n * (n - 1) / 2 + 3 * n;
#pragma omp target map(tofrom : list, start)
    {
      int inner = 0;
#pragma omp allocate(inner) allocator(omp_default_mem_alloc) align(128)
      for (int i = 0; i < n; i++)
        inner += list[i];
      start = inner + !is_aligned(&inner, 128);
    }
    wrong += start != sum_of(list, n);
  }
  wrong += !is_aligned(&fixed, 256);
  int lent = 4, total = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp scope firstprivate(lent) allocate(allocator(mine) : lent)
    {
      lent += omp_get_thread_num() + 1000 * !is_aligned(&lent, 1024);
#pragma omp atomic
      total += lent;
    }
  }
  wrong += total != 12 + 3 || lent != 4;
  omp_destroy_allocator(mine);
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
