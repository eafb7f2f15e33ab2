/* Routines of OpenMP that concern devices, for programs that `ferry translate` has turned into OpenACC.
 *
 * Nothing here needs Ferry: each routine is said in OpenACC, and the header may be copied beside the
 * program. Devices are counted as OpenMP counts them: from 0, and the host is the number behind the
 * last. What concerns threads of the host comes from <omp.h> where a compiler has it; elsewhere there
 * is one thread. */
#ifndef FERRY_OMP_IN_ACC_H
#define FERRY_OMP_IN_ACC_H

#ifdef __GNUC__
#define FERRY_OMP_LOCAL static inline __attribute__((unused))
#else
#define FERRY_OMP_LOCAL static inline
#endif

#if defined(_OPENMP) && !defined(_OPENACC)
/* The program has come back to OpenMP, which has the routines. */
#include <omp.h>

#ifndef FERRY_OMP_CHOOSES
#define FERRY_OMP_CHOOSES
FERRY_OMP_LOCAL int ferry_omp_choose_device(int number) {
  int before = omp_get_default_device();
  if (number == -1) number = omp_get_initial_device();
  if (number != before) omp_set_default_device(number);
  return before;
}
FERRY_OMP_LOCAL void ferry_omp_return_to_device(int before) {
  if (before != omp_get_default_device()) omp_set_default_device(before);
}
#endif
#else

#include <openacc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(_OPENMP)
#define FERRY_OMP_THREADS 1
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER) && defined(__has_include)
/* Both standards have one library there. */
#if __has_include(<omp.h>)
#define FERRY_OMP_THREADS 1
#endif
#endif

#ifdef FERRY_OMP_THREADS
#include <omp.h>
#else
#include <time.h>
FERRY_OMP_LOCAL int omp_get_thread_num(void) { return 0; }
FERRY_OMP_LOCAL int omp_get_num_threads(void) { return 1; }
FERRY_OMP_LOCAL int omp_get_max_threads(void) { return 1; }
FERRY_OMP_LOCAL int omp_get_num_procs(void) { return 1; }
FERRY_OMP_LOCAL int omp_in_parallel(void) { return 0; }
FERRY_OMP_LOCAL int omp_get_level(void) { return 0; }
FERRY_OMP_LOCAL int omp_get_team_num(void) { return 0; }
FERRY_OMP_LOCAL int omp_get_num_teams(void) { return 1; }
FERRY_OMP_LOCAL void omp_set_num_threads(int count) { (void)count; }
FERRY_OMP_LOCAL double omp_get_wtick(void) { return 1.0 / CLOCKS_PER_SEC; }
FERRY_OMP_LOCAL double omp_get_wtime(void) {
#ifdef CLOCK_MONOTONIC
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
#else
  return (double)clock() / CLOCKS_PER_SEC;
#endif
}
#endif

/* ---- devices */

FERRY_OMP_LOCAL int ferry_omp_get_num_devices(void) {
  return acc_get_num_devices(acc_device_not_host);
}
FERRY_OMP_LOCAL int ferry_omp_get_initial_device(void) { return ferry_omp_get_num_devices(); }
FERRY_OMP_LOCAL int ferry_omp_is_host(int number) {
  return number == -1 || number >= ferry_omp_get_num_devices();
}
FERRY_OMP_LOCAL int ferry_omp_get_default_device(void) {
  acc_device_t type = acc_get_device_type();
  if (type == acc_device_host || type == acc_device_none) return ferry_omp_get_initial_device();
  return acc_get_device_num(type);
}
FERRY_OMP_LOCAL void ferry_omp_set_default_device(int number) {
  if (ferry_omp_is_host(number))
    acc_set_device_num(0, acc_device_host);
  else
    acc_set_device_num(number, acc_device_not_host);
}
FERRY_OMP_LOCAL int ferry_omp_get_device_num(void) { return ferry_omp_get_initial_device(); }
#pragma acc routine seq
static inline int ferry_omp_is_initial_device(void) { return acc_on_device(acc_device_host); }

/* For a directive that names its device. */
#define FERRY_OMP_CHOOSES
FERRY_OMP_LOCAL int ferry_omp_choose_device(int number) {
  int before = ferry_omp_get_default_device();
  if (number != before) ferry_omp_set_default_device(number);
  return before;
}
FERRY_OMP_LOCAL void ferry_omp_return_to_device(int before) {
  if (before != ferry_omp_get_default_device()) ferry_omp_set_default_device(before);
}

/* ---- memory */

/* For programs that come back to OpenACC: new storage is filled with zeros. */
#ifndef FERRY_ACC_ZEROS
#define FERRY_ACC_ZEROS
FERRY_OMP_LOCAL void *ferry_acc_create_zero(void *host, size_t bytes) {
  char *data = (char *)host;
  int is_new = !acc_is_present(host, bytes);
  void *device = acc_create(host, bytes);
  if (is_new) {
#pragma acc parallel loop present(data[0 : bytes])
    for (size_t at = 0; at < bytes; ++at) data[at] = 0;
  }
  return device;
}
#endif

FERRY_OMP_LOCAL void *ferry_omp_target_alloc(size_t bytes, int number) {
  int before = ferry_omp_choose_device(number);
  void *memory = acc_malloc(bytes);
  ferry_omp_return_to_device(before);
  return memory;
}
FERRY_OMP_LOCAL void ferry_omp_target_free(void *memory, int number) {
  int before = ferry_omp_choose_device(number);
  if (memory) acc_free(memory);
  ferry_omp_return_to_device(before);
}
FERRY_OMP_LOCAL int ferry_omp_target_is_present(const void *host, int number) {
  int before, is_there;
  if (ferry_omp_is_host(number)) return 1;
  before = ferry_omp_choose_device(number);
  is_there = host != NULL && acc_is_present((void *)host, 1);
  ferry_omp_return_to_device(before);
  return is_there;
}
FERRY_OMP_LOCAL void *ferry_omp_get_mapped_ptr(const void *host, int number) {
  int before;
  void *device;
  if (ferry_omp_is_host(number)) return (void *)host;
  before = ferry_omp_choose_device(number);
  device = host != NULL && acc_is_present((void *)host, 1) ? acc_deviceptr((void *)host) : NULL;
  ferry_omp_return_to_device(before);
  return device;
}
FERRY_OMP_LOCAL int ferry_omp_target_associate_ptr(const void *host, const void *device, size_t bytes,
                                                   size_t offset, int number) {
  int before;
  if (ferry_omp_is_host(number)) return host == (const char *)device + offset ? 0 : 1;
  before = ferry_omp_choose_device(number);
  acc_map_data((void *)host, (char *)device + offset, bytes);
  ferry_omp_return_to_device(before);
  return 0;
}
FERRY_OMP_LOCAL int ferry_omp_target_disassociate_ptr(const void *host, int number) {
  int before;
  if (ferry_omp_is_host(number)) return 0;
  before = ferry_omp_choose_device(number);
  acc_unmap_data((void *)host);
  ferry_omp_return_to_device(before);
  return 0;
}
FERRY_OMP_LOCAL int ferry_omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset,
                                            size_t from_offset, int to_number, int from_number) {
  char *target = (char *)to + to_offset;
  char *origin = (char *)from + from_offset;
  int to_host = ferry_omp_is_host(to_number), from_host = ferry_omp_is_host(from_number);
  int before;
  if (bytes == 0) return 0;
  if (to_host && from_host) {
    memmove(target, origin, bytes);
    return 0;
  }
  before = ferry_omp_choose_device(to_host ? from_number : to_number);
  if (from_host)
    acc_memcpy_to_device(target, origin, bytes);
  else if (to_host)
    acc_memcpy_from_device(target, origin, bytes);
  else {
    /* Not every OpenACC runtime copies between devices. */
    void *between = malloc(bytes);
    if (between == NULL) {
      ferry_omp_return_to_device(before);
      return 1;
    }
    ferry_omp_choose_device(from_number);
    acc_memcpy_from_device(between, origin, bytes);
    ferry_omp_choose_device(to_number);
    acc_memcpy_to_device(target, between, bytes);
    free(between);
  }
  ferry_omp_return_to_device(before);
  return 0;
}
FERRY_OMP_LOCAL int ferry_omp_target_memcpy_rect(void *to, const void *from, size_t element, int dims,
                                                 const size_t *volume, const size_t *to_offsets,
                                                 const size_t *from_offsets, const size_t *to_dims,
                                                 const size_t *from_dims, int to_number,
                                                 int from_number) {
  size_t to_size = element, from_size = element, at;
  int dim, failed = 0;
  if (to == NULL && from == NULL) return 0x7fffffff;
  if (dims < 1) return 1;
  for (dim = 1; dim < dims; dim++) {
    to_size *= to_dims[dim];
    from_size *= from_dims[dim];
  }
  if (dims == 1)
    return ferry_omp_target_memcpy(to, from, element * volume[0], element * to_offsets[0],
                                   element * from_offsets[0], to_number, from_number);
  for (at = 0; at < volume[0] && !failed; at++)
    failed = ferry_omp_target_memcpy_rect((char *)to + (to_offsets[0] + at) * to_size,
                                          (const char *)from + (from_offsets[0] + at) * from_size,
                                          element, dims - 1, volume + 1, to_offsets + 1,
                                          from_offsets + 1, to_dims + 1, from_dims + 1, to_number,
                                          from_number);
  return failed;
}

#define omp_get_num_devices ferry_omp_get_num_devices
#define omp_get_initial_device ferry_omp_get_initial_device
#define omp_get_default_device ferry_omp_get_default_device
#define omp_set_default_device ferry_omp_set_default_device
#define omp_get_device_num ferry_omp_get_device_num
#define omp_is_initial_device ferry_omp_is_initial_device
#define omp_target_alloc ferry_omp_target_alloc
#define omp_target_free ferry_omp_target_free
#define omp_target_is_present ferry_omp_target_is_present
#define omp_target_memcpy ferry_omp_target_memcpy
#define omp_target_memcpy_rect ferry_omp_target_memcpy_rect
#define omp_target_associate_ptr ferry_omp_target_associate_ptr
#define omp_target_disassociate_ptr ferry_omp_target_disassociate_ptr
#define omp_get_mapped_ptr ferry_omp_get_mapped_ptr

#endif

#endif
