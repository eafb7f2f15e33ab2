// run: translate --to openacc --partial
// Sections behind a lock that only sum up are indivisible accesses; others are refused.
enum { N = 1000, BINS = 16 };

void histogram(int *restrict bins, double *restrict weight, const int *restrict key) {
    int total = 0;
#pragma omp target teams distribute parallel for map(tofrom: bins[0:BINS], weight[0:BINS], total) map(to: key[0:N])
    for (int i = 0; i < N; i++) {
#pragma omp critical
        {
            bins[key[i]]++;
            if (i % 2) weight[key[i]] += 0.5;
        }
#pragma omp critical(other)
        total += 1;
    }
}

void columns(double sums[4], double a[N][4]) {
#pragma omp target teams distribute parallel for map(tofrom: sums[0:4]) map(to: a[0:N])
    for (int i = 0; i < N; i++) {
#pragma omp critical
        for (int j = 0; j < 4; j++) sums[j] += a[i][j];
    }
}

void places(int *restrict next, int *restrict slot, const int *restrict key) {
#pragma omp target teams distribute parallel for map(tofrom: next[0:BINS], slot[0:N]) map(to: key[0:N])
    for (int i = 0; i < N; i++) {
        // The value is used in the same turn.
#pragma omp critical
        {
            slot[i] = next[key[i]];
            next[key[i]] += 1;
        }
    }
}

void pairs(int *restrict one, int *restrict two, int *apart) {
#pragma omp target teams distribute parallel for map(tofrom: one[0:1], two[0:1], apart[0:1])
    for (int i = 0; i < N; i++) {
        // The other section counts on both at once.
#pragma omp critical
        {
            one[0] += 1;
            two[0] += 1;
        }
#pragma omp critical
        apart[0] += one[0] != two[0];
    }
}
