// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// flags: -fopenmp
/* Processes are forked while threads and queues map, copy and launch: none of the children finds a lock that nobody
   will open, and none changes what its parent has on the device. */
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
KERNEL(add_one) { ++*(int *)args[0]; }
#ifndef DEVICE_UNIT
extern void __ferry_queue_begin(struct ident *, int64_t device, int64_t queue);
extern void __ferry_queue_end(void);
enum { FORKS = 200, QUEUES = 3 };
static atomic_int is_over;

static int region(void) {
    int a = 41;
    TARGET(add_one, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    return a;
}

static void *in_place(void *unused) {
    while (!is_over)
        if (region() != 42) failures++;
    return unused;
}

static void *in_queues(void *unused) {
    static struct ident place = {0, 2, 0, 0, ";t.c;in_queues;1;1;;"};
    int a[QUEUES];
    for (int turn = 0; !is_over; turn++) {
        for (int queue = 0; queue < QUEUES; queue++) {
            a[queue] = turn;
            void *at[] = {&a[queue]}, *names[] = {";a;t.c;1;1;;"};
            int64_t size = 4, type = TOFROM | PARAM;
            struct kernel_args args = {.version = 3, .count = 1, .bases = at, .begins = at, .sizes = &size,
                .types = &type, .names = names};
            __ferry_queue_begin(&place, -1, queue);
            __tgt_target_kernel(&place, -1, -1, 0, &region_add_one, &args);
            __ferry_queue_end();
        }
        acc_wait_all();
        for (int queue = 0; queue < QUEUES; queue++)
            if (a[queue] != turn + 1) failures++;
    }
    return unused;
}

/* What the parent has there must stay as it is. */
static int kept[1000];

int main(void) {
    /* Only the first device is another process, which a child cannot speak to. */
    int is_apart = strstr(getenv("FERRY_DEVICE"), "separate") != NULL;
    for (int i = 0; i < 1000; i++) kept[i] = i;
    acc_copyin(kept, sizeof kept);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, in_place, NULL), pthread_create(&threads[1], NULL, in_queues, NULL);
    for (int turn = 0; turn < FORKS; turn++) {
        if (turn % 10 == 0) usleep(1000);
        pid_t child = fork();
        if (child == 0) {
            alarm(20); /* a lock that nobody opens */
            if (is_apart) fclose(stderr), close(2);
            exit(region() == 42 ? 5 : 6);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != (is_apart ? 1 : 5)) {
            printf("fork %d: status %#x\n", turn, (unsigned)status);
            failures++;
            break;
        }
    }
    is_over = 1;
    pthread_join(threads[0], NULL), pthread_join(threads[1], NULL);
    memset(kept, 0, sizeof kept);
    acc_copyout(kept, sizeof kept);
    for (int i = 0; i < 1000; i++)
        if (has_copies() && kept[i] != i) failures++;
    puts(failures ? "failed" : "passed");
    return failures != 0;
}
#endif
