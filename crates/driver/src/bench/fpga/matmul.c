// The product of two matrices.
#include "support.h"
#ifndef N
#define N 40
#endif

static float a[N][N], b[N][N], c[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = part();
            b[i][j] = part();
        }
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1) copyin(a, b) copyout(c)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
#pragma acc loop reduction(+: sum)
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    show_floats("c", &c[0][0], (long)N * N);
    return 0;
}
