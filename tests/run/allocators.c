// Memory of allocators: limits, fall-backs, alignment, the default of threads, pinned memory, and clauses that name them.
#include <ferry_memory.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int is_zero(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i])
      return 0;
  return 1;
}

static int limited(void) {
  int wrong = 0;
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_high_bw_mem_space, 2, traits);
  char *a = omp_alloc(600, pool), *b = omp_alloc(401, pool), *c = omp_aligned_alloc(512, 400, pool);
  wrong += !a || b || !c || (uintptr_t)c % 512 != 0;
  memset(a, 1, 600);
  a = omp_realloc(a, 300, pool, pool);
  wrong += a != 0;
  omp_free(c, pool);
  omp_alloctrait_t chain[] = {{omp_atk_pool_size, 1},
                              {omp_atk_fallback, omp_atv_allocator_fb},
                              {omp_atk_fb_data, (omp_uintptr_t)pool}};
  omp_allocator_handle_t next = omp_init_allocator(omp_default_mem_space, 3, chain);
  char *d = omp_calloc(40, 10, next);
  wrong += !d || !is_zero(d, 400) || omp_alloc(1000, next) != 0;
  omp_free(d, next);
  omp_destroy_allocator(next);
  omp_destroy_allocator(pool);
  return wrong;
}

static int moved(void) {
  int wrong = 0;
  char *a = omp_alloc(100, omp_large_cap_mem_alloc);
  for (int i = 0; i < 100; i++)
    a[i] = i;
  a = omp_realloc(a, 5000, omp_low_lat_mem_alloc, omp_large_cap_mem_alloc);
  for (int i = 0; i < 100; i++)
    wrong += a[i] != i;
  a = omp_realloc(a, 10, omp_null_allocator, omp_null_allocator);
  wrong += a[9] != 9;
  wrong += omp_realloc(a, 0, omp_null_allocator, omp_low_lat_mem_alloc) != 0;
  wrong += omp_alloc(0, omp_default_mem_alloc) != 0 || omp_calloc(SIZE_MAX, 2, omp_default_mem_alloc) != 0;
  return wrong;
}

static int pinned(void) {
  omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_partition, omp_atv_interleaved}};
  omp_allocator_handle_t locked = omp_init_allocator(omp_default_mem_space, 2, traits);
  char *p = omp_alloc(9000, locked);
  ferry_where lies;
  int wrong = !p || ferry_memkind_where(p, 9000, &lies) != 0 || lies.present != lies.pages;
  omp_free(p, locked);
  omp_destroy_allocator(locked);
  return wrong;
}

int main(void) {
  int wrong = limited() + moved() + pinned(), seen = 0;
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 2048}};
  omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
  omp_set_default_allocator(mine);
  int x = 5;
#pragma omp parallel num_threads(3) firstprivate(x) allocate(mine : x) reduction(+ : wrong, seen)
  {
    char *p = omp_alloc(3, omp_null_allocator);
    wrong += (uintptr_t)&x % 2048 != 0 || x != 5 || omp_get_default_allocator() != mine;
    wrong += (uintptr_t)p % 2048 != 0;
    omp_free(p, mine);
    seen++;
  }
  omp_set_default_allocator(omp_default_mem_alloc);
  omp_destroy_allocator(mine);
  char *lists[64];
  long total = 0;
#pragma omp parallel num_threads(4) reduction(+ : total)
  {
#pragma omp for
    for (int i = 0; i < 64; i++) {
      lists[i] = omp_alloc(1 + i * 37, omp_high_bw_mem_alloc);
      memset(lists[i], i, 1 + i * 37);
    }
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 64; i++) {
      total += lists[i][i * 37];
      omp_free(lists[i], omp_high_bw_mem_alloc);
    }
  }
  wrong += total != 63 * 64 / 2;
  int sum = 0;
#pragma omp target map(tofrom : sum)
  {
    int *on = omp_alloc(10 * sizeof(int), omp_default_mem_alloc);
    for (int i = 0; i < 10; i++)
      on[i] = i;
    for (int i = 0; i < 10; i++)
      sum += on[i];
    omp_free(on, omp_default_mem_alloc);
  }
  wrong += sum != 45;
  if (wrong || seen != 3) {
    printf("%d differences, %d threads\n", wrong, seen);
    return 1;
  }
  return 0;
}
