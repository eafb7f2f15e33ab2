/* Functions by their addresses: direct, from tables, in structures, with elements of the host. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 100; i++) ((int *)slots[0])[i] = (i * 7919) % 101, ((short *)slots[1])[i] = (i * 31) % 57;
}
#endif

typedef int compare(const void *, const void *);
NOINLINE static void sort(void *base, size_t count, size_t size, compare *less) {
    char *b = base;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && less(b + j * size, b + (j - 1) * size) < 0; j--)
            for (size_t k = 0; k < size; k++) {
                char t = b[j * size + k];
                b[j * size + k] = b[(j - 1) * size + k];
                b[(j - 1) * size + k] = t;
            }
}
static int by_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_short(const void *a, const void *b) { return *(const short *)b - *(const short *)a; }

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const table[3])(int, int) = {add, sub, mul};
static int (*chosen)(int, int) = mul;
struct op { const char *name; int (*run)(int, int); };
static const struct op ops[] = {{"add", add}, {"mul", mul}};

void __ferry_k_test(void *const *slots) {
    int *out = slots[3];
    sort(slots[0], 100, sizeof(int), by_int);
    sort(slots[1], 100, sizeof(short), by_short);
    int near[20];
    for (int i = 0; i < 20; i++) near[i] = (i * 13) % 20;
    sort(near, 20, sizeof(int), by_int);
    for (int i = 0; i < 20; i++) out[i] = near[i];
    volatile int two = 2;
    for (int i = 0; i < 3; i++) out[20 + i] = table[(i + two) % 3](9, i + 2);
    out[23] = chosen(6, 7);
    if (two == 2) chosen = sub;
    out[24] = chosen(6, 7);
    for (int i = 0; i < 2; i++) out[25 + i] = ops[i].run(i + 3, 5) + ops[i].name[i];
}
