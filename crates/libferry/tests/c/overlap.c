// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// status: 1
// stderr: t.c:14:1: `a[0:8]` (32 bytes at 0x
// stderr: is mapped in part only: `a[0:4]` (16 bytes at 0x
// stderr: help: map the whole object at first
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) {
    int a[8] = {0};
    struct item half = {a, a, 16, TO, ";a[0:4];t.c;1;1;;", 0}, whole = {a, a, 32, TO, ";a[0:8];t.c;1;1;;", 0};
    ENTER(half);
    ENTER(whole);
    puts("not reached");
    return 0;
}
#endif
