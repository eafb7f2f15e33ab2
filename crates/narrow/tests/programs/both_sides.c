/* The same function with pointers of the host and of the accelerator. */
// generic: 40
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 500; i++) ((int *)slots[0])[i] = i * 5 - 77;
}
#endif

NOINLINE static int total(const int *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    return sum;
}
NOINLINE static void scale(int *to, const int *from, int n, int by) {
    for (int i = 0; i < n; i++) to[i] = from[i] * by;
}
static inline int largest(const int *p, int n) {
    int most = p[0];
    for (int i = 1; i < n; i++) most = p[i] > most ? p[i] : most;
    return most;
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0], *out = slots[1];
    int *near = spm_alloc(400 * sizeof(int));
    scale(near, host, 400, 3);
    scale(near + 100, near, 100, 2);
    scale(out, near, 200, -1);
    scale(out + 200, host, 200, 7);
    out[400] = total(near, 400);
    out[401] = total(host, 500);
    out[402] = largest(near, 300);
    out[403] = largest(host, 300);
    spm_free_all();
}
