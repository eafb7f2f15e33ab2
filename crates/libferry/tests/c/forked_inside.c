// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// flags: -fopenmp
/* A kernel forks: the child leaves at once or goes on to the end; the parent is not disturbed. And a
 * child forked while others launch runs regions itself. */
#include "ferry_test.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
KERNEL(fork_inside) { *(int *)args[0] = fork(); }
KERNEL(add_one) { ++*(int *)args[0]; }
#ifndef DEVICE_UNIT
static int region(void) {
    int a = 41;
    TARGET(add_one, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    return a;
}
static int status_of(pid_t child) {
    int status = 0;
    for (int i = 0; i < 1000; i++) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        usleep(20000);
    }
    kill(child, 9);
    waitpid(child, &status, 0);
    return -2;
}
static volatile int stop;
static void *launcher(void *it) {
    while (!stop) if (region() != 42) return it;
    return NULL;
}
int main(void) {
    int child = -1;
    TARGET(fork_inside, {&child, &child, 4, TOFROM | PARAM, ";child;t.c;1;1;;", 0});
    if (child == 0) exit(region() == 42 ? 5 : 6); /* with all exit handlers */
    CHECK(status_of(child) == 5 && region() == 42);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, launcher, &child);
    for (int i = 0; i < 40; i++) {
        child = fork();
        if (child == 0) _exit(region() == 42 ? 5 : 6);
        CHECK(status_of(child) == 5);
    }
    stop = 1;
    for (int i = 0; i < 4; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        CHECK(bad == NULL);
    }
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
