/* What test programs may use, on the accelerator and on the host. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define FERRY_DEVICE __attribute__((annotate("ferry.device")))
#define FERRY_ROOT __attribute__((annotate("ferry.root")))
#define NOINLINE __attribute__((noinline))

#ifdef HOST
#define __device
#include <stdlib.h>
#include <string.h>
static void *spm_alloc(size_t bytes) { return malloc(bytes); }
static void spm_free_all(void) {}
static void copy_in(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void copy_out(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void copies_done(void) {}
#else
#define __device __attribute__((address_space(1)))
FERRY_DEVICE void *spm_alloc(size_t bytes);
void spm_free_all(void);
void copy_in(void *to, const void *from, size_t bytes);
void copy_out(void *to, const void *from, size_t bytes);
void copies_done(void);
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
#endif
