// Finite differences in three dimensions: three neighbours to each side.
#include "support.h"
#ifndef D
#define D 40
#endif
#define R 3

static float in[D][D][D], out[D][D][D];

int main(void) {
    const float c0 = 0.5f, c1 = 0.05f, c2 = 0.02f, c3 = 0.01f;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++)
                in[i][j][k] = part();
#pragma acc parallel loop collapse(3) num_gangs(1) num_workers(1) vector_length(1) copyin(in) copy(out)
    for (int i = R; i < D - R; i++)
        for (int j = R; j < D - R; j++)
            for (int k = R; k < D - R; k++) {
                float one = in[i][j][k - 1] + in[i][j][k + 1] + in[i][j - 1][k] + in[i][j + 1][k] + in[i - 1][j][k] +
                            in[i + 1][j][k];
                float two = in[i][j][k - 2] + in[i][j][k + 2] + in[i][j - 2][k] + in[i][j + 2][k] + in[i - 2][j][k] +
                            in[i + 2][j][k];
                float three = in[i][j][k - 3] + in[i][j][k + 3] + in[i][j - 3][k] + in[i][j + 3][k] +
                              in[i - 3][j][k] + in[i + 3][j][k];
                out[i][j][k] = c0 * in[i][j][k] + c1 * one + c2 * two + c3 * three;
            }
    show_floats("out", &out[0][0][0], (long)D * D * D);
    return 0;
}
