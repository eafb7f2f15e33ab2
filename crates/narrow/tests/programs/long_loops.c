/* Loops over long, size_t and ptrdiff_t; counters beyond 32 bits, negative steps, unsigned wrap. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 1024; i++) ((int *)slots[0])[i] = i * 17 % 101;
}
#endif

NOINLINE static long dot(const int *a, const int *b, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += (long)a[i] * b[i];
    return sum;
}
NOINLINE static long down(const int *a, size_t n) {
    long sum = 0;
    for (size_t i = n; i-- > 0;) sum = sum * 3 + a[i];
    return sum;
}
NOINLINE static int strided(const int *a, long from, long to, long step) {
    int sum = 0;
    for (long i = from; step > 0 ? i < to : i > to; i += step) sum += a[i];
    return sum;
}
NOINLINE static long beyond(long from, long steps) {
    long count = 0, last = 0;
    for (long i = from; i < from + steps; i += 1000000007L) count++, last = i;
    return last + count;
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0];
    long *out = slots[1];
    int *near = spm_alloc(1024 * sizeof(int));
    for (size_t i = 0; i < 1024; i++) near[i] = host[i] + 1;
    out[0] = dot(near, near + 1, 1000);
    out[1] = dot(host, near, 900);
    out[2] = down(near, 20);
    out[3] = down(host, 20);
    out[4] = strided(near, 0, 1000, 7);
    out[5] = strided(near, 1000, 3, -11);
    out[6] = beyond(4000000000L, 30000000000L);
    out[7] = beyond(-5000000000L, 10000000000L);
    unsigned u = 4294967290u;
    int n = 0;
    for (unsigned i = u; i != 5; i++) n++;
    out[8] = n;
    size_t wrap = (size_t)-3;
    n = 0;
    for (size_t i = wrap; i != 4; i++) n++;
    out[9] = n;
    for (ptrdiff_t i = -10; i <= 10; i++) out[30 + i] = near[500 + i];
#pragma omp parallel for
    for (long i = 0; i < 700; i++) near[i] = near[i] * 2 + (int)i;
    out[10] = dot(near, near, 1024);
#pragma omp parallel for collapse(2)
    for (long i = 0; i < 16; i++)
        for (long j = 0; j < 32; j++) near[i * 32 + j] = (int)(i * 1000 + j);
    out[11] = dot(near, near, 512);
    short small[300];
    for (unsigned char c = 0; c < 200; c++) small[c + 50] = c;
    long total = 0;
    for (long i = 50; i < 250; i++) total += small[i];
    out[12] = total;
    spm_free_all();
}
