// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu:separate FAR=1
// status: 1
// stderr: a kernel has written behind the end of `a[0:4]` (16 bytes at 0x
// stderr: help: look for an index that is too large
/* What a kernel writes beyond its data is noticed when they leave the device. */
#include "ferry_test.h"
KERNEL(writes) {
    int *a = args[0];
    a[4 + 8 * *(int *)args[1]] = 7;
}
#ifndef DEVICE_UNIT
int main(void) {
    int a[4] = {0}, far = getenv("FAR") != 0;
    TARGET(writes, {a, a, sizeof a, TOFROM | PARAM, ";a[0:4];t.c;1;1;;", 0}, {&far, &far, sizeof far, TO | PARAM, ";far;t.c;1;1;;", 0});
    return 0;
}
#endif
