// run: explain --fpga=ecp5 %
// run: explain --fpga=ecp5 --after units %
// run: explain --fpga %
// What passes make of an inner sum, of neighbours in several rows, and of branches that compute nearly the same.
float a[64][48], b[48][40], c[64][40];
int in[100][80], out[100][80];
float heat[50][60], next[50][60];

void product(void) {
#pragma acc parallel loop collapse(2) num_gangs(1) num_workers(1) vector_length(1) copyin(a, b) copyout(c)
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 40; j++) {
            float sum = 0;
#pragma acc loop reduction(+: sum)
            for (int k = 0; k < 48; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

void blur(void) {
#pragma acc parallel loop collapse(2) copyin(in) copy(out)
    for (int i = 1; i < 99; i++)
        for (int j = 1; j < 79; j++)
            out[i][j] = in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1] - 4 * in[i][j];
}

void edges(float rx, float ry) {
#pragma acc parallel loop collapse(2) copyin(heat) copyout(next)
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 60; j++) {
            float delta;
            if (i >= 0 && j == 0)
                delta = (heat[i][j + 1] - heat[i][j]) * rx + heat[i][j] * ry;
            else if (j == 59)
                delta = (heat[i][j - 1] - heat[i][j]) * rx + heat[i][j] * ry;
            else
                delta = (heat[i][j - 1] + heat[i][j + 1] - 2 * heat[i][j]) * rx + heat[i][j] * ry;
            next[i][j] = heat[i][j] + delta;
        }
}

void stays(void) {
#pragma acc parallel loop collapse(2) copy(in)
    for (int i = 1; i < 99; i += 1)
        for (int j = 0; j < 80; j++)
            if (in[i][j] < 0)
                in[i][j] = in[i + 1][j] + in[i - 1][j];
}
