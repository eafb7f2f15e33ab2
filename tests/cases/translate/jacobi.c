// run: translate --to openmp --optimize cpu
// run: translate --to openmp --optimize gpu --profile clang
// run: translate --to openmp --optimize gpu --profile gcc
// run: translate --to openacc --optimize gpu
// Two levels of threads, one for each of two loops, as a beginner writes them: cores want lanes inside, a GPU all
// iterations at once.
enum { SIZE = 2048 };
float a[SIZE + 2][SIZE + 2], b[SIZE + 2][SIZE + 2];

void relax(void) {
    int i, j;
#pragma omp target teams distribute num_teams(64) map(tofrom: a) map(to: b) // one sweep
    for (i = 1; i <= SIZE; i++)
#pragma omp parallel for
        for (j = 1; j <= SIZE; j++)
            a[i][j] = (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]) / 4.0f;

#pragma omp target teams distribute map(to: a) map(tofrom: b)
    for (i = 1; i <= SIZE; i++)
#pragma omp parallel for
        for (j = 1; j <= SIZE; j++)
            b[i][j] = a[i][j];
}

// As good as anything on a GPU: nothing changes there.
void good(void) {
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) map(to: a) map(tofrom: b)
    for (int i = 1; i <= SIZE; i++)
        for (int j = 1; j <= SIZE; j++)
            b[i][j] = a[i][j] * 2;
}
