/* Seven kernels of dense linear algebra: data into the scratchpad, parallel loops, data out. All accesses to the
   scratchpad must be narrow. */
// kernels: gemm mm2 mm3 atax bicg conv2d covar
// generic: 0
#include "device.h"

#ifndef N
#define N 16
#endif
#ifndef COUNT
#define COUNT int
#endif
typedef int elem;
typedef COUNT count;
#define ALL (N * N)
#define BYTES(n) ((n) * sizeof(elem))

#ifdef HOST
void prepare(void *const *slots) {
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 4 * ALL && i < 4096; i++) ((elem *)slots[s])[i] = (i * 37 + s * 11) % 23 - 9;
}
#endif

static void product(const elem *A, const elem *B, elem *C, elem alpha, elem beta) {
    elem *a = spm_alloc(BYTES(ALL)), *b = spm_alloc(BYTES(ALL)), *c = spm_alloc(BYTES(ALL));
    copy_in(a, A, BYTES(ALL));
    copy_in(b, B, BYTES(ALL));
    copy_in(c, C, BYTES(ALL));
    copies_done();
#pragma omp parallel for collapse(2)
    for (count i = 0; i < N; i++)
        for (count j = 0; j < N; j++) {
            c[i * N + j] *= beta;
            for (count k = 0; k < N; k++) c[i * N + j] += alpha * a[i * N + k] * b[k * N + j];
        }
    copy_out(C, c, BYTES(ALL));
    copies_done();
    spm_free_all();
}

static void times_vector(const elem *A, const elem *X, elem *Y) {
    elem *a = spm_alloc(BYTES(ALL)), *x = spm_alloc(BYTES(N)), *y = spm_alloc(BYTES(N));
    copy_in(a, A, BYTES(ALL));
    copy_in(x, X, BYTES(N));
    copies_done();
#pragma omp parallel for
    for (count i = 0; i < N; i++) {
        y[i] = 0;
        for (count j = 0; j < N; j++) y[i] += a[i * N + j] * x[j];
    }
    copy_out(Y, y, BYTES(N));
    copies_done();
    spm_free_all();
}

static void transposed_times_vector(const elem *A, const elem *X, elem *Y) {
    elem *a = spm_alloc(BYTES(ALL)), *x = spm_alloc(BYTES(N)), *y = spm_alloc(BYTES(N));
    copy_in(a, A, BYTES(ALL));
    copy_in(x, X, BYTES(N));
    copies_done();
#pragma omp parallel for
    for (count i = 0; i < N; i++) {
        y[i] = 0;
        for (count j = 0; j < N; j++) y[i] += a[j * N + i] * x[j];
    }
    copy_out(Y, y, BYTES(N));
    copies_done();
    spm_free_all();
}

void __ferry_k_gemm(void *const *slots) { product(slots[0], slots[1], slots[2], 3, 2); }

void __ferry_k_mm2(void *const *slots) {
    product(slots[0], slots[1], slots[2], 3, 0);
    product(slots[2], slots[1], slots[3], 1, 2);
}

void __ferry_k_mm3(void *const *slots) {
    product(slots[0], slots[1], slots[2], 1, 0);
    product(slots[1], slots[0], slots[3], 1, 0);
    product(slots[2], slots[3], slots[0], 1, 0);
}

void __ferry_k_atax(void *const *slots) {
    times_vector(slots[0], slots[1], slots[2]);
    transposed_times_vector(slots[0], slots[2], slots[3]);
}

void __ferry_k_bicg(void *const *slots) {
    times_vector(slots[0], slots[1], slots[2]);
    transposed_times_vector(slots[0], (elem *)slots[1] + N, slots[3]);
}

void __ferry_k_conv2d(void *const *slots) {
    elem *a = spm_alloc(BYTES(ALL)), *b = spm_alloc(BYTES(ALL));
    copy_in(a, slots[0], BYTES(ALL));
    copies_done();
#pragma omp parallel for collapse(2)
    for (count i = 0; i < N - 2; i++)
        for (count j = 1; j < N - 1; j++)
            b[i * N + j] = 2 * a[i * N + j - 1] + 5 * a[i * N + j] - 8 * a[i * N + j + 1] - 3 * a[(i + 1) * N + j - 1] +
                           6 * a[(i + 1) * N + j] - 9 * a[(i + 1) * N + j + 1] + 4 * a[(i + 2) * N + j - 1] +
                           7 * a[(i + 2) * N + j] + a[(i + 2) * N + j + 1];
    elem *B = slots[1];
    for (count i = 0; i < N - 2; i++) copy_out(B + (i + 1) * N + 1, b + i * N + 1, BYTES(N - 2));
    copies_done();
    spm_free_all();
}

void __ferry_k_covar(void *const *slots) {
    elem *d = spm_alloc(BYTES(ALL)), *s = spm_alloc(BYTES(ALL)), *mean = spm_alloc(BYTES(N));
    copy_in(d, slots[0], BYTES(ALL));
    copies_done();
#pragma omp parallel
    {
#pragma omp for
        for (count j = 0; j < N; j++) {
            mean[j] = 0;
            for (count i = 0; i < N; i++) mean[j] += d[i * N + j];
            mean[j] /= N;
        }
#pragma omp for
        for (count i = 0; i < N; i++)
            for (count j = 0; j < N; j++) d[i * N + j] -= mean[j];
#pragma omp for
        for (count p = 0; p < N; p++)
            for (count q = p; q < N; q++) {
                s[p * N + q] = 0;
                for (count i = 0; i < N; i++) s[p * N + q] += d[i * N + p] * d[i * N + q];
                s[q * N + p] = s[p * N + q];
            }
    }
    copy_out(slots[1], s, BYTES(ALL));
    copies_done();
    spm_free_all();
}
