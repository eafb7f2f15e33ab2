// env: FERRY_DEVICE=cpu:separate OMP_NUM_THREADS=3
// flags: -fopenmp
/* Memory of its own: neither side reads the other's, output keeps its order, teams the setting. */
#include "ferry_test.h"
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>
DEVICE_VARIABLE(int counter = 40, counter);
KERNEL(count) {
    counter++;
    *(int *)args[0] = counter;
    *(int *)args[1] = omp_get_max_threads();
    fputs("device\n", stdout);
}
#ifndef DEVICE_UNIT
int main(void) {
    int seen = 0, threads = 0;
    fputs("host\n", stdout);
    TARGET(count, {&seen, &seen, 4, FROM | PARAM, 0, 0}, {&threads, &threads, 4, FROM | PARAM, 0, 0});
    CHECK(seen == 41 && threads == 3 && counter == 40);
    counter = 7;
    UPDATE({&counter, &counter, 4, TO, 0, 0});
    TARGET(count, {&seen, &seen, 4, FROM | PARAM, 0, 0}, {&threads, &threads, 4, FROM | PARAM, 0, 0});
    CHECK(seen == 8 && counter == 7);
    UPDATE({&counter, &counter, 4, FROM, 0, 0});
    CHECK(counter == 8);
    /* A pointer to device memory faults on the host. */
    int *device = omp_target_alloc(64, 0);
    pid_t child = fork();
    if (child == 0) _exit(*device);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    omp_target_free(device, 0);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
