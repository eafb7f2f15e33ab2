// A transform of Fourier in three regions that hand data on by channels: in the order of reversed bits, stages, scaled.
#include <math.h>

#include "support.h"
#ifndef LOG
#define LOG 6
#endif
#define N (1 << LOG)

static float re[N], im[N], out_re[N], out_im[N], wr[N], wi[N], cosine[N / 2], sine[N / 2], t_re[N], t_im[N];
static float u_re[N], u_im[N];
static int from[N];

int main(void) {
    for (int i = 0; i < N; i++) {
        re[i] = part();
        im[i] = part();
        int back = 0;
        for (int b = 0; b < LOG; b++)
            back |= (i >> b & 1) << (LOG - 1 - b);
        from[i] = back;
    }
    for (int i = 0; i < N / 2; i++) {
        cosine[i] = (float)cos(-2 * 3.14159265358979323846 * i / N);
        sine[i] = (float)sin(-2 * 3.14159265358979323846 * i / N);
    }
#pragma acc data copyin(re, im, from, cosine, sine) copyout(out_re, out_im) create(wr, wi) \
    pipe(t_re[0:N], t_im[0:N], u_re[0:N], u_im[0:N])
    {
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipeout(t_re, t_im)
        for (int i = 0; i < N; i++) {
            t_re[i] = re[from[i]];
            t_im[i] = im[from[i]];
        }
#pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) pipein(t_re, t_im) pipeout(u_re, u_im)
        {
#pragma acc loop
            for (int i = 0; i < N; i++) {
                wr[i] = t_re[i];
                wi[i] = t_im[i];
            }
#pragma acc loop seq
            for (int s = 0; s < LOG; s++) {
#pragma acc loop independent
                for (int k = 0; k < N / 2; k++) {
                    int low = k & ((1 << s) - 1), a = (k >> s << (s + 1)) + low, b = a + (1 << s);
                    float c = cosine[low << (LOG - 1 - s)], d = sine[low << (LOG - 1 - s)];
                    float x = wr[b] * c - wi[b] * d, y = wr[b] * d + wi[b] * c;
                    float p = wr[a], q = wi[a];
                    wr[a] = p + x;
                    wi[a] = q + y;
                    wr[b] = p - x;
                    wi[b] = q - y;
                }
            }
#pragma acc loop
            for (int i = 0; i < N; i++) {
                u_re[i] = wr[i];
                u_im[i] = wi[i];
            }
        }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipein(u_re, u_im)
        for (int i = 0; i < N; i++) {
            out_re[i] = u_re[i] * (1.0f / N);
            out_im[i] = u_im[i] * (1.0f / N);
        }
    }
    show_floats("re", out_re, N);
    show_floats("im", out_im, N);
    return 0;
}
