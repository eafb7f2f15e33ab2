// env: FERRY_DEVICE=cpu*2
// env: FERRY_DEVICE=cpu:copy*2
// env: FERRY_DEVICE=cpu:separate*2
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"

#ifndef DEVICE_UNIT
int main(void) {
    CHECK(acc_malloc(0) == NULL);
    acc_free(NULL);
    int a[4] = {1, 2, 3, 4}, b[4] = {0}, copies = has_copies();
    int *there = acc_malloc(sizeof a), *further = acc_malloc(sizeof a);
    CHECK(there && further);
    acc_memcpy_to_device(there, a, sizeof a);
    acc_memcpy_device(further + 1, there, 3 * sizeof *a);
    acc_memcpy_from_device(b + 1, further + 1, 3 * sizeof *a);
    CHECK(b[0] == 0 && b[1] == 1 && b[3] == 3);
    acc_memcpy_to_device(there, NULL, 0), acc_memcpy_from_device(NULL, there, 0);
    acc_memcpy_device(NULL, NULL, 0);
    acc_free(there), acc_free(further);

    /* Between what two devices have of data of the host. */
    acc_copyin(a, sizeof a);
    acc_set_device_num(1, acc_device_not_host);
    acc_copyin(b, sizeof b);
    acc_memcpy_d2d(b, a, sizeof a, 1, 0);
    CHECK(b[0] == (copies ? 0 : 1));
    acc_copyout(b, sizeof b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    acc_memcpy_d2d(NULL, a, 0, 1, 0);

    acc_set_device_type(acc_device_host);
    int *here = acc_malloc(sizeof a);
    acc_memcpy_to_device(here, a, sizeof a);
    CHECK(here[3] == 4);
    acc_free(here);
    if (!failures) puts("passed");
    return failures;
}
#endif
