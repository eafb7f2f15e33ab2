// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// flags: -pthread
/* 64 threads map, launch, update and unmap at once, on data of their own and on shared data. */
#include "ferry_test.h"
#include <pthread.h>

enum { THREADS = 64, ROUNDS = 200, SIZE = 16 };

KERNEL(add) {
    int *mine = args[0], *shared = args[1];
    for (int i = 0; i < 16; i++) mine[i] += shared[i];
}

#ifndef DEVICE_UNIT
static int shared_data[SIZE];
static int results[THREADS];

static void *work(void *number) {
    int id = (int)(intptr_t)number, mine[SIZE] = {0};
    struct item own = {mine, mine, sizeof mine, TOFROM | PARAM, ";mine;t.c;1;1;;", 0};
    struct item common = {shared_data, shared_data, sizeof shared_data, TO | PARAM, ";shared;t.c;1;1;;", 0};
    for (int round = 0; round < ROUNDS; round++) {
        switch (round % 3) {
        case 0: /* all at once */
            launch(-1, __LINE__, &region_add, 2, (struct item[]){own, common});
            break;
        case 1: /* inside a data region */
            ENTER(own, common);
            launch(-1, __LINE__, &region_add, 2, (struct item[]){own, common});
            EXIT(own, common);
            break;
        default: /* step by step, with an update that copies back */
            ENTER(common);
            ENTER(own);
            launch(-1, __LINE__, &region_add, 2, (struct item[]){own, common});
            UPDATE((struct item){mine, mine, sizeof mine, FROM, 0, 0});
            EXIT((struct item){mine, mine, sizeof mine, DELETE, 0, 0});
            EXIT(common);
        }
    }
    int sum = 0;
    for (int i = 0; i < SIZE; i++) sum += mine[i];
    results[id] = sum;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int expect = 0;
    for (int i = 0; i < SIZE; i++) expect += ROUNDS * (shared_data[i] = i + 1);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) CHECK(results[i] == expect);
    CHECK(!omp_target_is_present(shared_data, 0));
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
