// Speckles of an image are smoothed: a sum over all of it, then two stencils.
#include "support.h"
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 2
#endif

static float image[N][N], c[N][N], north[N][N], south[N][N], west[N][N], east[N][N];

int main(void) {
    const float lambda = 0.5f;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            image[i][j] = 1.0f + part();
#pragma acc data copy(image) create(c, north, south, west, east)
    for (int t = 0; t < STEPS; t++) {
        float sum = 0, squares = 0;
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) reduction(+: sum, squares)
        for (int k = 0; k < N * N; k++) {
            float it = image[k / N][k % N];
            sum += it;
            squares += it * it;
        }
        float mean = sum / (N * N), q0 = (squares / (N * N) - mean * mean) / (mean * mean);
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                float it = image[i][j];
                float n = image[i > 0 ? i - 1 : 0][j] - it, s = image[i < N - 1 ? i + 1 : N - 1][j] - it;
                float w = image[i][j > 0 ? j - 1 : 0] - it, e = image[i][j < N - 1 ? j + 1 : N - 1] - it;
                float g = (n * n + s * s + w * w + e * e) / (it * it), l = (n + s + w + e) / it;
                float num = 0.5f * g - 0.0625f * (l * l), den = 1 + 0.25f * l;
                float q = num / (den * den);
                float k = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
                c[i][j] = k < 0 ? 0 : k > 1 ? 1 : k;
                north[i][j] = n;
                south[i][j] = s;
                west[i][j] = w;
                east[i][j] = e;
            }
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                float here = c[i][j], below = c[i < N - 1 ? i + 1 : N - 1][j], right = c[i][j < N - 1 ? j + 1 : N - 1];
                float d = here * north[i][j] + below * south[i][j] + here * west[i][j] + right * east[i][j];
                image[i][j] += 0.25f * lambda * d;
            }
    }
    show_floats("image", &image[0][0], (long)N * N);
    return 0;
}
