/* Functions with a variable number of arguments, and lists of them that are handed on. */
#include "device.h"
#include <stdarg.h>

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16; i++) ((int *)slots[0])[i] = i * 11;
}
#endif

NOINLINE static long total(const char *kinds, va_list list) {
    long sum = 0;
    for (; *kinds; kinds++) switch (*kinds) {
        case 'i': sum += va_arg(list, int); break;
        case 'l': sum += va_arg(list, long); break;
        case 'd': sum += (long)(va_arg(list, double) * 100); break;
        case 'p': sum += *va_arg(list, int *); break;
        case 'u': sum += va_arg(list, unsigned) / 2; break;
        }
    return sum;
}
NOINLINE static long sum(const char *kinds, ...) {
    va_list list, again;
    va_start(list, kinds);
    va_copy(again, list);
    long once = total(kinds, list), twice = total(kinds, again);
    va_end(again);
    va_end(list);
    return once * 1000 + twice;
}
NOINLINE static int first(int n, ...) {
    va_list list;
    va_start(list, n);
    int value = va_arg(list, int);
    va_end(list);
    return value * n;
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0];
    long *out = slots[1];
    int near[4] = {5, 6, 7, 8};
    out[0] = sum("iii", 1, -2, 300);
    out[1] = sum("ildu", -7, -5000000000L, 2.75, 4000000000u);
    out[2] = sum("ppp", host + 3, near + 1, host);
    out[3] = sum("");
    out[4] = first(3, -9) + first(4, 'c');
    out[5] = sum("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    out[6] = sum("dldl", 1.5, 1L << 40, -0.25, -1L);
}
