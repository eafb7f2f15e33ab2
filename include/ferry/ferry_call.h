/* Calls of functions on devices by hand: the caller says which function, which device and which bytes.

     #pragma omp begin declare target indirect
     static void twice(void *data, size_t size) { ... }
     #pragma omp end declare target
     ...
     struct numbers it = { ... };
     if (ferry_call(0, twice, &it, sizeof it)) ...

   Data are copied to the device, the function runs there with a pointer to its copy, and they are copied back; the call returns
   then. In a program that starts on an accelerator (ferry cc --host) the device is the machine that it belongs to. Any compiler with
   OpenMP 5.1 takes this text. */
#ifndef FERRY_CALL_H
#define FERRY_CALL_H

#include <omp.h>
#include <stddef.h>

typedef void ferry_function(void *data, size_t size);

/* 0 if it ran on that device, or on the host for omp_get_initial_device(); 1 if there is no such device. */
static inline int ferry_call(int device, ferry_function *function, void *data, size_t size) {
  char *bytes = (char *)data;
  if (device < 0 || device > omp_get_num_devices()) return 1;
#pragma omp target device(device) map(tofrom: bytes[0:size])
  function(bytes, size);
  return 0;
}

#endif
