// run: explain
// run: explain --json
// run: explain --sarif
float scale(float x);

void saxpy(int n, float a, const float *x, float *y) {
    float largest = 0;
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n]) reduction(max: largest)
    for (int i = 0; i < n; i++) {
        y[i] = a * x[i] + scale(y[i]);
        if (y[i] > largest) largest = y[i];
    }
    static double table[64];
#pragma acc data copy(table)
    {
#pragma acc parallel loop gang vector
        for (int i = 63; i >= 0; i -= 2) table[i] *= a;
    }
}
