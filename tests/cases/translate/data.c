// run: translate --to openmp --profile clang
// run: translate --to openmp --profile openmp-4.5
// Data, its counts, and what is found absent.
#include <stdlib.h>
void library(float *);
void life(int n, float *restrict a, float *restrict b) {
#pragma acc enter data copyin(a[0:n]) create(b[0:n])
#pragma acc update device(a[0:n]) self(b[0:n])
#pragma acc update self(a[0:n]) if_present
#pragma acc host_data use_device(a)
    library(a);
#pragma acc exit data delete(a[0:n])
#pragma acc exit data copyout(b[0:n]) finalize
}

void both(int n, float *restrict a, float *restrict b) {
    // One variable in two clauses has the copies of both.
#pragma acc data copyin(a[0:n]) copyout(a[0:n]) create(b[0:n])
    {
#pragma acc parallel loop present(a[0:n]) default(present)
        for (int i = 0; i < n; i++) a[i] = i;
    }
}

void fresh(int n, float *restrict a, float **rows) {
#pragma acc data create(zero: a[0:n]) copyin(rows[0:n][0:4])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) a[i] += rows[i][0];
    }
}

float table[8];
#pragma acc declare create(table)

#pragma acc routine seq
static float twice(float x) {
    return 2 * x;
}

float local(int n) {
    float kept[4] = {0};
#pragma acc declare copyin(kept)
#pragma acc parallel loop
    for (int i = 0; i < 4; i++) kept[i] = twice(n);
    if (n > 1) return 1;
    return 0;
}
