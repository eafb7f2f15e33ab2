// env: FERRY_DEVICE=cpu*2
// env: FERRY_DEVICE=cpu:copy*2
// env: FERRY_DEVICE=cpu:separate*2
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"
#include <unistd.h>

extern void __ferry_queue_begin(struct ident *, int64_t device, int64_t queue);
extern void __ferry_queue_end(void);

/* Slow enough that nothing is done by accident. */
KERNEL(triple) {
    int *a = args[0];
    usleep(30000);
    for (int i = 0; i < 4; i++) a[i] *= 3;
}

#ifndef DEVICE_UNIT
static void triple_later(int *a, int queue) {
    static struct ident place = {0, 2, 0, 0, ";t.c;triple_later;1;1;;"}; /* is kept longer than the call */
    void *there[] = {a}, *names[] = {";a;t.c;1;1;;"};
    int64_t size = 4 * sizeof *a, type = PRESENT | PARAM;
    struct kernel_args args = {.version = 3, .count = 1, .bases = there, .begins = there, .sizes = &size,
        .types = &type, .names = names};
    __ferry_queue_begin(&place, -1, queue);
    __tgt_target_kernel(&place, -1, -1, 0, &region_triple, &args);
    __ferry_queue_end();
}

int main(void) {
    int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {0};

    /* In order in a queue; the routine comes back before. */
    acc_copyin_async(a, sizeof a, 1);
    triple_later(a, 1);
    acc_update_self_async(a, sizeof a, 1);
    triple_later(a, 1);
    CHECK(!acc_async_test(1) && !acc_async_test_all() && acc_async_test(2));
    CHECK(!acc_async_test_device(1, 0) && acc_async_test_device(1, 1));
    CHECK(!acc_async_test_all_device(0) && acc_async_test_all_device(1));
    acc_wait(1);
    CHECK(acc_async_test(1) && acc_async_test_all() && (a[0] == 3 || !has_copies()));
    acc_copyout_async(a, sizeof a, 1);
    acc_async_wait(1);
    CHECK(a[0] == 9 && a[3] == 36 && !acc_is_present(a, sizeof a));

    /* One queue waits for another. */
    acc_copyin(a, sizeof a), acc_create(b, sizeof b);
    int *there_a = acc_deviceptr(a), *there_b = acc_deviceptr(b);
    triple_later(a, 3);
    acc_wait_async(3, 4);
    acc_memcpy_device_async(there_b, there_a, sizeof a, 4);
    acc_memcpy_from_device_async(c, there_b, sizeof c, 4);
    acc_wait_device(4, 0);
    CHECK(c[0] == 27 && c[3] == 108 && acc_async_test(3));
    triple_later(a, 3);
    acc_wait_all_async(4);
    acc_memcpy_from_device_async(c, there_a, sizeof c, 4);
    CHECK(!acc_async_test(4));
    acc_wait_all();
    CHECK(c[0] == 81);
    triple_later(a, 3);
    acc_wait_device_async(3, acc_async_sync, 0);
    CHECK(acc_async_test(3));
    acc_memcpy_to_device_async(there_a, b, sizeof b, 3), acc_update_device_async(b, sizeof b, 5);
    acc_wait_all_device_async(acc_async_sync, 0);

    /* One of several; what is not in a queue is nothing to wait for. */
    triple_later(a, 6);
    int queues[] = {acc_async_sync, 6};
    CHECK(acc_wait_any(2, queues) == 1 && acc_async_test(6));
    queues[1] = acc_async_sync;
    CHECK(acc_wait_any(2, queues) == -1 && acc_wait_any(0, NULL) == -1);
    triple_later(a, 6);
    int some[] = {6, 7};
    CHECK(acc_wait_any_device(2, some, 0) == 1);
    acc_wait_all_device(0), acc_async_wait_all();

    /* Work without a number. */
    int first = acc_get_default_async();
    CHECK(first >= 0);
    triple_later(a, acc_async_noval);
    CHECK(!acc_async_test(first) && !acc_async_test(acc_async_noval));
    acc_wait(first);
    CHECK(acc_async_test(acc_async_noval));
    acc_set_default_async(9);
    triple_later(a, acc_async_noval);
    CHECK(acc_get_default_async() == 9 && !acc_async_test(9) && acc_async_test(first));
    acc_set_default_async(acc_async_default);
    CHECK(acc_get_default_async() == first);
    acc_set_default_async(acc_async_sync);
    CHECK(acc_get_default_async() == acc_async_sync && acc_async_test(acc_async_noval));
    acc_set_default_async(first);

    acc_delete_finalize_async(a, sizeof a, 9), acc_delete_async(b, sizeof b, 9);
    acc_wait(9);
    CHECK(!acc_is_present(a, 1) && !acc_is_present(b, 1));
    acc_create_async(a, sizeof a, 2), acc_copyout_finalize_async(a, sizeof a, 2);
    void *pointer = a;
    acc_attach_async(&pointer, 2), acc_detach_async(&pointer, 2), acc_detach_finalize_async(&pointer, 2);
    acc_memcpy_d2d_async(NULL, NULL, 0, 1, 0, 2), acc_update_host_async(NULL, 0, 2);
    acc_shutdown(acc_device_default);
    CHECK(acc_async_test_all());
    if (!failures) puts("passed");
    return failures;
}
#endif
