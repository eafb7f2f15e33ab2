// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"

struct list { int length; int *values; double tail; };

KERNEL(twice) {
    struct list *list = args[0];
    for (int i = 0; i < list->length; i++) list->values[i] *= 2;
    list->tail += 1;
}

#ifndef DEVICE_UNIT
int main(void) {
    int copies = has_copies();
    int values[4] = {1, 2, 3, 4}, others[4] = {5, 6, 7, 8};
    struct list list = {4, values, 0.5};
    /* map(tofrom: list.length, list.tail, list.values[0:4]) */
#define MEMBERS \
    {&list, &list, sizeof list, PARAM, ";list;t.c;1;1;;", 0}, \
    {&list, &list.length, sizeof list.length, MEMBER_OF(0) | TOFROM, ";list.length;t.c;1;1;;", 0}, \
    {&list, &list.tail, sizeof list.tail, MEMBER_OF(0) | TOFROM, ";list.tail;t.c;1;1;;", 0}, \
    {&list.values, list.values, 16, MEMBER_OF(0) | PTR_AND_OBJ | TOFROM, ";list.values[0:4];t.c;1;1;;", 0}
    TARGET(twice, MEMBERS);
    CHECK(list.values == values && values[0] == 2 && values[3] == 8 && list.tail == 1.5);
    CHECK(!omp_target_is_present(&list, 0) && !omp_target_is_present(values, 0));

    /* The whole structure and its pointee: the host's pointer is intact after the copy back. */
#define WHOLE(how) \
    {&list, &list, sizeof list, how | PARAM, ";list;t.c;1;1;;", 0}, \
    {&list.values, list.values, 16, PTR_AND_OBJ | how, ";list.values[0:4];t.c;1;1;;", 0}
    ENTER(WHOLE(TO));
    TARGET(twice, WHOLE(TOFROM));
    CHECK(values[0] == (copies ? 2 : 4));
    /* update to keeps the device's pointer, update from the host's. */
    UPDATE({&list, &list, sizeof list, TO, 0, 0});
    TARGET(twice, WHOLE(0));
    UPDATE({&list, &list, sizeof list, FROM, 0, 0});
    CHECK(list.values == values);
    /* The pointer is changed: attached anew. */
    list.values = others;
    ENTER({&list.values, others, 16, PTR_AND_OBJ | TO, ";list.values[0:4];t.c;1;1;;", 0});
    TARGET(twice, {&list, &list, sizeof list, PARAM, 0, 0});
    EXIT({&list.values, others, 16, PTR_AND_OBJ | FROM, 0, 0});
    CHECK(others[0] == 10 && list.values == others);
    list.values = values;
    EXIT({&list, &list, sizeof list, FROM | DELETE, 0, 0}, {&list.values, values, 16, PTR_AND_OBJ | FROM | DELETE, 0, 0});
    CHECK(values[0] == 8 && values[3] == 32);
    CHECK(list.values == values);

    /* Only the tail of a structure: aligned on the device as on the host. */
    struct { char pad; short s; long number; } part __attribute__((aligned(16))) = {1, 2, 3};
    struct item tail = {&part, &part.s, sizeof part - 2, 0, 0, 0};
    ENTER(tail, {&part, &part.number, 8, MEMBER_OF(0) | TO, 0, 0});
    CHECK((uintptr_t)omp_get_mapped_ptr(&part.number, 0) % 8 == 0);
    EXIT(tail, {&part, &part.number, 8, MEMBER_OF(0), 0, 0});
    CHECK(!omp_target_is_present(&part.number, 0));
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
