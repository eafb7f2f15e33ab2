// run: translate --to openmp
// run: translate --to openmp --partial --diff
// run: translate --to openmp --report sarif
// What has no counterpart is refused by name, and the file stays as it is.
#include <openacc.h>
#define REGION _Pragma("acc parallel loop") for
void *acc_set_cuda_stream(int, void *);
void g(int n, float *restrict a) {
    float fixed[4];
#pragma acc data no_create(fixed)
    {
#pragma acc parallel loop collapse(force: 2) copy(a[0:n])
        for (int i = 0; i < n; i++) {
            int k = i;
            for (int j = 0; j < 4; j++) a[k] += j;
        }
    }
    REGION (int i = 0; i < n; i++) a[i] = 0;
    acc_set_cuda_stream(1, a);
#ifdef NEVER
#pragma acc wait
#endif
#pragma acc wait
}
