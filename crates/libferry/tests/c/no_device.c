// env: FERRY_DEVICE=none OMP_TARGET_OFFLOAD=MANDATORY
// status: 1
// stderr: t.c:9:1: the region must be offloaded, and there is no device
// stderr: help: set FERRY_DEVICE=cpu
#include "ferry_test.h"
KERNEL(nothing) { (void)args; }
#ifndef DEVICE_UNIT
int main(void) {
    TARGET(nothing, {0, 0, 0, 0, 0, 0});
    return 0;
}
#endif
