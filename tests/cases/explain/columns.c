// run: explain --profile cpu
// run: translate --to openmp --optimize cpu
// run: translate --to openacc --optimize cpu
// run: explain --profile cpu -- -O1
// All rows of a product read all of one matrix, more than a core's caches hold: every thread runs the rows whole and has
// columns of its own. There are no words for that in one of the standards.
enum { N = 500 };
double a[N][N], b[N][N], c[N][N];

void product(void) {
#pragma omp target teams distribute map(to: a, b) map(from: c)
    for (int i = 0; i < N; i++) {
#pragma omp parallel for
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}
