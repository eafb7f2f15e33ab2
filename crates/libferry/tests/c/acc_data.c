// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"

KERNEL(add_one) {
    int *a = args[0];
    for (int i = 0; i < 4; i++) a[i]++;
}

#ifndef DEVICE_UNIT
#define ADD_ONE(a) TARGET(add_one, {a, a, sizeof a, PRESENT | PARAM, ";a;t.c;1;1;;", 0})

int main(void) {
    int a[4] = {1, 2, 3, 4}, b[4] = {0}, copies = has_copies();

    /* Counted: what was entered twice leaves the second time. */
    void *there = acc_copyin(a, sizeof a);
    CHECK(there != NULL && (there == a) == !copies);
    CHECK(acc_is_present(a, sizeof a) && acc_is_present(a + 1, 4) && !acc_is_present(a, sizeof a + 1));
    CHECK(acc_is_present(a + 3, 0) && !acc_is_present(NULL, 0) && !acc_is_present(b, 0));
    CHECK(acc_pcopyin(a, sizeof a) == there && acc_present_or_copyin(a + 1, 4) == (char *)there + 4);
    CHECK(acc_deviceptr(a + 2) == (char *)there + 8 && acc_deviceptr(b) == NULL);
    CHECK(acc_hostptr((char *)there + 4) == a + 1 && acc_hostptr(NULL) == NULL);
    ADD_ONE(a);
    CHECK(a[0] == (copies ? 1 : 2));
    acc_copyout(a, sizeof a);
    acc_copyout(a, sizeof a);
    CHECK(a[0] == (copies ? 1 : 2) && acc_is_present(a, sizeof a));
    acc_copyout(a, sizeof a);
    CHECK(a[0] == 2 && a[3] == 5 && !acc_is_present(a, sizeof a));

    /* What is not there does nothing when it leaves. */
    acc_copyout(a, sizeof a);
    acc_delete(a, sizeof a);
    acc_delete_finalize(a, sizeof a);
    acc_copyout(NULL, 0);
    CHECK(acc_copyin(NULL, 0) == NULL && acc_create(a, 0) == NULL);
    acc_update_self(NULL, 0);

    /* Updates move, and count nothing. */
    acc_pcreate(a, sizeof a);
    acc_present_or_create(a, sizeof a);
    acc_update_device(a, sizeof a);
    ADD_ONE(a);
    CHECK(a[0] == (copies ? 2 : 3));
    acc_update_self(a + 1, 4);
    CHECK(a[0] == (copies ? 2 : 3) && a[1] == 4);
    acc_update_host(a, sizeof a);
    CHECK(a[0] == 3);
    acc_delete(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    acc_delete_finalize(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a));

    /* At once, whatever was counted. */
    acc_copyin(a, sizeof a), acc_copyin(a, sizeof a);
    ADD_ONE(a);
    acc_copyout_finalize(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a) && a[0] == 4);

    /* Regions that hold data keep them, and count by themselves. */
    ENTER((struct item){a, a, sizeof a, TO | HOLD, ";a;t.c;1;1;;", 0});
    acc_copyin(a, sizeof a);
    acc_delete_finalize(a, sizeof a), acc_delete(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    ADD_ONE(a);
    EXIT((struct item){a, a, sizeof a, FROM | HOLD, ";a;t.c;1;1;;", 0});
    CHECK(!acc_is_present(a, sizeof a) && a[0] == 5);

    /* Memory that the program brings itself. */
    int *mine = acc_malloc(2 * sizeof a);
    acc_map_data(b, mine + 4, sizeof b);
    CHECK(acc_deviceptr(b) == mine + 4 && acc_hostptr(mine + 5) == b + 1);
    b[0] = 7;
    acc_update_device(b, sizeof b);
    ADD_ONE(b);
    acc_copyin(b, sizeof b), acc_delete_finalize(b, sizeof b), acc_copyout(b, sizeof b);
    CHECK(acc_is_present(b, sizeof b));
    acc_update_self(b, sizeof b);
    CHECK(b[0] == 8);
    acc_unmap_data(b);
    CHECK(!acc_is_present(b, sizeof b));
    acc_free(mine);

    /* On the host all data are where they are. */
    acc_set_device_type(acc_device_host);
    CHECK(acc_copyin(a, sizeof a) == a && acc_is_present(a, sizeof a) && acc_deviceptr(a) == a);
    CHECK(acc_hostptr(a) == a);
    acc_copyout(a, sizeof a), acc_update_device(a, sizeof a), acc_delete(a, sizeof a);
    if (!failures) puts("passed");
    return failures;
}
#endif
