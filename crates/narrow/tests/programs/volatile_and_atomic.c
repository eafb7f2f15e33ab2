/* Volatile and atomic accesses to all memories, from eight cores. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 256; i++) ((int *)slots[0])[i] = 0;
}
#endif

static int in_l2;
static long wide_in_l2;

void __ferry_k_test(void *const *slots) {
    int *host = slots[0];
    long *out = slots[1];
    long *wide = (long *)(host + 64);
    short *halves = (short *)(host + 80);
    unsigned char *bytes = (unsigned char *)(host + 90);
    float *real = (float *)(host + 96);
    int *near = spm_alloc(64);
    long *near_wide = (long *)(near + 4);
    near[0] = near[1] = near[2] = 0, near_wide[0] = 0;
    *real = 0;
#pragma omp parallel for
    for (int i = 0; i < 160; i++) {
#pragma omp atomic
        host[0] += i;
#pragma omp atomic
        near[0] += i;
#pragma omp atomic
        in_l2 += 2;
#pragma omp atomic
        wide_in_l2 += 3000000000L;
#pragma omp atomic
        wide[0] += 5000000000L;
#pragma omp atomic
        near_wide[0] += 7;
#pragma omp atomic
        *real += 0.5f;
#pragma omp atomic
        halves[0] += 3;
#pragma omp atomic
        halves[1] ^= i;
#pragma omp atomic
        bytes[1]++;
        __atomic_fetch_max(&host[1], i * 3 % 100, __ATOMIC_SEQ_CST);
        __atomic_fetch_min(&near[1], -i, __ATOMIC_RELAXED);
        __atomic_fetch_or(&host[2], 1 << (i & 15), __ATOMIC_ACQ_REL);
        __atomic_fetch_nand(&near[2], 0, __ATOMIC_RELAXED);
        int old = __atomic_load_n(&host[3], __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n(&host[3], &old, old + i, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { }
    }
    out[0] = near[0], out[1] = in_l2, out[2] = wide_in_l2, out[3] = near_wide[0], out[4] = near[1], out[5] = near[2];
    __atomic_store_n(&host[4], 77, __ATOMIC_RELEASE);
    __atomic_store_n(&wide[1], 1L << 40, __ATOMIC_RELEASE);
    out[6] = __atomic_load_n(&wide[1], __ATOMIC_ACQUIRE) + __atomic_exchange_n(&host[4], 5, __ATOMIC_SEQ_CST);
    int *target = &near[3];
    int **slot = (int **)(host + 100);
    __atomic_store_n(slot, host + 4, __ATOMIC_RELEASE);
    target = __atomic_exchange_n(slot, host + 5, __ATOMIC_ACQ_REL);
    out[7] = *target;
    __sync_synchronize();
    volatile int *counted = host + 120;
    *counted;
    *counted = 1;
    *counted = 2;
    out[8] = *counted + *counted;
    volatile long *counted_wide = (volatile long *)(host + 124);
    *counted_wide = 1L << 33;
    out[9] = *counted_wide;
    in_l2 = 0, wide_in_l2 = 0;
    spm_free_all();
}
