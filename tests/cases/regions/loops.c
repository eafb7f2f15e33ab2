// run: check
double a[100], b[10][10];

void forms(int n) {
    int i, j;
#pragma omp parallel for
    for (i = 1; i < n; i *= 2) a[i] = 0;
#pragma omp parallel for collapse(3)
    for (i = 0; i < 10; i++)
        for (j = 0; j < 10; j++) b[i][j] = 0;
#pragma acc parallel loop collapse(2)
    for (i = 0; i < 10; i++) {
        a[i] = 0;
        for (j = 0; j < 10; j++) b[i][j] = 0;
    }
#pragma omp parallel for collapse(2) schedule(static)
    for (i = 0; i < 10; i++)
        for (j = i; j < 10; j++) b[i][j] = 0;
}

int ways_out(int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[i] < 0) break;
        if (a[i] > 9) return i;
    }
    return 0;
}
