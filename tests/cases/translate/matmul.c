// run: translate --to openacc --optimize gpu --profile nvc-acc
// run: translate --to openacc --optimize cpu
// run: translate --to openmp --optimize gpu --profile clang
// run: translate --to openmp --optimize cpu
// A product of matrices with one word on the outermost loop: all of two loops at once on a GPU, sums in order.
enum { M = 900, N = 800, P = 700 };

void product(float *restrict a, const float *restrict b, const float *restrict c) {
    int i, j, k;
#pragma acc parallel loop copyout(a[0:M * N]) copyin(b[0:M * P], c[0:P * N])
    for (i = 0; i < M; i++) {
        for (j = 0; j < N; j++) {
            float sum = 0.0F;
            for (k = 0; k < P; k++)
                sum += b[i * P + k] * c[k * N + j];
            a[i * N + j] = sum;
        }
    }
}
