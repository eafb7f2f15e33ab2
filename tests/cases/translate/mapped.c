// run: translate --to openmp --optimize h200
// run: translate --to openmp --optimize cpu --report json
// Loops that are left to the compiler, and nests that are better otherwise, or not at all.
enum { ROWS = 64, COLS = 100000, PIXELS = 32768, SAMPLES = 1024 };
double t[ROWS][COLS], s[ROWS];

void found(void) {
    // Levels are named; what depends on its order stays in order.
#pragma acc kernels copy(t)
    {
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++) t[i][j] = i + j;
        for (int j = 1; j < COLS; j++) t[0][j] += t[0][j - 1];
    }
#pragma acc parallel loop auto copy(t)
    for (int i = 0; i < ROWS; i++) {
#pragma acc loop auto
        for (int j = 0; j < COLS; j++) t[i][j] *= 2;
    }
}

void long_rows(void) {
    // Few rows, long ones: threads of a team share a row.
#pragma omp target teams distribute parallel for map(to: t) map(from: s)
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
#pragma omp simd reduction(+: sum)
        for (int j = 0; j < COLS; j++) sum += t[i][j];
        s[i] = sum;
    }
}

void pixels(float *restrict q, const float *restrict x, const float *restrict k) {
    // Very many pixels: no threads for the small sum inside.
#pragma omp target teams distribute map(from: q[0:PIXELS]) map(to: x[0:PIXELS], k[0:SAMPLES])
    for (int i = 0; i < PIXELS; i++) {
        float sum = 0;
#pragma omp parallel for reduction(+: sum)
        for (int j = 0; j < SAMPLES; j++) sum += k[j] * x[i];
        q[i] = sum;
    }
}

int omp_get_thread_num(void);
#pragma omp declare target
int counted(void);
#pragma omp end declare target
void asks(void) {
    // The function inside may want to know who calls it.
#pragma omp target teams distribute map(tofrom: t)
    for (int i = 0; i < ROWS; i++) {
#pragma omp parallel for
        for (int j = 0; j < COLS; j++) t[i][j] += counted();
    }
}
#pragma omp declare target
int counted(void) { return omp_get_thread_num(); }
#pragma omp end declare target
