// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"

struct list { int *data; int *none; int sum; };

KERNEL(sum) {
    struct list *list = args[0];
    list->sum = list->none == 0;
    for (int i = 0; i < 4; i++) list->sum += list->data[i];
}

#ifndef DEVICE_UNIT
#define SUM(l) TARGET(sum, {&l, &l, sizeof l, PRESENT | PARAM, ";list;t.c;1;1;;", 0})

static uintptr_t pointer_there(struct list *list) {
    uintptr_t value;
    acc_memcpy_from_device(&value, acc_deviceptr(&list->data), sizeof value);
    return value;
}

int main(void) {
    int data[4] = {1, 2, 3, 4}, copies = has_copies();
    struct list list = {data, NULL, 0};
    void **slot = (void **)&list.data;
    acc_attach(slot), acc_detach(slot), acc_attach(NULL); /* not there: nothing to do */
    acc_copyin(&list, sizeof list);
    acc_attach(slot); /* what it points to is not there */
    CHECK(pointer_there(&list) == (uintptr_t)data);
    int *there = acc_copyin(data, sizeof data);
    acc_attach(slot), acc_attach((void **)&list.none);
    CHECK(pointer_there(&list) == (uintptr_t)there);
    SUM(list);
    acc_update_self(&list, sizeof list); /* goes around the pointer */
    CHECK(list.sum == 11 && list.data == data);
    list.sum = 0;
    acc_update_device(&list, sizeof list);
    SUM(list);

    /* Detached as often as attached. */
    acc_attach(slot);
    acc_detach(slot);
    CHECK(pointer_there(&list) == (uintptr_t)there);
    acc_detach(slot);
    CHECK(pointer_there(&list) == (uintptr_t)data);
    acc_detach(slot);
    acc_attach(slot), acc_attach(slot), acc_attach(slot);
    acc_detach_finalize(slot);
    CHECK(pointer_there(&list) == (uintptr_t)data);
    acc_detach_finalize(slot);
    acc_delete(data, sizeof data);
    acc_copyout(&list, sizeof list);
    CHECK(list.sum == 11 && list.data == data && (!copies || !acc_is_present(data, 4)));
    if (!failures) puts("passed");
    return failures;
}
#endif
