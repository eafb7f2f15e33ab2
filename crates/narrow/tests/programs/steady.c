/* Loops over the host's memory whose addresses move by steps: up and down, across a multiple of 4 GiB and beside it, several that come
   to it one after the other or from both sides, with exits in the middle, values that go from one iteration to the next, offsets that
   wrap around, and indices side by side. Buffer 3 has a multiple of 4 GiB in its middle. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16384; i++) ((unsigned char *)slots[3])[i] = i * 29 + (i >> 8), ((unsigned char *)slots[0])[i] = i * 7 + 3;
}
#endif

NOINLINE static int up(const int *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 3 + p[i];
    return sum;
}
NOINLINE static int down(const int *p, int n) {
    int sum = 0;
    for (int i = n - 1; i >= 0; i--) sum = sum * 5 + p[i];
    return sum;
}
NOINLINE static int backwards(const short *p, const short *end) {
    int sum = 0;
    while (end != p) sum = sum * 7 + *--end;
    return sum;
}
NOINLINE static int pick(const unsigned char *p, unsigned n, unsigned by) {
    int sum = 0;
    for (unsigned i = 0; i < n; i++) sum = sum * 3 + p[i * by];
    return sum;
}
NOINLINE static int find(const unsigned char *p, int n, int what) {
    for (int i = 0; i < n; i++)
        if (p[i] == what) return i;
    return -1;
}
NOINLINE static void copy(long *to, const long *from, int n) {
    for (int i = 0; i < n; i++) to[i] = from[i] ^ i;
}
NOINLINE static int table(const int *p) {
    int sum = 0;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) sum = sum * 3 + p[i * 16 + j] * p[j];
    return sum;
}
NOINLINE static int transposed(const int *p) {
    int sum = 0;
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++) sum = sum * 3 + p[i * 16 + j] * p[j];
    return sum;
}
NOINLINE static int around(const unsigned char *p, unsigned first, int n) {
    /* The offset wraps around in 32 bits, the address does not. */
    int sum = 0;
    for (unsigned i = first; n--; i += 16) sum = sum * 3 + p[i & 0xfff];
    return sum;
}
NOINLINE static int wrapped(const unsigned char *p, unsigned first, int n) {
    int sum = 0;
    for (unsigned i = first; n--; i++) sum = sum * 3 + (i < 64 ? p[i] : 1);
    return sum;
}
struct three { int a, b, c; };
NOINLINE static int of_three(const struct three *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 3 + p[i].a - p[i].c;
    return sum;
}
NOINLINE static int from_both_sides(const int *p, const int *q, const short *r, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 3 + p[i] * q[-i] + r[3 * i];
    return sum;
}
NOINLINE static int two_before(const int *p, int n) {
    /* What was read goes on to the next iteration, and the one behind it. */
    int one = 1, other = 2, sum = 0;
    for (int i = 0; i < n; i++) {
        int it = p[i];
        sum = sum * 3 + it * one - other;
        one = other, other = it;
    }
    return sum + one * 7 + other;
}
NOINLINE static int last_odd(const int *p, int n, const int **where) {
    int i, found = -1;
    for (i = 0; i < n; i++) {
        if (p[i] & 1) found = i;
        if (p[i] % 1021 == 5) break;
    }
    *where = p + i;
    return found;
}
NOINLINE static int now_and_then(const int *p, const int *q, int n, int bits) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += bits >> (i & 31) & 1 ? p[i] : q[2 * i];
    return sum;
}
NOINLINE static long over_long(const long *p, long first, long last) {
    long sum = 0;
    for (long i = last; i >= first; i -= 4) sum = sum * 3 + p[i];
    return sum;
}
NOINLINE static void shift(int *p, int n) {
    for (int i = 0; i < n; i++) p[i] = p[i + 1] + p[i];
}

void __ferry_k_test(void *const *slots) {
    char *middle = (char *)slots[3] + 0x2000;
    int *out = slots[1];
    long *far = (long *)((char *)slots[2] + 64);
    int k = 0;
    for (int at = -512; at <= 512; at += 128) {
        out[k++] = up((int *)(middle + at), 64);
        out[k++] = down((int *)(middle + at), 64);
        out[k++] = backwards((short *)(middle + at), (short *)(middle + at) + 100);
        out[k++] = pick((unsigned char *)middle + at, 40, 3);
        out[k++] = find((unsigned char *)middle + at, 250, 7);
        out[k++] = table((int *)(middle + at * 2));
        out[k++] = transposed((int *)(middle + at * 2));
    }
    for (int at = -96; at <= 96; at += 4) {
        const int *p = (const int *)(middle + at), *found;
        out[k++] = of_three((const struct three *)p, 9);
        out[k++] = from_both_sides(p - 8, p + 8, (const short *)middle - at, 24);
        out[k++] = two_before(p, 17);
        out[k++] = last_odd(p, 20, &found);
        out[k++] = found - p;
        out[k++] = now_and_then(p, (const int *)middle - 20, 20, at * 0x1010101);
        out[k++] = over_long((const long *)middle, at / 4 - 20, at / 4 + 3);
        shift((int *)p, at & 15);
    }
    out[k++] = up((int *)middle, 0) + up((int *)middle, 1) + down((int *)middle - 1, 1) + up((int *)middle - 1, 2);
    copy((long *)(middle - 256), slots[0], 64);
    copy(far, (long *)(middle - 256), 64);
    copy((long *)(middle + 8), (long *)(middle - 120), 16);
    out[k++] = around(slots[0], 0xffffff00, 40);
    out[k++] = wrapped((unsigned char *)middle - 20, 0xfffffff0, 60);
}
