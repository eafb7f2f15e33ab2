// Wrong use of memory from allocators: `memory_wrong CASE`.
#include "../../../../include/ferry/omp.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 100}, {omp_atk_fallback, omp_atv_abort_fb}};
  omp_allocator_handle_t small = omp_init_allocator(omp_low_lat_mem_space, 2, traits);
  char *p = omp_alloc(50, omp_high_bw_mem_alloc);
  if (!strcmp(what, "allocator"))
    omp_free(p, small);
  if (!strcmp(what, "none"))
    omp_free(&traits, omp_null_allocator);
  if (!strcmp(what, "memory"))
    omp_alloc(101, small);
  if (!strcmp(what, "handle"))
    omp_alloc(1, (omp_allocator_handle_t)77);
  if (!strcmp(what, "default"))
    omp_set_default_allocator((omp_allocator_handle_t)0x12345678);
  if (!strcmp(what, "alignment"))
    omp_aligned_alloc(48, 480, omp_default_mem_alloc);
  if (!strcmp(what, "destroyed")) {
    omp_destroy_allocator(small);
    omp_destroy_allocator(small);
  }
  if (!strcmp(what, "overrun"))
    p[50] = 1;
  omp_free(p, omp_high_bw_mem_alloc);
  if (!strcmp(what, "twice"))
    omp_free(p, omp_high_bw_mem_alloc);
  if (!strcmp(what, "late"))
    p[7] = 1;
  traits[0].value = 0;
  if (!strcmp(what, "trait") && omp_init_allocator(omp_default_mem_space, 1, traits) == omp_null_allocator)
    return 1;
  puts("passed");
  return 0;
}
