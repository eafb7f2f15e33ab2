// env: FERRY_DEVICE=cpu OMP_NUM_THREADS=4
// env: FERRY_DEVICE=cpu*3 OMP_NUM_THREADS=4 OMP_DEFAULT_DEVICE=2
// env: FERRY_DEVICE=cpu:copy OMP_NUM_THREADS=4
// env: FERRY_DEVICE=cpu:separate OMP_NUM_THREADS=4
// flags: -fopenmp
#include "ferry_test.h"
#include <omp.h>

KERNEL(where) {
    int *seen = args[0];
    seen[0] = omp_is_initial_device();
    seen[1] = omp_get_device_num();
    seen[2] = omp_get_level();
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
        seen[3] += 1 - omp_is_initial_device();
#pragma omp critical
        seen[4] = omp_get_device_num();
    }
    seen[5] = omp_get_default_device();
}

KERNEL(back_to_host);
#ifndef DEVICE_UNIT
static int host_view = -1;
void reverse(void *const *args) { host_view = omp_is_initial_device(); (void)args; }
struct region region_reverse = {1, 0, "reverse", reverse};
ENTRY(reverse, &region_reverse, "reverse", 0, 0x100, 0);
#endif
KERNEL_BODY(back_to_host) {
    (void)args;
#ifndef DEVICE_UNIT
    launch(DEVICE_HOST, __LINE__, &region_reverse, 0, 0);
#endif
}

#ifndef DEVICE_UNIT
static void check_where(int device) {
    int seen[6] = {-1, -1, -1, 0, -1, -1};
    launch(-1, __LINE__, &region_where, 1, (struct item[]){{seen, seen, sizeof seen, TOFROM | PARAM, 0, 0}});
#pragma omp critical
    {
        CHECK(seen[0] == 0 && seen[1] == device && seen[2] == 0);
        CHECK(seen[3] == 3 && seen[4] == device && seen[5] == device);
    }
}

int main(void) {
    int device = omp_get_default_device();
    CHECK(omp_is_initial_device() && omp_get_device_num() == omp_get_num_devices());
    check_where(device);
    /* In a parallel region kernels run on threads of their own: levels begin at zero. */
#pragma omp parallel
    check_where(device);
    CHECK(omp_is_initial_device() && omp_get_default_device() == device);
    if (!has_copies()) {
        TARGET(back_to_host, {0, 0, 0, 0, 0, 0});
        CHECK(host_view == 1);
    }
    omp_set_default_device(omp_get_num_devices());
    int seen[6] = {-1, -1, -1, 0, -1, -1};
    TARGET(where, {seen, seen, sizeof seen, TOFROM | PARAM, 0, 0});
    CHECK(seen[0] == 1 && seen[1] == omp_get_initial_device());
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
