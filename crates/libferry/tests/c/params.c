// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu OMP_TARGET_OFFLOAD=DISABLED
// env: FERRY_DEVICE=none
#include "ferry_test.h"

KERNEL(mix) {
    double scale;
    memcpy(&scale, &args[0], sizeof scale);
    int *first = args[1], *result = args[2], *unmapped = args[3];
    char small = (char)(uintptr_t)args[4];
    first[0] += 1;
    result[0] = (int)(scale * 10) + first[0] + first[299] + (unmapped == 0) + small;
}

KERNEL(many) {
    long *sum = args[0];
    for (int i = 1; i < 40; i++) *sum += (long)args[i];
}

KERNEL(empty) { (void)args; }

#ifndef DEVICE_UNIT
int main(void) {
    double scale = 2.5;
    void *bits = 0;
    memcpy(&bits, &scale, sizeof scale);
    int first[300] = {40, [299] = 2}, result[1] = {0};
    CHECK(TARGET(mix, {bits, bits, 8, LITERAL | PARAM | IMPLICIT, ";scale;t.c;1;1;;", 0},
                 {first, first, sizeof first, TO | PRIVATE | PARAM, ";first;t.c;1;1;;", 0},
                 {result, result, sizeof result, TOFROM | PARAM, ";result;t.c;1;1;;", 0},
                 {0, 0, 0, PARAM | IMPLICIT, ";p;t.c;1;1;;", 0},
                 {(void *)3, (void *)3, 1, LITERAL | PARAM, ";c;t.c;1;1;;", 0}) == 0);
    CHECK(result[0] == 25 + 41 + 2 + 1 + 3);
    CHECK(first[0] == 40);

    long sum = 0, expect = 0;
    struct item items[40] = {{&sum, &sum, 8, TOFROM | PARAM, ";sum;t.c;1;1;;", 0}};
    for (long i = 1; i < 40; i++) {
        items[i] = (struct item){(void *)(i * i), (void *)(i * i), 8, LITERAL | PARAM, 0, 0};
        expect += i * i;
    }
    CHECK(launch(-1, __LINE__, &region_many, 40, items) == 0);
    CHECK(sum == expect);
    CHECK(launch(DEVICE_HOST, __LINE__, &region_many, 40, items) == 0);
    CHECK(sum == 2 * expect);
    CHECK(launch(omp_get_num_devices(), __LINE__, &region_many, 40, items) == 0);
    CHECK(sum == 3 * expect);
    CHECK(launch(-1, __LINE__, &region_empty, 0, 0) == 0);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
