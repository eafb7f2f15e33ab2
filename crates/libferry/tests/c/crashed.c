// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu:separate*2 IN_TEAM=1
// status: 1
// flags: -fopenmp
// stderr: ended
// stderr: t.c:24:1: in `aborts` the kernel crashed: a call of abort() (SIGABRT)
/* A kernel dies, on the thread it began on or on one it started: the program ends, its handlers run. */
#include "ferry_test.h"
KERNEL(fine) { ++*(int *)args[0]; }
KERNEL(aborts) {
    if (*(int *)args[0] == 1) {
#pragma omp parallel num_threads(4)
        abort();
    }
    abort();
}
#ifndef DEVICE_UNIT
static void ended(void) { fputs("ended\n", stderr); }
int main(void) {
    int in_team = getenv("IN_TEAM") != NULL, a = 0;
    atexit(ended);
    TARGET(fine, {&a, &a, 4, TOFROM | PARAM, 0, 0});
    CHECK(a == 1);
    TARGET(aborts, {&in_team, &in_team, 4, TOFROM | PARAM, 0, 0});
    return 0;
}
#endif
