// run: explain --profile cpu
// run: explain --profile cpu --json
// Subscripts that differ by a value which nobody knows: what would have to hold is told, and not used.
void shift(int m, int n, double *a) {
#pragma acc kernels loop copy(a[0:m+n])
    for (int i = 0; i < m; i++) a[i] = a[i + n] + 1;
}

void two(int m, int n, int k, double *a) {
#pragma acc kernels loop copy(a[0:m+n+k])
    for (int i = 0; i < m; i += 2) a[i] = a[i + n] + a[i + k];
}

void known(int m, double *a) {
    // A number is no condition.
#pragma acc kernels loop copy(a[0:m+1])
    for (int i = 0; i < m; i++) a[i] = a[i + 1] + 1;
}
