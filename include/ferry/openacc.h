/* The OpenACC 3.3 API for C. */
#ifndef FERRY_OPENACC_H
#define FERRY_OPENACC_H 1

/* Found by -I, before other compilers' headers of the same name; what is said of it is not for its users. */
#pragma GCC system_header

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

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

enum {
  acc_async_noval = -1,
  acc_async_sync = -2,
  acc_async_default = -3
};


/* ---- devices ---- */

extern int acc_get_num_devices(acc_device_t type);
extern void acc_set_device_type(acc_device_t type);
extern acc_device_t acc_get_device_type(void);
extern void acc_set_device_num(int number, acc_device_t type);
extern int acc_get_device_num(acc_device_t type);
extern size_t acc_get_property(int number, acc_device_t type, acc_device_property_t property);
extern const char *acc_get_property_string(int number, acc_device_t type,
                                           acc_device_property_t property);
extern void acc_init(acc_device_t type);
extern void acc_init_device(int number, acc_device_t type);
extern void acc_shutdown(acc_device_t type);
extern void acc_shutdown_device(int number, acc_device_t type);
extern int acc_on_device(acc_device_t type);

/* ---- queues ---- */

extern int acc_async_test(int queue);
extern int acc_async_test_device(int queue, int device);
extern int acc_async_test_all(void);
extern int acc_async_test_all_device(int device);
extern int acc_wait_any(int count, int queues[]);
extern int acc_wait_any_device(int count, int queues[], int device);
extern void acc_wait(int queue);
extern void acc_wait_device(int queue, int device);
extern void acc_wait_async(int from, int queue);
extern void acc_wait_device_async(int from, int queue, int device);
extern void acc_wait_all(void);
extern void acc_wait_all_device(int device);
extern void acc_wait_all_async(int queue);
extern void acc_wait_all_device_async(int queue, int device);
extern void acc_async_wait(int queue);
extern void acc_async_wait_all(void);
extern int acc_get_default_async(void);
extern void acc_set_default_async(int queue);

/* ---- data ---- */

extern void *acc_malloc(size_t bytes);
extern void acc_free(void *device);
extern void *acc_copyin(void *host, size_t bytes);
extern void acc_copyin_async(void *host, size_t bytes, int queue);
extern void *acc_create(void *host, size_t bytes);
extern void acc_create_async(void *host, size_t bytes, int queue);
extern void *acc_present_or_copyin(void *host, size_t bytes);
extern void *acc_pcopyin(void *host, size_t bytes);
extern void *acc_present_or_create(void *host, size_t bytes);
extern void *acc_pcreate(void *host, size_t bytes);
extern void acc_copyout(void *host, size_t bytes);
extern void acc_copyout_async(void *host, size_t bytes, int queue);
extern void acc_copyout_finalize(void *host, size_t bytes);
extern void acc_copyout_finalize_async(void *host, size_t bytes, int queue);
extern void acc_delete(void *host, size_t bytes);
extern void acc_delete_async(void *host, size_t bytes, int queue);
extern void acc_delete_finalize(void *host, size_t bytes);
extern void acc_delete_finalize_async(void *host, size_t bytes, int queue);
extern void acc_update_device(void *host, size_t bytes);
extern void acc_update_device_async(void *host, size_t bytes, int queue);
extern void acc_update_self(void *host, size_t bytes);
extern void acc_update_self_async(void *host, size_t bytes, int queue);
extern void acc_update_host(void *host, size_t bytes);
extern void acc_update_host_async(void *host, size_t bytes, int queue);
extern void acc_map_data(void *host, void *device, size_t bytes);
extern void acc_unmap_data(void *host);
extern void *acc_deviceptr(void *host);
extern void *acc_hostptr(void *device);
extern int acc_is_present(void *host, size_t bytes);
extern void acc_memcpy_to_device(void *device, void *host, size_t bytes);
extern void acc_memcpy_to_device_async(void *device, void *host, size_t bytes, int queue);
extern void acc_memcpy_from_device(void *host, void *device, size_t bytes);
extern void acc_memcpy_from_device_async(void *host, void *device, size_t bytes, int queue);
extern void acc_memcpy_device(void *to, void *from, size_t bytes);
extern void acc_memcpy_device_async(void *to, void *from, size_t bytes, int queue);
extern void acc_memcpy_d2d(void *to, void *from, size_t bytes, int to_device, int from_device);
extern void acc_memcpy_d2d_async(void *to, void *from, size_t bytes, int to_device,
                                 int from_device, int queue);
extern void acc_attach(void **host);
extern void acc_attach_async(void **host, int queue);
extern void acc_detach(void **host);
extern void acc_detach_async(void **host, int queue);
extern void acc_detach_finalize(void **host);
extern void acc_detach_finalize_async(void **host, int queue);

#ifdef __cplusplus
}
#endif

#endif
