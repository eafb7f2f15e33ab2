// Compressible flow on an unstructured grid: a step for each cell, fluxes over its four faces, and the new state.
#include <math.h>

#include "support.h"
#ifndef N
#define N 96
#endif
#ifndef STEPS
#define STEPS 2
#endif
#define FACES 4
#define GAMMA 1.4f

static float density[N], mx[N], my[N], mz[N], energy[N], area[N], step[N];
static float fd[N], fx[N], fy[N], fz[N], fe[N];
static float nx[N * FACES], ny[N * FACES], nz[N * FACES];
static int next_to[N * FACES];

int main(void) {
    for (int i = 0; i < N; i++) {
        density[i] = 1.0f + 0.1f * part();
        mx[i] = part();
        my[i] = part();
        mz[i] = part();
        energy[i] = 5.0f + part();
        area[i] = 1.0f + part();
        for (int f = 0; f < FACES; f++) {
            next_to[i * FACES + f] = (int)some(N);
            nx[i * FACES + f] = part() - 0.5f;
            ny[i * FACES + f] = part() - 0.5f;
            nz[i * FACES + f] = part() - 0.5f;
        }
    }
#pragma acc data copy(density, mx, my, mz, energy) copyin(area, nx, ny, nz, next_to) create(step, fd, fx, fy, fz, fe)
    for (int t = 0; t < STEPS; t++) {
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++) {
            float d = density[i], ux = mx[i] / d, uy = my[i] / d, uz = mz[i] / d;
            float square = ux * ux + uy * uy + uz * uz;
            float pressure = (GAMMA - 1) * (energy[i] - 0.5f * d * square);
            step[i] = 0.5f / (sqrtf(area[i]) * (sqrtf(square) + sqrtf(GAMMA * pressure / d)));
        }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++) {
            float d = density[i], ux = mx[i] / d, uy = my[i] / d, uz = mz[i] / d;
            float p = (GAMMA - 1) * (energy[i] - 0.5f * d * (ux * ux + uy * uy + uz * uz));
            float sd = 0, sx = 0, sy = 0, sz = 0, se = 0;
            for (int f = 0; f < FACES; f++) {
                int k = next_to[i * FACES + f];
                float ax = nx[i * FACES + f], ay = ny[i * FACES + f], az = nz[i * FACES + f];
                float od = density[k], ox = mx[k] / od, oy = my[k] / od, oz = mz[k] / od;
                float op = (GAMMA - 1) * (energy[k] - 0.5f * od * (ox * ox + oy * oy + oz * oz));
                float size = sqrtf(ax * ax + ay * ay + az * az);
                float factor = -size * 0.2f * 0.5f * (sqrtf(p * GAMMA / d) + sqrtf(op * GAMMA / od));
                float mine = ux * ax + uy * ay + uz * az, other = ox * ax + oy * ay + oz * az;
                sd += factor * (d - od) + 0.5f * (d * mine + od * other);
                sx += factor * (mx[i] - mx[k]) + 0.5f * (mx[i] * mine + mx[k] * other + (p + op) * ax);
                sy += factor * (my[i] - my[k]) + 0.5f * (my[i] * mine + my[k] * other + (p + op) * ay);
                sz += factor * (mz[i] - mz[k]) + 0.5f * (mz[i] * mine + mz[k] * other + (p + op) * az);
                se += factor * (energy[i] - energy[k]) + 0.5f * ((energy[i] + p) * mine + (energy[k] + op) * other);
            }
            fd[i] = sd;
            fx[i] = sx;
            fy[i] = sy;
            fz[i] = sz;
            fe[i] = se;
        }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)
        for (int i = 0; i < N; i++) {
            float by = 0.1f * step[i];
            density[i] += by * fd[i];
            mx[i] += by * fx[i];
            my[i] += by * fy[i];
            mz[i] += by * fz[i];
            energy[i] += by * fe[i];
        }
    }
    show_floats("density", density, N);
    show_floats("energy", energy, N);
    return 0;
}
