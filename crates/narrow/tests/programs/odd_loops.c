/* Loops whose number of iterations is not what it seems: huge bounds that are never reached, tests before and after the
   step, steps of more than one, ends that are passed at once, wrapping. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    long *b = slots[1];
    b[0] = (1L << 40) + 5, b[1] = 0x7fffffffffffffffL, b[2] = -(1L << 40), b[3] = 10, b[4] = 3, b[5] = -1, b[6] = 1L << 33;
    for (int i = 0; i < 512; i++) ((int *)slots[0])[i] = i == 300 ? -1 : i;
}
#endif

NOINLINE static long until(const int *p, long n) {
    long i;
    for (i = 0; i < n; i++)
        if (p[i] < 0) break;
    return i;
}
NOINLINE static long until_different(const int *p, unsigned long n) {
    unsigned long i = 0;
    do {
        if (p[i] < 0) break;
        i++;
    } while (i != n);
    return (long)i;
}
NOINLINE static long steps(long from, long to, int kind) {
    long n = 0, last = 0;
    switch (kind) {
    case 0: for (long i = from; i < to; i += 2) n++, last = i; break;
    case 1: for (long i = from; i <= to; i += 4) n++, last = i; break;
    case 2: for (long i = from; i > to; i -= 8) n++, last = i; break;
    case 3: for (long i = from; i >= to; i--) n++, last = i; break;
    case 4: for (long i = from; i < to; i += 3) n++, last = i; break;
    case 5: { long i = from; do { n++, last = i; } while (i++ < to); break; }
    case 6: { long i = from; do { n++, last = i; } while (++i < to); break; }
    case 7: { unsigned long i = (unsigned long)from; do { n++, last = (long)i; } while (++i < (unsigned long)to); break; }
    case 8: { unsigned long i = (unsigned long)from; while (i-- > (unsigned long)to) n++, last = (long)i; break; }
    }
    return n * 1000003 + last;
}
NOINLINE static long fill(int *to, int from, long n, int step) {
    long count = 0;
    for (int i = from; i < n; i += step) to[i] = i, count++;
    return count;
}
NOINLINE static int divided(int n, int by) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += i / by * 3 + i % by;
    for (long i = -n; i < n; i++) sum += i / by - i % 7;
    return (int)sum;
}
NOINLINE static long crossing(long base) {
    long sum = 0;
    for (long i = base - 3; i < base + 3; i++) sum = sum * 7 + (i >> 31) + (i & 15) + i / 1000 + (i < (1L << 31));
    return sum;
}

void __ferry_k_test(void *const *slots) {
    const int *host = slots[0];
    const long *b = slots[1];
    long *out = slots[2];
    int *near = spm_alloc(512 * sizeof(int));
    for (int i = 0; i < 512; i++) near[i] = host[i];
    int k = 0;
    out[k++] = until(near, b[0]), out[k++] = until(near, b[1]), out[k++] = until(near, b[2]), out[k++] = until(near, b[3]);
    out[k++] = until(near, b[6]), out[k++] = until(host, b[0]);
    out[k++] = until_different(near, (unsigned long)b[0]), out[k++] = until_different(near, 7), out[k++] = until_different(near, 0);
    for (int kind = 0; kind < 9; kind++) {
        out[k++] = steps(b[4], b[3], kind), out[k++] = steps(b[3], b[4], kind), out[k++] = steps(b[3], b[3], kind);
        out[k++] = steps(-b[3], b[3] + 1, kind == 7 || kind == 8 ? 0 : kind);
        out[k++] = steps(b[6] - 20, b[6] + 21, kind == 8 ? 0 : kind), out[k++] = steps(b[6] + 20, b[6] - 21, kind == 7 ? 2 : kind);
    }
    out[k++] = steps(b[5], 5, 7);
    out[k++] = fill(near, 3, b[3] + 200, 4), out[k++] = fill(near, 300, b[4], 1), out[k++] = near[303] + near[11];
    out[k++] = divided((int)b[3] + 90, 7), out[k++] = divided(40, -3), out[k++] = divided(25, 1);
    out[k++] = crossing(1L << 31), out[k++] = crossing(-(1L << 31)), out[k++] = crossing(0), out[k++] = crossing(1L << 32);
    spm_free_all();
}
