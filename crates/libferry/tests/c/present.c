// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// status: 1
// stderr: t.c:16:1: `b` (4 bytes at 0x
// stderr: is not mapped to the device
// stderr: help: map b before this, or drop `present`
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) {
    int a = 1, b = 2;
    struct item there = {&a, &a, 4, TO | PRESENT, ";a;t.c;1;1;;", 0}, missing = {&b, &b, 4, TO | PRESENT, ";b;t.c;1;1;;", 0};
    ENTER({&a, &a, 4, TO, ";a;t.c;1;1;;", 0});
    ENTER(there);
    UPDATE(there);
    ENTER(missing);
    return 0;
}
#endif
