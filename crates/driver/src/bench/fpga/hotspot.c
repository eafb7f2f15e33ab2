// Heat in a chip: each cell follows its neighbours and its own power; cells at the edges have fewer neighbours.
#include "support.h"
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 2
#endif

static float temp[N][N], next[N][N], power[N][N];

int main(void) {
    const float step = 0.02f, rx = 0.3f, ry = 0.4f, rz = 0.05f, around = 80.0f;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            temp[i][j] = 320.0f + 10.0f * part();
            power[i][j] = part();
        }
#pragma acc data copy(temp) copyin(power) create(next)
    for (int t = 0; t < STEPS; t++) {
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                float delta;
                if (i == 0)
                    delta = step * (power[i][j] + (temp[i + 1][j] - temp[i][j]) * ry + (around - temp[i][j]) * rz);
                else if (i == N - 1)
                    delta = step * (power[i][j] + (temp[i - 1][j] - temp[i][j]) * ry + (around - temp[i][j]) * rz);
                else if (j == 0)
                    delta = step * (power[i][j] + (temp[i][j + 1] - temp[i][j]) * rx + (around - temp[i][j]) * rz);
                else if (j == N - 1)
                    delta = step * (power[i][j] + (temp[i][j - 1] - temp[i][j]) * rx + (around - temp[i][j]) * rz);
                else
                    delta = step * (power[i][j] + (temp[i + 1][j] + temp[i - 1][j] - 2.0f * temp[i][j]) * ry +
                                    (temp[i][j + 1] + temp[i][j - 1] - 2.0f * temp[i][j]) * rx +
                                    (around - temp[i][j]) * rz);
                next[i][j] = temp[i][j] + delta;
            }
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                temp[i][j] = next[i][j];
    }
    show_floats("temp", &temp[0][0], (long)N * N);
    return 0;
}
