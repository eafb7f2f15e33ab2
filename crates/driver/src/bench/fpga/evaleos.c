// The equation of state of a shock: energy, pressure and viscosity of each element, in half steps. One region.
#include <math.h>

#include "support.h"
#ifndef N
#define N 100
#endif

static float e_old[N], delvc[N], p_old[N], q_old[N], compression[N], half_compression[N], qq[N], ql[N], work[N];
static float e_new[N], p_new[N], q_new[N], half[N], bvc[N], pbvc[N];

int main(void) {
    const float e_cut = 1e-7f, p_cut = 1e-7f, q_cut = 1e-7f, e_min = -1e15f, p_min = 0, rho0 = 1;
    for (int i = 0; i < N; i++) {
        e_old[i] = part();
        delvc[i] = part() - 0.5f;
        p_old[i] = part();
        q_old[i] = part();
        compression[i] = part();
        half_compression[i] = part();
        qq[i] = part();
        ql[i] = part();
        work[i] = 0;
    }
#pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) copyin(e_old, delvc, p_old, q_old, compression) \
    copyin(half_compression, qq, ql, work) copyout(e_new, p_new, q_new) create(half, bvc, pbvc)
    {
#pragma acc loop
        for (int i = 0; i < N; i++) {
            float e = e_old[i] - 0.5f * delvc[i] * (p_old[i] + q_old[i]) + 0.5f * work[i];
            e_new[i] = e < e_min ? e_min : e;
        }
#pragma acc loop
        for (int i = 0; i < N; i++) {
            bvc[i] = 2.0f / 3.0f * (half_compression[i] + 1);
            pbvc[i] = 2.0f / 3.0f;
            float p = bvc[i] * e_new[i];
            p = fabsf(p) < p_cut ? 0 : p;
            half[i] = p < p_min ? p_min : p;
        }
#pragma acc loop
        for (int i = 0; i < N; i++) {
            float v = 1.0f / (1.0f + half_compression[i]), q = 0;
            if (delvc[i] <= 0) {
                float ss = (pbvc[i] * e_new[i] + v * v * bvc[i] * half[i]) / rho0;
                ss = ss <= 0.1111111e-36f ? 0.3333333e-18f : sqrtf(ss);
                q = ss * ql[i] + qq[i];
            }
            q_new[i] = q;
            e_new[i] = e_new[i] + 0.5f * delvc[i] * (3.0f * (p_old[i] + q_old[i]) - 4.0f * (half[i] + q));
        }
#pragma acc loop
        for (int i = 0; i < N; i++) {
            float e = e_new[i] + 0.5f * work[i];
            e = fabsf(e) < e_cut ? 0 : e;
            e = e < e_min ? e_min : e;
            e_new[i] = e;
            bvc[i] = 2.0f / 3.0f * (compression[i] + 1);
            float p = bvc[i] * e;
            p = fabsf(p) < p_cut ? 0 : p;
            p_new[i] = p < p_min ? p_min : p;
        }
#pragma acc loop
        for (int i = 0; i < N; i++) {
            float q = q_new[i];
            if (delvc[i] <= 0) {
                float ss = (pbvc[i] * e_new[i] + bvc[i] * p_new[i]) / rho0;
                ss = ss <= 0.1111111e-36f ? 0.3333333e-18f : sqrtf(ss);
                q = ss * ql[i] + qq[i];
                q = fabsf(q) < q_cut ? 0 : q;
            }
            q_new[i] = q;
        }
    }
    show_floats("energy", e_new, N);
    show_floats("pressure", p_new, N);
    show_floats("viscosity", q_new, N);
    return 0;
}
