// run: explain
// run: explain --json
double sqrt(double);
double wait_for(int);

void row_sums(int n, int m, double a[restrict n][m], double *restrict sums, double *x, double *y) {
    int i, j;
    double sum, largest = 0;
#pragma acc kernels copy(a[0:n], sums[0:n]) copy(x[0:n], y[0:n])
    {
        for (i = 0; i < n; i++) {
            sum = 0;
            for (j = 0; j < m; j++)
                sum += a[i][j];
            sums[i] = sqrt(sum);
            if (sums[i] > largest) largest = sums[i];
        }
        for (i = 1; i < n; i++)
            for (j = 0; j < m; j++)
                a[i][j] = a[i - 1][j] / largest;
        for (i = 0; i < n; i++)
            x[i] = y[i];
        for (i = 0; i < n; i++)
            sums[i] = wait_for(i);
    }
#pragma acc parallel loop auto copy(sums[0:2*n])
    for (i = 0; i < n; i++)
        sums[i] = sums[i + n];
}
