// run: explain --fpga --given n=100 %
// What is no pipeline, and what is only feared.
#include <stdlib.h>

void copies(int n, float *a, float *b) {
#pragma omp target map(to: a[0:n]) map(from: b[0:n])
    for (int i = 0; i < n; i++)
        b[i] = a[i] * 2;
}

void counts(int n, int *k, int *h) {
#pragma omp target teams distribute parallel for map(tofrom: h[0:16]) map(to: k[0:n])
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        h[k[i]]++;
    }
}

void calls(int n, int *a) {
#pragma omp target map(tofrom: a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = atoi("1");
}

int teams(void) {
    int t = 0;
#pragma omp target teams num_teams(4) map(tofrom: t)
    {
#pragma omp atomic
        t++;
    }
    return t;
}

int searches(int n, const int *a, int *found) {
#pragma omp target map(to: a[0:n]) map(tofrom: found[0:1])
    for (int i = 0; i < n; i++) {
        if (a[i] == 42) {
            found[0] = i;
            break;
        }
    }
    return found[0];
}
