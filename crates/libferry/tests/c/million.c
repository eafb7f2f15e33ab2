// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
/* A million mappings live at once: look-ups may grow with the logarithm, not more. */
#include "ferry_test.h"
#include <time.h>

KERNEL(nothing) { (void)args; }

#ifndef DEVICE_UNIT
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Seconds of one map and unmap of something small beside `count` others. */
static double cost(char *memory, long count) {
    enum { ROUNDS = 20000 };
    double began = now();
    for (long i = 0; i < ROUNDS; i++) {
        char *at = memory + 16 * ((i * 7919) % count) + 8;
        ENTER((struct item){at, at, 4, TO, 0, 0});
        EXIT((struct item){at, at, 4, FROM, 0, 0});
    }
    return (now() - began) / ROUNDS;
}

int main(void) {
    enum { COUNT = 1000000 };
    char *memory = calloc(COUNT, 16);
    double few = 0, many;
    for (long i = 0; i < COUNT; i++) {
        if (i == 1000) few = cost(memory, 1000);
        ENTER((struct item){memory + 16 * i, memory + 16 * i, 4, TO, 0, 0});
    }
    many = cost(memory, COUNT);
    printf("beside 1000: %.0f ns, beside 1000000: %.0f ns\n", few * 1e9, many * 1e9);
    CHECK(many < 30 * few);
    for (long i = 0; i < COUNT; i += 997) CHECK(omp_target_is_present(memory + 16 * i + 3, 0));
    CHECK(!omp_target_is_present(memory + 16 * 5 + 4, 0));
    for (long i = 0; i < COUNT; i++) EXIT((struct item){memory + 16 * i, memory + 16 * i, 4, FROM, 0, 0});
    for (long i = 0; i < COUNT; i += 997) CHECK(!omp_target_is_present(memory + 16 * i, 0));
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
