/* Allocators that a region makes for itself, with traits of the host's. */
#include <omp.h>
#include <stdio.h>
#include <stdint.h>
int main(void){ int bad = 1; omp_allocator_handle_t al = omp_null_allocator; (void)al;
 const omp_alloctrait_t tr[] = {{omp_atk_alignment, 256}};
#pragma omp target uses_allocators(al(tr)) map(from: bad)
 { int *p = omp_alloc(40*sizeof(int), al); bad = p == 0 || ((uintptr_t)p & 255) != 0; if (p) { p[3] = 4; omp_free(p, al);} if (omp_is_initial_device()) bad |= 2; }
 return bad; }
