// run: translate --to openmp
// run: translate --to openmp --no-queues
// Queues become dependences on objects of the header.
#include <openacc.h>
void h(int n, int q, float *restrict a, float *restrict b) {
#pragma acc enter data copyin(a[0:n], b[0:n]) async(1)
#pragma acc parallel loop present(a[0:n]) async(1)
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma acc parallel loop present(a[0:n], b[0:n]) async(q) wait(1)
    for (int i = 0; i < n; i++) b[i] += a[i];
#pragma acc parallel loop present(a[0:n]) async(acc_async_sync)
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma acc wait(1) async(q)
#pragma acc wait(q)
#pragma acc exit data copyout(a[0:n], b[0:n]) async
#pragma acc wait
    if (acc_async_test(1)) a[0] = 0;
}
