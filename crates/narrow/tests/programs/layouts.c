/* Structures as the host lays them out, read and written on both sides. */
#include "device.h"

struct first { int n; int *p; };
struct second { char c; long l; short s; double d; float f; };
struct bits { unsigned a : 3, b : 13; int c : 17; long long d : 40; };
struct __attribute__((packed)) tight { char c; int n; void *p; short s; double d; };
struct nested { char c; struct second s; struct tight t[3]; int *q; };
struct flexible { size_t count; struct first items[]; };

#ifdef HOST
void prepare(void *const *slots) {
    struct first *f = slots[0];
    for (int i = 0; i < 8; i++) f[i].n = i * i, f[i].p = &f[(i + 3) % 8].n;
    struct second *s = (void *)((char *)slots[0] + 1024);
    for (int i = 0; i < 8; i++) s[i] = (struct second){(char)-i, -5000000000L * i, (short)-i, i / 3.0, i / 7.0f};
    struct bits *b = (void *)((char *)slots[0] + 2048);
    for (int i = 0; i < 8; i++) b[i].a = i, b[i].b = i * 777, b[i].c = -i * 999, b[i].d = -i * 9999999999LL;
    struct nested *n = (void *)((char *)slots[0] + 4096);
    for (int i = 0; i < 3; i++) {
        n->t[i].c = i, n->t[i].n = -i * 70000, n->t[i].p = &n->t[i].s, n->t[i].s = i * 300, n->t[i].d = i * 0.1;
    }
    n->c = 'x', n->s = s[3], n->q = &f[6].n;
    struct flexible *x = (void *)((char *)slots[0] + 8192);
    x->count = 5;
    for (int i = 0; i < 5; i++) x->items[i].n = 100 + i, x->items[i].p = &f[i].n;
}
#endif

NOINLINE static struct second turned(struct second s) { s.l = -s.l, s.c++, s.f += s.s; return s; }

void __ferry_k_test(void *const *slots) {
    struct first *f = slots[0];
    struct second *s = (void *)((char *)slots[0] + 1024);
    struct bits *b = (void *)((char *)slots[0] + 2048);
    struct nested *n = (void *)((char *)slots[0] + 4096);
    struct flexible *x = (void *)((char *)slots[0] + 8192);
    long *out = slots[3];
    int k = 0;
    for (int i = 0; i < 8; i++) {
        out[k++] = f[i].n + *f[i].p;
        f[i].p = &f[i].n + 4;
        out[k++] = s[i].c + s[i].l + s[i].s + (long)(s[i].d * 1000) + (long)(s[i].f * 1000);
        s[i] = turned(s[i]);
        out[k++] = b[i].a + b[i].b * 3L + b[i].c * 5L + b[i].d;
        b[i].c = i - 4, b[i].d += 1;
    }
    for (int i = 0; i < 3; i++) {
        out[k++] = n->t[i].c + n->t[i].n + *(short *)n->t[i].p + (long)(n->t[i].d * 100);
        n->t[i].n += 65536, n->t[i].d *= 2;
    }
    out[k++] = n->c + n->s.l + *n->q;
    for (size_t i = 0; i < x->count; i++) out[k++] = x->items[i].n * *x->items[i].p;
    out[k++] = sizeof(struct first), out[k++] = sizeof(struct second), out[k++] = sizeof(struct bits);
    out[k++] = sizeof(struct tight), out[k++] = sizeof(struct nested), out[k++] = offsetof(struct nested, q);
    struct first local = {3, &f[2].n};
    struct first array[3] = {local, f[1], {9, &local.n}};
    for (int i = 0; i < 3; i++) out[k++] = array[i].n + *array[i].p;
}
