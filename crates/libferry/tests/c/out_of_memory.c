// env: FERRY_DEVICE=cpu:copy
// status: 1
// stderr: t.c:10:1: allocating device memory failed for `huge` (70368744177664 bytes at 0x
// stderr: the device has no memory for 70368744177664 more bytes
// stderr: help: unmap what is not needed
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) {
    static char huge[16];
    ENTER((struct item){huge, huge, INT64_C(1) << 46, TO, ";huge;t.c;1;1;;", 0});
    return 0;
}
#endif
