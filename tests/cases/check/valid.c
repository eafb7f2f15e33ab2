// run: check --summary
// run: check --summary --model ilp32
#include <stdio.h>
#include <omp.h>
#include <openacc.h>

_Static_assert(sizeof(int) == 4, "the same in every model");

int main(void) {
    enum { N = 1000 };
    double a[N], sum = 0;
#pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < N; i++) a[i] = i;
#pragma acc parallel loop copyin(a) reduction(+: sum)
    for (int i = 0; i < N; i++) sum += a[i];
    printf("%g on %d devices\n", sum, omp_get_num_devices() + acc_get_num_devices(acc_device_default));
    return 0;
}
