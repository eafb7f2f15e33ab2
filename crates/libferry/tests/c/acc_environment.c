/* Says which device is current at first, for a thread that no runtime has made too. */
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"
#include <pthread.h>

#ifndef DEVICE_UNIT
extern int omp_get_default_device(void);

static void *ask(void *at) {
    *(int *)at = omp_get_default_device();
    return NULL;
}

int main(void) {
    int type = acc_get_device_type(), number = acc_get_device_num(acc_device_current), there = -1;
    pthread_t thread;
    pthread_create(&thread, NULL, ask, &there);
    pthread_join(thread, NULL);
    printf("type %d number %d %d %d\n", type, number, omp_get_default_device(), there);
}
#endif
