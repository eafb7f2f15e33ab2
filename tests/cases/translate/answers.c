// run: translate --to openacc
// Copies that answer whether they were made have counterparts that answer nothing.
#include <omp.h>
int f(int n, double a[n]) {
    double *there = omp_target_alloc(n * sizeof *a, omp_get_default_device());
    omp_target_memcpy(there, a, n * sizeof *a, 0, 0, omp_get_default_device(), omp_get_initial_device());
#pragma omp target teams distribute parallel for is_device_ptr(there)
    for (int i = 0; i < n; i++) there[i] *= 2;
    int bad = omp_target_memcpy(a, there, n * sizeof *a, 0, 0, omp_get_initial_device(), omp_get_default_device());
    omp_target_free(there, omp_get_default_device());
    return bad;
}
