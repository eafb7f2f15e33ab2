// What all programs share: numbers to begin with, and what is printed of an array.
#include <stdio.h>

static unsigned seed = 12345;

static unsigned some(unsigned most) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % most;
}

static float part(void) { return some(10000) / 10000.0f; }

static void show_ints(const char *name, const int *a, long n) {
    unsigned long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum * 31 + (unsigned)a[i];
    printf("%s %lu %d %d\n", name, sum, a[n / 2], a[n - 1]);
}

static void show_floats(const char *name, const float *a, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * (double)(i % 7 + 1);
    printf("%s %.7e %.7e %.7e\n", name, sum, a[n / 2], a[n / 3]);
}
