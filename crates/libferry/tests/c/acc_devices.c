// env: FERRY_DEVICE=cpu*3
// env: FERRY_DEVICE=cpu:copy*3
// env: FERRY_DEVICE=cpu:separate*3
// flags: -fopenmp
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"

KERNEL(where) {
    int *a = args[0];
    a[0] = acc_on_device(acc_device_not_host);
    a[1] = acc_on_device(acc_device_host);
    a[2] = acc_on_device(acc_device_nvidia);
    a[3] = acc_on_device(acc_device_default);
}

#ifndef DEVICE_UNIT
extern int omp_get_default_device(void);
extern void omp_set_default_device(int);

int main(void) {
    CHECK(acc_get_num_devices(acc_device_not_host) == 3 && acc_get_num_devices(acc_device_default) == 3);
    CHECK(acc_get_num_devices(acc_device_host) == 1 && acc_get_num_devices(acc_device_none) == 0);
    CHECK(acc_get_num_devices(acc_device_nvidia) == 0 && acc_get_num_devices(acc_device_radeon) == 0);
    CHECK(acc_get_num_devices(acc_device_current) == 3);

    /* One current device for both standards. */
    CHECK(acc_get_device_type() == acc_device_not_host && acc_get_device_num(acc_device_default) == 0);
    acc_set_device_num(2, acc_device_not_host);
    CHECK(omp_get_default_device() == 2 && acc_get_device_num(acc_device_not_host) == 2);
    omp_set_default_device(1);
    CHECK(acc_get_device_num(acc_device_current) == 1);
    acc_set_device_type(acc_device_host);
    CHECK(acc_get_device_type() == acc_device_host && acc_get_device_num(acc_device_current) == 0);
    CHECK(omp_get_default_device() == 3 && acc_get_num_devices(acc_device_current) == 1);
    CHECK(acc_get_device_num(acc_device_not_host) == 1);
    acc_set_device_type(acc_device_default);
    CHECK(acc_get_device_type() == acc_device_not_host && acc_get_device_num(acc_device_default) == 1);
    acc_set_device_num(-1, acc_device_not_host);
    CHECK(acc_get_device_num(acc_device_default) == 0);
    acc_set_device_num(2, acc_device_nvidia); /* those that there are stand for it */
    CHECK(acc_get_device_type() == acc_device_not_host && acc_get_device_num(acc_device_default) == 2);

    /* Where a thread runs. */
    CHECK(acc_on_device(acc_device_host) && !acc_on_device(acc_device_not_host));
    CHECK(acc_on_device(acc_device_none) && !acc_on_device(acc_device_nvidia));
    int a[4] = {-1, -1, -1, -1};
    TARGET(where, {a, a, sizeof a, FROM | PARAM, ";a;t.c;1;1;;", 0});
    CHECK(a[0] == 1 && a[1] == 0 && a[2] == 0 && a[3] == 1);
    acc_set_device_type(acc_device_host);
    TARGET(where, {a, a, sizeof a, FROM | PARAM, ";a;t.c;1;1;;", 0});
    CHECK(a[0] == 0 && a[1] == 1 && a[2] == 0 && a[3] == 0);
    acc_set_device_num(0, acc_device_not_host);

    /* What devices are. */
    size_t all = acc_get_property(1, acc_device_not_host, acc_property_memory);
    size_t before = acc_get_property(0, acc_device_current, acc_property_free_memory);
    CHECK(all > 0 && before > 0 && before <= all);
    void *there = acc_malloc(1000);
    CHECK(acc_get_property(0, acc_device_current, acc_property_free_memory) == before - 1000);
    acc_free(there);
    CHECK(acc_get_property(0, acc_device_current, acc_property_free_memory) == before);
    CHECK(acc_get_property(0, acc_device_default, acc_property_shared_memory_support) == !has_copies());
    CHECK(strncmp(acc_get_property_string(0, acc_device_default, acc_property_name), "cpu", 3) == 0);
    CHECK(strcmp(acc_get_property_string(0, acc_device_host, acc_property_name), "host") == 0);
    CHECK(acc_get_property_string(0, acc_device_default, acc_property_vendor) != NULL);
    CHECK(acc_get_property_string(0, acc_device_default, acc_property_driver) != NULL);
    CHECK(acc_get_property_string(0, acc_device_default, acc_property_memory) == NULL);
    CHECK(acc_get_property(3, acc_device_not_host, acc_property_memory) == 0);
    CHECK(acc_get_property(0, acc_device_nvidia, acc_property_memory) == 0);
    CHECK(acc_get_property(0, acc_device_default, acc_property_name) == 0);

    /* A device that was shut down has lost its data, and begins anew. */
    acc_init(acc_device_default);
    acc_init_device(2, acc_device_not_host);
    acc_init(acc_device_host);
    acc_copyin(a, sizeof a);
    acc_shutdown_device(1, acc_device_not_host);
    CHECK(acc_is_present(a, sizeof a));
    acc_shutdown(acc_device_default);
    CHECK(!acc_is_present(a, sizeof a));
    acc_copyin(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    if (!failures) puts("passed");
    return failures;
}
#endif
