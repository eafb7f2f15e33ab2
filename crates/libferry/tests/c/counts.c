// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"

KERNEL(add_one) {
    int *a = args[0];
    for (int i = 0; i < 8; i++) a[i]++;
}

KERNEL(add_one_to_half) {
    int *a = args[0];
    for (int i = 0; i < 4; i++) a[i]++;
}

#ifndef DEVICE_UNIT
int main(void) {
    int copies = has_copies();
    int a[8] = {0};
    struct item tofrom = ITEM(&a, TOFROM | PARAM), to = ITEM(&a, TO | PARAM), from = ITEM(&a, FROM | PARAM),
                alloc = ITEM(&a, PARAM), release = ITEM(&a, 0), delete = ITEM(&a, DELETE);

    TARGET(add_one, tofrom);
    CHECK(a[0] == 1 && a[7] == 1);
    TARGET(add_one, to);
    CHECK(a[0] == (copies ? 1 : 2));
    a[0] = 5;
    TARGET(add_one, from);
    CHECK(copies || a[0] == 6);

    /* Inner maps of what is mapped copy nothing; the outer end does. */
    for (int i = 0; i < 8; i++) a[i] = 10;
    ENTER(tofrom);
    CHECK(omp_target_is_present(a, 0) && omp_target_is_present(a + 7, 0));
    CHECK(!omp_target_is_present(a + 8, 0));
    TARGET(add_one, tofrom);
    CHECK(a[0] == (copies ? 10 : 11));
    EXIT(tofrom);
    CHECK(a[0] == 11 && !omp_target_is_present(a, 0));

    /* Enter twice, exit once: still there. */
    ENTER(to);
    ENTER(to);
    EXIT(release);
    CHECK(omp_target_is_present(a, 0));
    EXIT(from);
    CHECK(!omp_target_is_present(a, 0) && a[0] == 11);

    /* always copies whatever the count. */
    struct item always_to = ITEM(&a, TO | ALWAYS), always_from = ITEM(&a, FROM | ALWAYS);
    ENTER(to);
    a[0] = 100;
    ENTER(always_to);
    TARGET(add_one, alloc);
    EXIT(always_from);
    CHECK(a[0] == 101);
    CHECK(omp_target_is_present(a, 0));

    /* delete removes at any count; of what is not mapped it is silent, as is release. */
    ENTER(to);
    ENTER(to);
    EXIT(delete);
    CHECK(!omp_target_is_present(a, 0));
    EXIT(delete);
    EXIT(release);

    /* hold survives delete. */
    struct item hold = ITEM(&a, TOFROM | HOLD);
    ENTER(hold);
    ENTER(to);
    EXIT(delete);
    CHECK(omp_target_is_present(a, 0));
    TARGET(add_one, tofrom);
    EXIT(hold);
    CHECK(!omp_target_is_present(a, 0) && a[0] == 102);

    /* update both ways, of what is mapped, not mapped, mapped in part. */
    UPDATE(to);
    struct item half = {a, a, sizeof a / 2, TO, ";a[0:4];t.c;1;1;;", 0};
    ENTER(half);
    a[0] = 7;
    UPDATE(to);
    UPDATE((struct item){a, a, 4, TO, 0, 0});
    if (copies) a[0] = 0;
    UPDATE((struct item){a, a, 4, FROM, 0, 0});
    CHECK(a[0] == 7);
    /* Neighbours are ranges of their own. */
    struct item rest = {a, a + 4, sizeof a / 2, TO, ";a[4:4];t.c;1;1;;", 0};
    ENTER(rest);
    CHECK(omp_target_is_present(a + 4, 0));
    EXIT(rest);
    CHECK(!omp_target_is_present(a + 4, 0) && omp_target_is_present(a + 3, 0));
    /* An implicit map of the whole is content with the part. */
    TARGET(add_one_to_half, (struct item){a, a, sizeof a, TOFROM | PARAM | IMPLICIT, 0, 0});
    EXIT((struct item){a, a, sizeof a / 2, FROM, 0, 0});
    CHECK(a[0] == 8);

    /* use_device_ptr, with an offset. */
    struct item use = {a, a + 2, 8, TO | RETURN, 0, 0};
    struct arrays answer = ENTER(use);
    CHECK((int *)answer.bases[0] + 2 == omp_get_mapped_ptr(a + 2, 0));
    EXIT((struct item){a, a + 2, 8, 0, 0, 0});
    /* Through the base of a shifted section; a pointer that is not mapped keeps its value. */
    ENTER((struct item){a, a + 2, 8, TO, 0, 0});
    CHECK(omp_get_mapped_ptr(a, 0) == NULL);
    EXIT((struct item){a, a + 2, 8, DELETE, 0, 0});
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
