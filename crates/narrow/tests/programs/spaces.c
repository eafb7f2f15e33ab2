/* Pointers that the program itself calls device pointers. */
// generic: 2
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 64; i++) ((int *)slots[0])[i] = i * i;
}
#endif

NOINLINE static int sum(__device int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    return s;
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0], *out = slots[1];
    __device int *near = (__device int *)spm_alloc(64 * sizeof(int));
    for (int i = 0; i < 64; i++) near[i] = host[i];
    out[0] = sum(near, 64);
    spm_free_all();
}
