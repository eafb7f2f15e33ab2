// Regions that follow each other: some data could stay, some is changed by the host or is a region's own.
#include <stdio.h>

static void rows(int n, float *restrict a, float *restrict b, float *restrict c, float *restrict d) {
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = 0; i < n; i++)
        b[i] += a[i];
#pragma acc parallel loop copyin(a[0:n]) copy(c[0:n])
    for (int i = 0; i < n; i++)
        c[i] += 2 * a[i];
    b[0] = 100;
#pragma acc parallel loop copyin(a[0:n], b[0:n]) copyout(d[0:n])
    for (int i = 0; i < n; i++)
        d[i] = a[i] + b[i];
    // What is written here stays on the device, and goes.
#pragma acc parallel loop copyin(d[0:n]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        d[i] = 2 * d[i];
        c[i] += d[i];
    }
#pragma acc parallel loop copyin(d[0:n]) copy(b[0:n])
    for (int i = 0; i < n; i++)
        b[i] += d[i];
}

int main(void) {
    float a[30], b[30], c[30], d[30];
    for (int i = 0; i < 30; i++) {
        a[i] = i;
        b[i] = 1;
        c[i] = 2;
        d[i] = 3;
    }
    rows(30, a, b, c, d);
    for (int i = 0; i < 30; i += 3)
        printf("%g %g %g %g\n", a[i], b[i], c[i], d[i]);
    return 0;
}
