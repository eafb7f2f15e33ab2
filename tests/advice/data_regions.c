// Data regions, with host code and updates inside.
#include <stdio.h>

static double fill(int n, double *restrict x, double *restrict y, double *restrict z) {
    double found = 0;
#pragma acc data copy(x[0:n], y[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            y[i] += x[i];
    }
    // The host changes `z` meanwhile, and the copy back undoes it.
#pragma acc data copy(z[0:n])
    {
        z[3] = 1000;
#pragma acc parallel loop copy(y[0:n])
        for (int i = 0; i < n; i++)
            y[i] += z[i];
    }
#pragma acc data copy(x[0:n])
    {
        x[1] = 50;
#pragma acc update device(x[0:n])
#pragma acc parallel loop reduction(+:found)
        for (int i = 0; i < n; i++)
            found += x[i];
    }
    return found;
}

int main(void) {
    double x[20], y[20], z[20];
    for (int i = 0; i < 20; i++) {
        x[i] = i;
        y[i] = 1;
        z[i] = 0.5 * i;
    }
    printf("%g\n", fill(20, x, y, z));
    for (int i = 0; i < 20; i++)
        printf("%g %g %g\n", x[i], y[i], z[i]);
    return 0;
}
