// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu IN_PARALLEL=1
// status: 3
// flags: -fopenmp
// stderr: handler 42 43
/* A kernel ends the program while data are mapped; a handler of the program still runs regions. */
#include "ferry_test.h"
KERNEL(add_one) { ++*(int *)args[0]; }
KERNEL(leave_now) { if (*(int *)args[0] == 1) exit(3); }
#ifndef DEVICE_UNIT
static int held = 42;
static void handler(void) {
    int a = 42;
    TARGET(add_one, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    EXIT({&held, &held, 4, FROM, ";held;t.c;1;1;;", 0});
    fprintf(stderr, "handler %d %d\n", held, a);
}
int main(void) {
    int one = 1;
    atexit(handler);
    ENTER({&held, &held, 4, TO, ";held;t.c;1;1;;", 0});
#pragma omp parallel num_threads(2) if (getenv("IN_PARALLEL") != NULL)
#pragma omp single
    TARGET(leave_now, {&one, &one, 4, TO | PARAM, ";one;t.c;1;1;;", 0});
    return 0;
}
#endif
