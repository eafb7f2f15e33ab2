// env: FERRY_DEVICE=cpu:copy
// status: 1
// stderr: t.c:10:1: allocating device memory failed for `huge` (4611686018427387904 bytes at 0x
// stderr: the device has no memory for 4611686018427387904 more bytes
// stderr: help: unmap what is not needed
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) {
    static char huge[16];
    ENTER((struct item){huge, huge, INT64_C(1) << 62, TO, ";huge;t.c;1;1;;", 0});
    return 0;
}
#endif
