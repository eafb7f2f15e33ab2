// run: translate --to openmp --profile clang
// run: translate --to openmp --profile gcc
// How much a construct touches, said without branches, at which clang 19 breaks off in data regions.
void several(int n, int m, int k, double *restrict a, double *restrict b, double *restrict c) {
#pragma acc kernels
    {
        for (int i = 0; i < n; i++) a[i] += 1;
        for (int i = 0; i < m; i++) a[i] *= 2;
        for (int i = 1; i < n; i++) b[i] = a[i - 1];
    }
#pragma acc kernels
    {
        for (int i = k; i < n; i++) c[i] += 1;
        for (int i = k; i < m; i++) c[i] *= 2;
    }
}
void chosen(int n, int m, double *a) {
#pragma acc data copy(a[0:n > m ? n : m])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) a[i] += 2;
    }
#pragma acc data copy(a[0:sizeof(int) > 2 ? n : m])
    {
#pragma acc parallel loop copy(a[0:n > m || m < 3 ? n : m])
        for (int i = 0; i < n; i++) a[i] += 2;
    }
}
