// run: translate --to openmp
// run: translate --to openacc
// Calls that only the header can say keep it; so do types, and what a macro makes.
#include <openacc.h>
#include <omp.h>
#include <stdlib.h>
#define GIVE(n) acc_malloc(n)
acc_device_t type;
int sizes(void *a, unsigned long n) {
    void *there = GIVE(n);
    acc_memcpy_device(there, a, n /* bytes */);
    void *other = omp_target_alloc(n, omp_get_default_device());
    omp_target_memcpy(other, a, n, 0, 0, omp_get_default_device(), omp_get_initial_device());
    omp_target_free(other, 1);
    putenv("OMP_DEFAULT_DEVICE=2");
    return acc_is_present(a, n) + acc_get_num_devices(type) + omp_get_num_devices();
}
