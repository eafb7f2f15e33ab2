// Each point becomes the mean of its neighbours.
#include "support.h"
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 2
#endif

static float a[N][N], b[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = part();
#pragma acc data copy(a) create(b)
    for (int t = 0; t < STEPS; t++) {
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) * 0.25f;
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = b[i][j];
    }
    show_floats("a", &a[0][0], (long)N * N);
    return 0;
}
