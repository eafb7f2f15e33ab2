/* Comparisons and differences of pointers of both kinds, and null. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {}
#endif

NOINLINE static int order(const char *a, const char *b) { return (a < b) + 2 * (a == b) + 4 * (a > b); }

void __ferry_k_test(void *const *slots) {
    char *a = slots[0], *b = slots[1];
    int *out = slots[3];
    char near[16];
    near[0] = 1;
    int k = 0;
    /* The same lower halves. */
    out[k++] = a == b, out[k++] = a != b, out[k++] = order(a, a + 1), out[k++] = order(a, a);
    out[k++] = order(b, a), out[k++] = order(a, b);
    out[k++] = a == near, out[k++] = (void *)near == slots[2], out[k++] = near != 0, out[k++] = a != 0;
    out[k++] = order(near, near + 16), out[k++] = order(near + 16, near);
    out[k++] = (int)(a + 100 - a), out[k++] = (int)((near + 16) - near);
    out[k++] = (int)((int *)(a + 400) - (int *)a);
    long apart = (char *)slots[0] - (char *)slots[1];
    out[k++] = (int)(apart >> 32), out[k++] = (int)apart;
    char *null = 0;
    out[k++] = null == 0, out[k++] = (uintptr_t)null == 0, out[k++] = slots[0] == null;
    char *volatile maybe = 0;
    out[k++] = maybe == 0, out[k++] = maybe == a;
    maybe = a;
    out[k++] = maybe == 0, out[k++] = maybe == a, out[k++] = maybe == near;
    char *p = a;
    int n = 0;
    for (; p != a + 33; p += 3) n++;
    out[k++] = n;
}
