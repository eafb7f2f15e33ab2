/* Pointers that travel through memory: by reference, in structures, arrays and unions, as copies and as bytes. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    int *a = slots[0], *b = slots[1];
    for (int i = 0; i < 64; i++) a[i] = i * 3, b[i] = 1000 - i;
    ((int **)slots[2])[0] = a + 5;
    ((int **)slots[2])[1] = b + 7;
}
#endif

struct pair { int n; int *p; int *q; };
union both { int *p; uint64_t number; uint32_t half[2]; unsigned char bytes[8]; };

NOINLINE static void through(int **where, int *what) { *where = what; }
NOINLINE static int sum(const struct pair *s) { return s->n + s->p[1] + s->q[2]; }
NOINLINE static void copy_bytes(void *to, const void *from, int n) {
    volatile unsigned char *t = to;
    const volatile unsigned char *f = from;
    for (int i = 0; i < n; i++) t[i] = f[i];
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0], *other = slots[1], *out = slots[3];
    int near[16];
    for (int i = 0; i < 16; i++) near[i] = 100 + i;
    int *p, *q;
    through(&p, host);
    through(&q, near);
    out[0] = p[3] + q[4];
    struct pair s = {7, near, host};
    out[1] = sum(&s);
    struct pair t = {9, other, near};
    out[2] = sum(&t);
    struct pair copy;
    memcpy(&copy, &t, sizeof copy);
    out[3] = copy.p[2] + copy.q[1];
    copy_bytes(&copy, &s, sizeof copy);
    out[4] = copy.p[1] + copy.q[9];
    int *table[4] = {near, host, near + 8, other};
    for (int i = 0; i < 4; i++) out[5 + i] = table[i][i];
    volatile int one = 1;
    out[9] = table[one][2] + table[one + 1][0];
    union both u;
    u.p = host + 4;
    out[10] = (int)(u.number - (uint64_t)host);
    u.number += 8;
    out[11] = *u.p;
    uint32_t low = u.half[0], high = u.half[1];
    union both w;
    w.half[0] = low;
    w.half[1] = high;
    out[12] = w.p[1];
    union both x;
    for (int i = 0; i < 8; i++) x.bytes[i] = w.bytes[i];
    out[13] = x.p[2];
    int **in_host = slots[2];
    out[14] = in_host[0][0] + in_host[1][1];
    in_host[2] = in_host[0] + 3;
    out[15] = *in_host[2];
    int **cursor = &table[0];
    int total = 0;
    for (; cursor != &table[4]; cursor++) total += **cursor;
    out[16] = total;
}
