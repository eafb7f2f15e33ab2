/* Accesses and objects across an address that is a multiple of 4 GiB: buffer 3 has one in its middle. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16384; i++) ((unsigned char *)slots[3])[i] = i * 29 + (i >> 8);
}
#endif

struct __attribute__((packed)) tight { char c; long l; int i; short s; };

void __ferry_k_test(void *const *slots) {
    char *middle = (char *)slots[3] + 0x2000;
    long *o = slots[0];
    int k = 0;
    struct pair { int a, b; } *pair = (struct pair *)(middle - 4);
    o[k++] = pair->a, o[k++] = pair->b;
    for (int at = -16; at <= 8; at++) {
        struct tight *t = (struct tight *)(middle + at);
        o[k++] = t->l + t->i + t->s;
        t->i ^= at * 77;
    }
    struct __attribute__((packed)) word { int w; } *w = (void *)(middle - 2);
    o[k++] = w->w;
    w->w = 0x12345678;
    int sum = 0;
    for (unsigned char *p = (unsigned char *)middle - 100; p != (unsigned char *)middle + 100; p++) sum += *p;
    o[k++] = sum;
    int *ints = (int *)(middle - 512);
    for (int i = 0; i < 256; i++) ints[i] = ints[i] * 3 + 1;
    char *end = middle - 64;
    for (int i = 0; i < 64; i++) o[k++] = end[i];
    memmove(middle - 700, middle - 900, 800);
}
