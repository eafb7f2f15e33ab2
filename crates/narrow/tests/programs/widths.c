/* Every width and kind of number, in host memory and on the stack; structures by value. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 8192; i++) ((unsigned char *)slots[0])[i] = i * 131 + (i >> 3);
    for (int i = 0; i < 64; i++) ((float *)slots[1])[i] = i * 1.25f - 20, ((double *)slots[1])[64 + i] = i * -0.375 + 7;
}
#endif

typedef _BitInt(24) odd;
typedef int four __attribute__((vector_size(16)));
struct small { short a; char b, c; };
struct medium { long a; int b, c; };
struct large { long a[6]; };

NOINLINE static struct small small(struct small s) { s.a++, s.b--; return s; }
NOINLINE static struct medium medium(struct medium s) { s.a *= 3, s.b = -s.b; return s; }
NOINLINE static struct large large(struct large s) { for (int i = 0; i < 6; i++) s.a[i] += i; return s; }
NOINLINE static _Complex float turn(_Complex float z) { return z * z; }
NOINLINE static double mean(double *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i]; return s / n; }

void __ferry_k_test(void *const *slots) {
    char *in = slots[0], *out = slots[3];
    long *o = slots[2];
    int k = 0;
    o[k++] = *(signed char *)(in + 1), o[k++] = *(unsigned char *)(in + 1);
    o[k++] = *(short *)(in + 2), o[k++] = *(unsigned short *)(in + 2);
    o[k++] = *(int *)(in + 4), o[k++] = *(unsigned *)(in + 4);
    o[k++] = *(long *)(in + 8), o[k++] = *(unsigned long *)(in + 16) >> 3;
    o[0] = 1;
    o[k++] = *(_Bool *)&o[0] ? 5 : 6;
    o[k++] = (int)*(odd *)(in + 12);
    *(odd *)(out + 4) = (odd)(*(odd *)(in + 12) * 2);
    *(signed char *)(out + 8) = -3, *(short *)(out + 10) = -300, *(int *)(out + 12) = -70000;
    *(long *)(out + 16) = -5000000000L, *(_Bool *)(out + 24) = in[3] > 0;
    four v = *(four *)(in + 32);
    v = v * 3 + *(four *)(in + 48);
    *(four *)(out + 32) = v;
    *(struct small *)(out + 64) = small(*(struct small *)(in + 64));
    *(struct medium *)(out + 80) = medium(*(struct medium *)(in + 80));
    *(struct large *)(out + 128) = large(*(struct large *)(in + 128));
    float *f = slots[1];
    double *d = (double *)slots[1] + 64;
    float *fo = (float *)(out + 256);
    double *dout = (double *)(out + 512);
    for (int i = 0; i < 32; i++) {
        fo[i] = f[i] * 0.5f + f[i + 1];
        dout[i] = d[i] * 2.5 - d[i + 1] / 4;
    }
    dout[40] = mean(d, 50);
    _Complex float z = *(_Complex float *)f;
    *(_Complex float *)(out + 1024) = turn(z);
    o[k++] = (long)(f[9] * 100), o[k++] = (int)(d[11] * 100);
    long q = *(long *)(in + 24) | 1;
    o[k++] = *(long *)(in + 8) / q, o[k++] = *(unsigned long *)(in + 8) % (unsigned long)q;
    o[k++] = *(long *)(in + 8) * q, o[k++] = q << (in[0] & 31), o[k++] = q >> 13;
    /* Not aligned. */
    o[k++] = *(int *)__builtin_memcpy(&(int){0}, in + 101, 4);
    struct __attribute__((packed)) { char c; long l; int i; } *tight = (void *)(in + 200);
    o[k++] = tight->l, o[k++] = tight->i;
    tight->l = 0x1122334455667788, tight->i = -2;
}
