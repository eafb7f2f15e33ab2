// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// flags: -fopenmp
/* Routines that came with version 6.0: numbers for the host, spaces that devices share, parts of memory. */
#include <stdio.h>

#include "../../../../include/ferry/omp.h"

static void compute(omp_memspace_handle_t space, size_t bytes, omp_alloctrait_val_t argument,
                    omp_mempartition_t *partition) {
  (void)space, (void)bytes, (void)argument, (void)partition;
}

static void release(omp_mempartition_t *partition) { omp_destroy_mempartition(partition); }

int main(void) {
  int wrong = 0, host = omp_get_initial_device(), data = 0;
  omp_set_device_num_teams(5, host);
  wrong += omp_get_device_num_teams(host) != 5 || omp_get_max_teams() != 5;
  wrong += omp_get_device_num_teams(omp_initial_device) != 5 || omp_get_device_num_teams(0) != 0;
  omp_set_device_teams_thread_limit(3, omp_initial_device);
  wrong += omp_get_device_teams_thread_limit(host) != 3 || omp_get_teams_thread_limit() != 3;

  size_t page = omp_get_memspace_pagesize(omp_default_mem_space);
  wrong += page == 0 || (page & (page - 1)) != 0 || omp_get_memspace_pagesize(omp_null_mem_space) != 0;
  wrong += omp_get_device_and_host_memspace(host, omp_high_bw_mem_space) != omp_high_bw_mem_space;
  wrong += omp_get_devices_and_host_memspace(1, &host, omp_const_mem_space) != omp_const_mem_space;
  wrong += omp_get_devices_and_host_memspace(0, &host, omp_const_mem_space) != omp_null_mem_space;
  wrong += omp_get_device_and_host_allocator(host, omp_default_mem_space) != omp_default_mem_alloc;
  int device = 0;
  int shares = omp_get_device_memspace(device, omp_default_mem_space) != omp_null_mem_space;
  wrong += shares != (omp_get_devices_all_memspace(omp_default_mem_space) != omp_null_mem_space);
  wrong += shares != (omp_get_devices_all_allocator(omp_default_mem_space) != omp_null_allocator);
  wrong += shares != (omp_get_devices_and_host_allocator(1, &device, omp_default_mem_space) != omp_null_allocator);

  omp_mempartitioner_t partitioner;
  omp_init_mempartitioner(&partitioner, omp_dynamic_mempartition, compute, release);
  omp_mempartition_t parts;
  omp_init_mempartition(&parts, 3, &data);
  wrong += omp_mempartition_set_part(&parts, 0, 0, 2 * page) != 0;
  wrong += omp_mempartition_set_part(&parts, 1, 0, page + 1) != -1;
  wrong += omp_mempartition_set_part(&parts, 2, 0, 5) != 0;
  wrong += omp_mempartition_set_part(&parts, 3, 0, page) != -1;
  wrong += omp_mempartition_set_part(&parts, 0, 1, page) != -1;
  wrong += omp_mempartition_get_user_data(&parts) != &data;
  release(&parts);
  omp_alloctrait_t traits[] = {{omp_atk_partitioner, (omp_uintptr_t)&partitioner}};
  wrong += omp_init_allocator(omp_default_mem_space, 1, traits) != omp_null_allocator;
  omp_destroy_mempartitioner(&partitioner);
  if (wrong == 0) puts("passed");
  return wrong != 0;
}
