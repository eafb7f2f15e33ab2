/* Routines, types and queues of OpenACC for programs that `ferry translate` has turned into OpenMP.
 *
 * Nothing here needs Ferry: each routine is said in OpenMP, and the header may be copied beside the
 * program. A queue is an object that tasks depend on; work of a queue that a routine does itself is done
 * at once, after what the queue holds. Two devices of one program share their queues. */
#ifndef FERRY_ACC_H
#define FERRY_ACC_H

#if defined(_OPENACC) && !defined(_OPENMP)
/* A compiler of OpenACC alone has the routines. */
#include <openacc.h>
#include <stddef.h>

#ifndef FERRY_ACC_ZEROS
#define FERRY_ACC_ZEROS
static inline void *ferry_acc_create_zero(void *host, size_t bytes) {
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
#else

#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#ifdef __GNUC__
#define FERRY_ACC_SHARED __attribute__((weak, unused))
#define FERRY_ACC_LOCAL static inline __attribute__((unused))
#else
#define FERRY_ACC_SHARED static
#define FERRY_ACC_LOCAL static inline
#endif

typedef enum acc_device_t {
  acc_device_none = 0,
  acc_device_default = 1,
  acc_device_host = 2,
  acc_device_not_host = 4,
  acc_device_nvidia = 5,
  acc_device_current = -1,
  acc_device_opencl = 6,
  acc_device_radeon = 8,
  acc_device_riscv = 9
} acc_device_t;

typedef enum acc_device_property_t {
  acc_property_memory = 1,
  acc_property_free_memory = 2,
  acc_property_shared_memory_support = 3,
  acc_property_name = 0x10001,
  acc_property_vendor = 0x10002,
  acc_property_driver = 0x10003
} acc_device_property_t;

enum { acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3 };

/* One object for each of 64 queues, the same in all files of a program. */
FERRY_ACC_SHARED char ferry_acc_queues[64];
FERRY_ACC_SHARED int ferry_acc_default_queue = 63;

FERRY_ACC_LOCAL char *ferry_acc_queue(int queue) {
  if (queue == acc_async_noval || queue == acc_async_default) queue = ferry_acc_default_queue;
  return &ferry_acc_queues[(unsigned)queue % 64];
}

FERRY_ACC_LOCAL void acc_wait(int queue) {
#pragma omp taskwait depend(inout : *ferry_acc_queue(queue))
}
FERRY_ACC_LOCAL void acc_wait_all(void) {
#pragma omp taskwait
}
FERRY_ACC_LOCAL void acc_wait_async(int from, int queue) {
#pragma omp task depend(in : *ferry_acc_queue(from)) depend(inout : *ferry_acc_queue(queue))
  ;
}
FERRY_ACC_LOCAL void acc_wait_all_async(int queue) {
  (void)queue;
#pragma omp taskwait
}
FERRY_ACC_LOCAL void acc_wait_device(int queue, int device) { (void)device; acc_wait(queue); }
FERRY_ACC_LOCAL void acc_wait_all_device(int device) { (void)device; acc_wait_all(); }
FERRY_ACC_LOCAL void acc_wait_device_async(int from, int queue, int device) {
  (void)device;
  acc_wait_async(from, queue);
}
FERRY_ACC_LOCAL void acc_wait_all_device_async(int queue, int device) {
  (void)device;
  acc_wait_all_async(queue);
}
FERRY_ACC_LOCAL void acc_async_wait(int queue) { acc_wait(queue); }
FERRY_ACC_LOCAL void acc_async_wait_all(void) { acc_wait_all(); }
/* OpenMP has no question for this: who asks waits, and then it is so. */
FERRY_ACC_LOCAL int acc_async_test(int queue) { acc_wait(queue); return 1; }
FERRY_ACC_LOCAL int acc_async_test_all(void) { acc_wait_all(); return 1; }
FERRY_ACC_LOCAL int acc_async_test_device(int queue, int device) {
  (void)device;
  return acc_async_test(queue);
}
FERRY_ACC_LOCAL int acc_async_test_all_device(int device) { (void)device; return acc_async_test_all(); }
/* Nor for this: the first queue of the list is waited for, and then it is the one that is done. */
FERRY_ACC_LOCAL int acc_wait_any(int count, int queues[]) {
  for (int at = 0; at < count; ++at) {
    if (queues[at] < 0 && queues[at] != acc_async_noval && queues[at] != acc_async_default) continue;
    acc_wait(queues[at]);
    return at;
  }
  return -1;
}
FERRY_ACC_LOCAL int acc_wait_any_device(int count, int queues[], int device) {
  (void)device;
  return acc_wait_any(count, queues);
}
FERRY_ACC_LOCAL int acc_get_default_async(void) { return ferry_acc_default_queue; }
FERRY_ACC_LOCAL void acc_set_default_async(int queue) {
  ferry_acc_default_queue = queue == acc_async_default ? 63 : queue;
}

/* ---- devices */

FERRY_ACC_LOCAL int acc_get_num_devices(acc_device_t type) {
  if (type == acc_device_none) return 0;
  return type == acc_device_host ? 1 : omp_get_num_devices();
}
FERRY_ACC_LOCAL acc_device_t acc_get_device_type(void) {
  return omp_get_default_device() < omp_get_num_devices() ? acc_device_not_host : acc_device_host;
}
FERRY_ACC_LOCAL void acc_set_device_type(acc_device_t type) {
  omp_set_default_device(type == acc_device_host ? omp_get_initial_device() : 0);
}
FERRY_ACC_LOCAL void acc_set_device_num(int number, acc_device_t type) {
  omp_set_default_device(type == acc_device_host ? omp_get_initial_device() : number);
}
FERRY_ACC_LOCAL int acc_get_device_num(acc_device_t type) {
  return type == acc_device_host ? 0 : omp_get_default_device();
}
FERRY_ACC_LOCAL void acc_init(acc_device_t type) { (void)type; }
FERRY_ACC_LOCAL void acc_init_device(int number, acc_device_t type) { (void)number; (void)type; }
FERRY_ACC_LOCAL void acc_shutdown(acc_device_t type) { (void)type; }
FERRY_ACC_LOCAL void acc_shutdown_device(int number, acc_device_t type) { (void)number; (void)type; }
#pragma omp declare target
FERRY_ACC_LOCAL int acc_on_device(acc_device_t type) {
  int is_host = omp_is_initial_device();
  if (type == acc_device_none) return 0;
  return type == acc_device_host ? is_host : !is_host;
}
#pragma omp end declare target

/* For programs that come back to OpenMP, where a directive has named its device. */
#ifndef FERRY_OMP_CHOOSES
#define FERRY_OMP_CHOOSES
FERRY_ACC_LOCAL int ferry_omp_choose_device(int number) {
  int before = omp_get_default_device();
  if (number == -1) number = omp_get_initial_device();
  if (number != before) omp_set_default_device(number);
  return before;
}
FERRY_ACC_LOCAL void ferry_omp_return_to_device(int before) {
  if (before != omp_get_default_device()) omp_set_default_device(before);
}
#endif

/* ---- memory */

/* Blocks of `acc_malloc`: what they hold is not free. */
struct ferry_acc_block {
  struct ferry_acc_block *next;
  void *device;
  size_t bytes;
};
FERRY_ACC_SHARED struct ferry_acc_block *ferry_acc_blocks;

FERRY_ACC_LOCAL void *acc_malloc(size_t bytes) {
  void *device = omp_target_alloc(bytes, omp_get_default_device());
  struct ferry_acc_block *block = device ? (struct ferry_acc_block *)malloc(sizeof *block) : NULL;
  if (block == NULL) return device;
  block->device = device;
  block->bytes = bytes;
#pragma omp critical(ferry_acc)
  {
    block->next = ferry_acc_blocks;
    ferry_acc_blocks = block;
  }
  return device;
}
FERRY_ACC_LOCAL void acc_free(void *device) {
#pragma omp critical(ferry_acc)
  {
    struct ferry_acc_block **at = &ferry_acc_blocks, *block;
    while (*at != NULL && (*at)->device != device) at = &(*at)->next;
    block = *at;
    if (block != NULL) *at = block->next;
    free(block);
  }
  omp_target_free(device, omp_get_default_device());
}

/* OpenMP cannot ask a device for its memory. Say how many bytes yours has; the host's are told otherwise. */
#ifndef FERRY_ACC_MEMORY
#if defined(__unix__) || defined(__APPLE__)
#define FERRY_ACC_MEMORY ((size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE))
#else
#define FERRY_ACC_MEMORY ((size_t)0)
#endif
#endif
FERRY_ACC_LOCAL size_t acc_get_property(int number, acc_device_t type, acc_device_property_t property) {
  size_t held = 0, all = FERRY_ACC_MEMORY;
  int is_host = type == acc_device_host || omp_get_num_devices() == 0;
  (void)number;
#pragma omp critical(ferry_acc)
  for (struct ferry_acc_block *at = ferry_acc_blocks; at != NULL; at = at->next) held += at->bytes;
  switch (property) {
    case acc_property_memory: return all;
    case acc_property_free_memory: return held < all ? all - held : 0;
    case acc_property_shared_memory_support: return is_host;
    default: return 0;
  }
}
/* Names are not known, which a program must expect. */
FERRY_ACC_LOCAL const char *acc_get_property_string(int number, acc_device_t type,
                                                    acc_device_property_t property) {
  (void)number;
  (void)type;
  (void)property;
  return NULL;
}

FERRY_ACC_LOCAL int acc_is_present(void *host, size_t bytes) {
  int device = omp_get_default_device();
  if (host == NULL || !omp_target_is_present(host, device)) return host == NULL;
  return bytes == 0 || omp_target_is_present((char *)host + bytes - 1, device);
}
FERRY_ACC_LOCAL void ferry_acc_require(void *host, size_t bytes, const char *routine) {
  if (acc_is_present(host, bytes)) return;
  fprintf(stderr, "%s: %zu bytes at %p are not on the device\n", routine, bytes, host);
  exit(1);
}
/* Addresses of devices that were given away, each with that of the host: OpenMP has no way back. */
FERRY_ACC_SHARED void *ferry_acc_given[256][2];
FERRY_ACC_LOCAL void **ferry_acc_slot(void *device) { return ferry_acc_given[((size_t)device >> 4) % 256]; }

FERRY_ACC_LOCAL void *acc_deviceptr(void *host) {
  char *device = (char *)host;
  if (!omp_target_is_present(host, omp_get_default_device())) return NULL;
#pragma omp target data use_device_ptr(device)
  {
    ferry_acc_slot(device)[0] = device;
    ferry_acc_slot(device)[1] = host;
    host = device;
  }
  return host;
}
FERRY_ACC_LOCAL void *acc_hostptr(void *device) {
  void **slot = ferry_acc_slot(device);
  if (slot[0] == device && acc_deviceptr(slot[1]) == device) return slot[1];
  fprintf(stderr, "acc_hostptr: nothing is known of %p; ask with an address that a call has given\n", device);
  exit(1);
}
FERRY_ACC_LOCAL void *acc_copyin(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target enter data map(to : data[0 : bytes])
  return acc_deviceptr(host);
}
FERRY_ACC_LOCAL void *acc_create(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target enter data map(alloc : data[0 : bytes])
  return acc_deviceptr(host);
}
FERRY_ACC_LOCAL void *acc_present_or_copyin(void *host, size_t bytes) { return acc_copyin(host, bytes); }
FERRY_ACC_LOCAL void *acc_pcopyin(void *host, size_t bytes) { return acc_copyin(host, bytes); }
FERRY_ACC_LOCAL void *acc_present_or_create(void *host, size_t bytes) { return acc_create(host, bytes); }
FERRY_ACC_LOCAL void *acc_pcreate(void *host, size_t bytes) { return acc_create(host, bytes); }
/* New storage is filled with zeros; what is there already stays as it is. */
FERRY_ACC_LOCAL void *ferry_acc_create_zero(void *host, size_t bytes) {
  char *data = (char *)host;
  int is_new = !acc_is_present(host, bytes);
#pragma omp target enter data map(alloc : data[0 : bytes])
  if (is_new) {
#pragma omp target
    for (size_t at = 0; at < bytes; ++at) data[at] = 0;
  }
  return acc_deviceptr(host);
}
FERRY_ACC_LOCAL void acc_copyout(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target exit data map(from : data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_delete(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target exit data map(release : data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_delete_finalize(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target exit data map(delete : data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_copyout_finalize(void *host, size_t bytes) {
  char *data = (char *)host;
#pragma omp target update from(data[0 : bytes])
#pragma omp target exit data map(delete : data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_update_device(void *host, size_t bytes) {
  char *data = (char *)host;
  ferry_acc_require(host, bytes, "acc_update_device");
#pragma omp target update to(data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_update_self(void *host, size_t bytes) {
  char *data = (char *)host;
  ferry_acc_require(host, bytes, "acc_update_self");
#pragma omp target update from(data[0 : bytes])
}
FERRY_ACC_LOCAL void acc_update_host(void *host, size_t bytes) { acc_update_self(host, bytes); }

FERRY_ACC_LOCAL void acc_copyin_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_copyin(host, bytes);
}
FERRY_ACC_LOCAL void acc_create_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_create(host, bytes);
}
FERRY_ACC_LOCAL void acc_copyout_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_copyout(host, bytes);
}
FERRY_ACC_LOCAL void acc_copyout_finalize_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_copyout_finalize(host, bytes);
}
FERRY_ACC_LOCAL void acc_delete_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_delete(host, bytes);
}
FERRY_ACC_LOCAL void acc_delete_finalize_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_delete_finalize(host, bytes);
}
FERRY_ACC_LOCAL void acc_update_device_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_update_device(host, bytes);
}
FERRY_ACC_LOCAL void acc_update_self_async(void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_update_self(host, bytes);
}
FERRY_ACC_LOCAL void acc_update_host_async(void *host, size_t bytes, int queue) {
  acc_update_self_async(host, bytes, queue);
}

/* Pointers that `acc_attach` has changed on devices, and how often. */
struct ferry_acc_pointer {
  struct ferry_acc_pointer *next;
  void **host;
  int device, count;
};
FERRY_ACC_SHARED struct ferry_acc_pointer *ferry_acc_pointers;

FERRY_ACC_LOCAL struct ferry_acc_pointer **ferry_acc_attached(void **host, int device) {
  struct ferry_acc_pointer **at = &ferry_acc_pointers;
  while (*at != NULL && ((*at)->host != host || (*at)->device != device)) at = &(*at)->next;
  return at;
}
FERRY_ACC_LOCAL void acc_attach(void **host) {
  int device = omp_get_default_device(), here = omp_get_initial_device(), is_attached;
  void *there = host ? acc_deviceptr(host) : NULL;
  void *target = there && *host ? acc_deviceptr(*host) : NULL, *now = NULL;
  if (target == NULL || there == (void *)host) return;
  omp_target_memcpy(&now, there, sizeof now, 0, 0, here, device);
  is_attached = now == target;
#pragma omp critical(ferry_acc)
  {
    struct ferry_acc_pointer **at = ferry_acc_attached(host, device);
    if (*at == NULL) {
      *at = (struct ferry_acc_pointer *)malloc(sizeof **at);
      if (*at == NULL) {
        fprintf(stderr, "acc_attach: no memory\n");
        exit(1);
      }
      (*at)->next = NULL;
      (*at)->host = host;
      (*at)->device = device;
      /* A map may have attached it already. */
      (*at)->count = is_attached;
    } else if (!is_attached) {
      (*at)->count = 0;
    }
    ++(*at)->count;
  }
  if (!is_attached) omp_target_memcpy(there, &target, sizeof target, 0, 0, device, here);
}
FERRY_ACC_LOCAL void ferry_acc_detach(void **host, int is_final) {
  int device = omp_get_default_device(), is_held = 0;
  void *there = host ? acc_deviceptr(host) : NULL;
#pragma omp critical(ferry_acc)
  {
    struct ferry_acc_pointer **at = ferry_acc_attached(host, device), *entry = *at;
    is_held = entry != NULL && --entry->count > 0 && !is_final && there != NULL;
    if (entry != NULL && !is_held) {
      *at = entry->next;
      free(entry);
    }
  }
  if (is_held || there == NULL || there == (void *)host) return;
  omp_target_memcpy(there, host, sizeof *host, 0, 0, device, omp_get_initial_device());
}
FERRY_ACC_LOCAL void acc_detach(void **host) { ferry_acc_detach(host, 0); }
FERRY_ACC_LOCAL void acc_detach_finalize(void **host) { ferry_acc_detach(host, 1); }
FERRY_ACC_LOCAL void acc_attach_async(void **host, int queue) {
  acc_wait(queue);
  acc_attach(host);
}
FERRY_ACC_LOCAL void acc_detach_async(void **host, int queue) {
  acc_wait(queue);
  acc_detach(host);
}
FERRY_ACC_LOCAL void acc_detach_finalize_async(void **host, int queue) {
  acc_wait(queue);
  acc_detach_finalize(host);
}

FERRY_ACC_LOCAL void acc_map_data(void *host, void *device, size_t bytes) {
  if (omp_target_associate_ptr(host, device, bytes, 0, omp_get_default_device()) != 0) {
    fprintf(stderr, "acc_map_data: %zu bytes at %p cannot be mapped\n", bytes, host);
    exit(1);
  }
}
FERRY_ACC_LOCAL void acc_unmap_data(void *host) {
  omp_target_disassociate_ptr(host, omp_get_default_device());
}

FERRY_ACC_LOCAL void acc_memcpy_to_device(void *device, void *host, size_t bytes) {
  omp_target_memcpy(device, host, bytes, 0, 0, omp_get_default_device(), omp_get_initial_device());
}
FERRY_ACC_LOCAL void acc_memcpy_from_device(void *host, void *device, size_t bytes) {
  omp_target_memcpy(host, device, bytes, 0, 0, omp_get_initial_device(), omp_get_default_device());
}
FERRY_ACC_LOCAL void acc_memcpy_device(void *to, void *from, size_t bytes) {
  int device = omp_get_default_device();
  omp_target_memcpy(to, from, bytes, 0, 0, device, device);
}
/* What an address of the host is on one device; addresses of devices stay. */
FERRY_ACC_LOCAL void *ferry_acc_on(void *host, int device) {
  int before = omp_get_default_device();
  omp_set_default_device(device);
  void *found = acc_deviceptr(host);
  omp_set_default_device(before);
  return found ? found : host;
}
FERRY_ACC_LOCAL void acc_memcpy_d2d(void *to, void *from, size_t bytes, int to_device, int from_device) {
  omp_target_memcpy(ferry_acc_on(to, to_device), ferry_acc_on(from, from_device), bytes, 0, 0, to_device,
                    from_device);
}
FERRY_ACC_LOCAL void acc_memcpy_to_device_async(void *device, void *host, size_t bytes, int queue) {
  acc_wait(queue);
  acc_memcpy_to_device(device, host, bytes);
}
FERRY_ACC_LOCAL void acc_memcpy_from_device_async(void *host, void *device, size_t bytes, int queue) {
  acc_wait(queue);
  acc_memcpy_from_device(host, device, bytes);
}
FERRY_ACC_LOCAL void acc_memcpy_device_async(void *to, void *from, size_t bytes, int queue) {
  acc_wait(queue);
  acc_memcpy_device(to, from, bytes);
}
FERRY_ACC_LOCAL void acc_memcpy_d2d_async(void *to, void *from, size_t bytes, int to_device,
                                          int from_device, int queue) {
  acc_wait(queue);
  acc_memcpy_d2d(to, from, bytes, to_device, from_device);
}

#endif
#endif
