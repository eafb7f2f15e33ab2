// env: FERRY_DEVICE=cpu
// status: 1
// stderr: t.c:8:1: there is no device 7: the program has 1
// stderr: help: numbers from 0 to 1 are valid, 1 is the host
#include "ferry_test.h"
KERNEL(nothing) { (void)args; }
#ifndef DEVICE_UNIT
int main(void) { return launch(7, __LINE__, &region_nothing, 0, 0); }
#endif
