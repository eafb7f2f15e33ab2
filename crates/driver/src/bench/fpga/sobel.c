// Edges of an image: a stencil of nine integers.
#include "support.h"
#ifndef W
#define W 64
#define H 24
#endif

static int in[H][W], out[H][W];

int main(void) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++)
            in[i][j] = (int)some(256);
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1) copyin(in) copy(out)
    for (int i = 1; i < H - 1; i++)
        for (int j = 1; j < W - 1; j++) {
            int x = in[i - 1][j + 1] - in[i - 1][j - 1] + 2 * (in[i][j + 1] - in[i][j - 1]) + in[i + 1][j + 1] -
                    in[i + 1][j - 1];
            int y = in[i + 1][j - 1] - in[i - 1][j - 1] + 2 * (in[i + 1][j] - in[i - 1][j]) + in[i + 1][j + 1] -
                    in[i - 1][j + 1];
            int sum = (x < 0 ? -x : x) + (y < 0 ? -y : y);
            out[i][j] = sum > 255 ? 255 : sum;
        }
    show_ints("out", &out[0][0], (long)H * W);
    return 0;
}
