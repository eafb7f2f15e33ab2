/* The scratchpad of a cluster, and the engine that copies into it and out of it.
 *
 * On device `riscv` memory beside the cores is asked for here, and transfers run while cores compute. Elsewhere the same
 * program runs too: memory is that of `malloc`, and a transfer is done when it has been started. Compiled without Ferry,
 * the header brings these functions along. */
#ifndef FERRY_CLUSTER_H
#define FERRY_CLUSTER_H 1

/* Found by -I, before other compilers' headers of the same name; what is said of it is not for its users. */
#pragma GCC system_header

#include <stddef.h>

/* What a pointer leads to lies in the cluster's own memory: `int __device *p`. A promise, for code that clang compiles
 * for `ferry-narrow`; in regions it is found by looking at the program. */
#if defined(__clang__) && defined(__riscv)
#define __device __attribute__((address_space(1)))
#else
#define __device
#endif

/* A transfer that was started; 0 for one that is at its end. */
typedef unsigned ferry_transfer;

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__FERRY__) || (defined(__clang__) && defined(__riscv))
/* Memory of the scratchpad, aligned to 8 bytes; NULL if it has no such room. All cores may use it. */
extern void *ferry_l1_malloc(size_t bytes);
/* Gives it back. */
extern void ferry_l1_free(void *memory);
/* Starts to copy; neither range may be used for anything else before the wait. Any side may be the scratchpad. */
extern ferry_transfer ferry_dma(void *to, const void *from, size_t bytes);
/* The same for so many rows of `bytes` bytes, which lie `to_step` and `from_step` bytes from one another. */
extern ferry_transfer ferry_dma_2d(void *to, const void *from, size_t bytes, size_t rows, size_t to_step,
                                   size_t from_step);
/* Returns when the transfer is at its end. Any core may wait for it. */
extern void ferry_dma_wait(ferry_transfer transfer);
#else
#include <stdlib.h>
#include <string.h>
#ifdef __GNUC__
#define FERRY_CLUSTER_LOCAL static inline __attribute__((unused))
#else
#define FERRY_CLUSTER_LOCAL static inline
#endif
FERRY_CLUSTER_LOCAL void *ferry_l1_malloc(size_t bytes) { return malloc(bytes ? bytes : 1); }
FERRY_CLUSTER_LOCAL void ferry_l1_free(void *memory) { free(memory); }
FERRY_CLUSTER_LOCAL ferry_transfer ferry_dma(void *to, const void *from, size_t bytes) {
  if (bytes) memmove(to, from, bytes);
  return 0;
}
FERRY_CLUSTER_LOCAL ferry_transfer ferry_dma_2d(void *to, const void *from, size_t bytes, size_t rows, size_t to_step,
                                                size_t from_step) {
  for (size_t row = 0; bytes && row < rows; row++)
    memmove((char *)to + row * to_step, (const char *)from + row * from_step, bytes);
  return 0;
}
FERRY_CLUSTER_LOCAL void ferry_dma_wait(ferry_transfer transfer) { (void)transfer; }
#endif

#ifdef __cplusplus
}
#endif

#endif
