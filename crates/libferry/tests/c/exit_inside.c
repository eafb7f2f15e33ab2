// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu IN_PARALLEL=1
// status: 7
// flags: -fopenmp
// stderr: bye
/* A kernel ends the program: exit handlers run, nothing hangs. */
#include "ferry_test.h"
KERNEL(leave_now) {
    (void)args;
    exit(7);
}
#ifndef DEVICE_UNIT
static void bye(void) { fputs("bye\n", stderr); }
int main(void) {
    int a = 0;
    atexit(bye);
#pragma omp parallel num_threads(2) if (getenv("IN_PARALLEL") != NULL)
#pragma omp single
    TARGET(leave_now, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    return 0;
}
#endif
