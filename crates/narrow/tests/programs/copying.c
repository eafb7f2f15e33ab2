/* memcpy, memmove, memset between all memories: overlapping, odd, empty, large, unaligned. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16384; i++) ((unsigned char *)slots[0])[i] = i * 7 + i / 256;
}
#endif

struct big { int a[20]; char *p; };
struct three { char c[3]; };

NOINLINE static void copy(void *to, const void *from, size_t n) { memcpy(to, from, n); }
NOINLINE static void move(void *to, const void *from, size_t n) { memmove(to, from, n); }
NOINLINE static void fill(void *to, int value, size_t n) { memset(to, value, n); }
NOINLINE static void clear(int *p, int n) { for (int i = 0; i < n; i++) p[i] = 0; }
NOINLINE static void duplicate(int *to, const int *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }

void __ferry_k_test(void *const *slots) {
    unsigned char *from = slots[0], *to = slots[1], *out = slots[2];
    unsigned char near[512];
    copy(near, from, 512);
    copy(to, near, 512);
    copy(to + 512, from, 8192);
    copy(to + 9001, from + 3, 77);
    copy(to + 9100, from + 1, 0);
    move(to + 5, to, 100);
    move(to + 200, to + 205, 100);
    move(near + 1, near, 300);
    move(near + 50, near + 53, 99);
    copy(to + 10000, near, 400);
    fill(to + 11000, 0xa5, 333);
    fill(near + 3, 7, 11);
    fill(near + 100, 0, 100);
    copy(out, near, 512);
    memcpy(out + 600, from + 8, 16);
    memmove(out + 640, out + 636, 12);
    memset(out + 700, 0x3c, 24);
    memcpy(near, from + 1001, 13);
    memcpy(out + 801, near, 13);
    struct big b = *(struct big *)(from + 64), c;
    c = b;
    c.a[3]++;
    *(struct big *)(out + 1024) = c;
    struct three t = *(struct three *)(from + 5);
    *(struct three *)(out + 1201) = t;
    int ints[64];
    duplicate(ints, (int *)from, 64);
    duplicate((int *)(out + 2048), ints, 64);
    duplicate((int *)(out + 4096), (int *)(from + 512), 300);
    clear((int *)(to + 4096), 100);
    clear(ints, 32);
    duplicate((int *)(out + 8192), ints, 64);
}
