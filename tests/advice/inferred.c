// Data that no clause names: its extent is inferred, and its copies are looked at all the same.
#include <stdio.h>

static void blur(int n, const float *restrict in, float *restrict out, float *restrict rest) {
#pragma acc kernels
    {
        for (int i = 1; i < n - 1; i++)
            out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
    }
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        rest[i] += out[i];
}

int main(void) {
    float in[50], out[50], rest[50];
    for (int i = 0; i < 50; i++) {
        in[i] = i * i % 11;
        out[i] = -1;
        rest[i] = i;
    }
    for (int round = 0; round < 3; round++)
        blur(50, in, out, rest);
    for (int i = 0; i < 50; i += 7)
        printf("%.5f %.5f %.5f\n", in[i], out[i], rest[i]);
    return 0;
}
