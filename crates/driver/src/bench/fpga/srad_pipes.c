// Speckles of an image are smoothed: what one region computes goes to the next by channels.
#include "support.h"
#ifndef N
#define N 40
#endif
#define S (N * N)

static float image[N][N], c[N][N], north[S], south[S], west[S], east[S], stream[S];

int main(void) {
    const float lambda = 0.5f;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            image[i][j] = 1.0f + part();
    float sum = 0, squares = 0;
#pragma acc data copy(image) create(c) pipe(stream[0:S], north[0:S], south[0:S], west[0:S], east[0:S])
    {
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipeout(stream)
        for (int k = 0; k < S; k++)
            stream[k] = image[k / N][k % N];
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) reduction(+: sum, squares) pipein(stream)
        for (int k = 0; k < S; k++) {
            float it = stream[k];
            sum += it;
            squares += it * it;
        }
        float mean = sum / S, q0 = (squares / S - mean * mean) / (mean * mean);
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipeout(north, south, west, east)
        for (int m = 0; m < S; m++) {
            int i = m / N, j = m % N;
            float it = image[i][j];
            float n = image[i > 0 ? i - 1 : 0][j] - it, s = image[i < N - 1 ? i + 1 : N - 1][j] - it;
            float w = image[i][j > 0 ? j - 1 : 0] - it, e = image[i][j < N - 1 ? j + 1 : N - 1] - it;
            float g = (n * n + s * s + w * w + e * e) / (it * it), l = (n + s + w + e) / it;
            float num = 0.5f * g - 0.0625f * (l * l), den = 1 + 0.25f * l;
            float q = num / (den * den);
            float k = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
            c[i][j] = k < 0 ? 0 : k > 1 ? 1 : k;
            north[m] = n;
            south[m] = s;
            west[m] = w;
            east[m] = e;
        }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipein(north, south, west, east)
        for (int m = 0; m < S; m++) {
            int i = m / N, j = m % N;
            float here = c[i][j], below = c[i < N - 1 ? i + 1 : N - 1][j], right = c[i][j < N - 1 ? j + 1 : N - 1];
            float d = here * north[m] + below * south[m] + here * west[m] + right * east[m];
            image[i][j] += 0.25f * lambda * d;
        }
    }
    show_floats("image", &image[0][0], S);
    return 0;
}
