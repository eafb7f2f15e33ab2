// run: explain --fpga --given n=1024 --after single %
// run: explain --fpga --given n=1024 %
// run: explain --fpga=arria-10 --given n=1024 %
// run: explain --fpga=alveo-u250 --given n=1024 %
// What bounds the interval of a loop: the latency of an adder, a value that goes through memory, ports, or
// nothing; and what passes make of that.
float sum(int n, float *a) {
    float s = 0;
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) reduction(+: s) copyin(a[0:n])
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

void align(int n, int *restrict m, int *restrict r, int p) {
#pragma acc serial copy(m[0:n * n]) copyin(r[0:n * n])
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++) {
            int a = m[(i - 1) * n + j - 1] + r[i * n + j], b = m[i * n + j - 1] - p, c = m[(i - 1) * n + j] - p;
            int x = a > b ? a : b;
            m[i * n + j] = x > c ? x : c;
        }
}

void smooth(int n, float (*restrict a)[64], float (*restrict b)[64]) {
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n]) map(from: b[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < 63; j++)
            b[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j];
}
