// A transform in two dimensions: rows, handed on by channels to a region that transposes them, and rows again.
#include <math.h>

#include "support.h"
#ifndef LOG
#define LOG 4
#endif
#define N (1 << LOG)

static float re[N][N], im[N][N], wr[N][N], wi[N][N], vr[N][N], vi[N][N], cosine[N / 2], sine[N / 2];
static float t_re[N * N], t_im[N * N];
static int from[N];

int main(void) {
    for (int i = 0; i < N; i++) {
        int back = 0;
        for (int b = 0; b < LOG; b++)
            back |= (i >> b & 1) << (LOG - 1 - b);
        from[i] = back;
        for (int j = 0; j < N; j++) {
            re[i][j] = part();
            im[i][j] = part();
        }
    }
    for (int i = 0; i < N / 2; i++) {
        cosine[i] = (float)cos(-2 * 3.14159265358979323846 * i / N);
        sine[i] = (float)sin(-2 * 3.14159265358979323846 * i / N);
    }
#pragma acc data copyin(re, im, from, cosine, sine) copyout(vr, vi) create(wr, wi) pipe(t_re[0:N * N], t_im[0:N * N])
    {
#pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) pipeout(t_re, t_im)
        {
#pragma acc loop collapse(2)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    wr[i][j] = re[i][from[j]];
                    wi[i][j] = im[i][from[j]];
                }
#pragma acc loop seq
            for (int s = 0; s < LOG; s++) {
#pragma acc loop independent collapse(2)
                for (int i = 0; i < N; i++)
                    for (int k = 0; k < N / 2; k++) {
                        int low = k & ((1 << s) - 1), a = (k >> s << (s + 1)) + low, b = a + (1 << s);
                        float c = cosine[low << (LOG - 1 - s)], d = sine[low << (LOG - 1 - s)];
                        float x = wr[i][b] * c - wi[i][b] * d, y = wr[i][b] * d + wi[i][b] * c;
                        float p = wr[i][a], q = wi[i][a];
                        wr[i][a] = p + x;
                        wi[i][a] = q + y;
                        wr[i][b] = p - x;
                        wi[i][b] = q - y;
                    }
            }
#pragma acc loop
            for (int k = 0; k < N * N; k++) {
                t_re[k] = wr[k / N][k % N];
                t_im[k] = wi[k / N][k % N];
            }
        }
#pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) pipein(t_re, t_im)
        {
#pragma acc loop
            for (int k = 0; k < N * N; k++) {
                vr[k % N][from[k / N]] = t_re[k];
                vi[k % N][from[k / N]] = t_im[k];
            }
#pragma acc loop seq
            for (int s = 0; s < LOG; s++) {
#pragma acc loop independent collapse(2)
                for (int i = 0; i < N; i++)
                    for (int k = 0; k < N / 2; k++) {
                        int low = k & ((1 << s) - 1), a = (k >> s << (s + 1)) + low, b = a + (1 << s);
                        float c = cosine[low << (LOG - 1 - s)], d = sine[low << (LOG - 1 - s)];
                        float x = vr[i][b] * c - vi[i][b] * d, y = vr[i][b] * d + vi[i][b] * c;
                        float p = vr[i][a], q = vi[i][a];
                        vr[i][a] = p + x;
                        vi[i][a] = q + y;
                        vr[i][b] = p - x;
                        vi[i][b] = q - y;
                    }
            }
        }
    }
    show_floats("re", &vr[0][0], (long)N * N);
    show_floats("im", &vi[0][0], (long)N * N);
    return 0;
}
