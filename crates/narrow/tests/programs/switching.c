/* One variable that holds pointers of the accelerator and of the host, one after the other. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 256; i++) ((int *)slots[0])[i] = i, ((int *)slots[1])[i] = 3 * i;
}
#endif

NOINLINE static int at(const int *p, int i) { return p[i]; }
NOINLINE static const int *choose(const int *a, const int *b, int which) { return which ? a : b; }

void __ferry_k_test(void *const *slots) {
    const int *host = slots[0], *other = slots[1];
    int *out = slots[2];
    int near[32];
    for (int i = 0; i < 32; i++) near[i] = 7 * i;
    const int *volatile held = near;
    out[0] = held[3];
    held = host;
    out[1] = held[3];
    for (int i = 0; i < 8; i++) {
        const int *p = i & 1 ? near : host;
        out[2 + i] = p[i];
    }
    const int *p = near;
    for (int i = 0; i < 12; i++) {
        out[16 + i] = p[i];
        if (i == 5) p = other;
        if (i == 9) p = near;
    }
    out[30] = at(near, 4) + at(host, 4);
    out[31] = *choose(near, host, 1) + choose(host, near, 0)[2] + choose(other, host, 1)[3];
    const int *q = 0;
    if (out[1] == 3) q = host + 9;
    out[32] = q ? *q : -1;
}
