// env: FERRY_DEVICE=cpu:separate FERRY_DEVICE_MEMORY=100000
// status: 1
// stderr: in time
// stderr: t.c:17:1: allocating device memory failed for `room` (400000 bytes at 0x
// stderr: the device has no memory for 400000 more bytes
// stderr: help: unmap what is not needed
/* The memory of a device ends: routines answer, maps end the program. */
#include "ferry_test.h"
#ifndef DEVICE_UNIT
static char room[400000];
int main(void) {
    void *first = omp_target_alloc(60000, 0), *second = omp_target_alloc(100000, 0);
    CHECK(first && !second);
    omp_target_free(first, 0);
    CHECK(omp_target_alloc(100000, 0));
    if (!failures) fputs("in time\n", stderr);
    ENTER((struct item){room, room, sizeof room, TO, ";room;t.c;1;1;;", 0});
    return 0;
}
#endif
