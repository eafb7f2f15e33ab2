/* A product of matrix and vector that reads and writes the host's memory itself. */
#include "device.h"

#ifndef N
#define N 32
#endif

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < N * N; i++) ((int *)slots[0])[i] = i % 37 - 11, ((int *)slots[1])[i] = i % 5;
}
#endif

void __ferry_k_test(void *const *slots) {
    const int *a = slots[0], *x = slots[1];
    int *y = slots[2];
    for (int i = 0; i < N; i++) {
        int sum = 0;
        for (int j = 0; j < N; j++) sum += a[i * N + j] * x[j];
        y[i] = sum;
    }
}
