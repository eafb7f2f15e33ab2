// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// flags: -fopenmp
/* A child process runs regions too, without the threads that its parent kept. */
#include "ferry_test.h"
#include <sys/wait.h>
#include <unistd.h>
KERNEL(add_one) { ++*(int *)args[0]; }
#ifndef DEVICE_UNIT
static int region(void) {
    int a = 41;
    TARGET(add_one, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    return a;
}
int main(void) {
#pragma omp parallel num_threads(2)
    if (region() != 42) failures++;
    pid_t child = fork();
    if (child == 0) _exit(region() == 42 ? 5 : 6);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(region() == 42);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
