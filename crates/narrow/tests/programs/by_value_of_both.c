/* Small structures by value with pointers of both sides, through pointers to functions, and with numbers where others have pointers. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16; i++) ((int *)slots[0])[i] = 1000 + i * 3;
}
#endif

struct span { int *p; long n; };
struct two { int *p, *q; };
union either { int *p; long n; };

NOINLINE static int sum(struct span s) {
    int x = 0;
    for (long i = 0; i < s.n; i++) x = x * 3 + s.p[i];
    return x;
}
NOINLINE static int differently(struct span s) { return s.p[1] - (int)s.n; }
NOINLINE static struct two turned(struct two t) { return (struct two){t.q, t.p}; }
NOINLINE static long number(union either u) { return u.n; }
NOINLINE static int read(union either u) { return u.p[2]; }
NOINLINE static union either of_number(long n) { return (union either){.n = n}; }
NOINLINE static struct two grow(struct two t, int n) { return n ? grow((struct two){t.q + 1, t.p}, n - 1) : t; }

static int (*const ways[2])(struct span) = {sum, differently};

void __ferry_k_test(void *const *slots) {
    int near[8], *far = slots[0];
    long *out = slots[1];
    for (int i = 0; i < 8; i++) near[i] = i * 5;
    struct span here = {near, 8}, there = {far, 6};
    struct two t = {near, far};
    int k = 0;
    out[k++] = sum(here) + sum(there);
    for (int i = 0; i < 4; i++) out[k++] = ways[i & 1](i & 2 ? here : there);
    out[k++] = turned(t).p[1] * 10000 + turned(t).q[1];
    out[k++] = grow(t, 3).p[0] * 10000 + grow(t, 4).q[0];
    union either u = {.n = 0x123456789abcdefL};
    out[k++] = number(u);
    u = of_number(0x7edcba9876543210L);
    out[k++] = number(u);
    u.p = k ? far : near;
    out[k++] = read(u);
    u.p = near;
    out[k++] = read(u);
    out[k++] = number((union either){.p = far}) == (long)slots[0];
}
