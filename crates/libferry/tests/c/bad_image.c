// env: FERRY_DEVICE=cpu:copy
// status: 1
// flags: -DNO_IMAGE
// stderr: has no code of region `nothing` for device `cpu:copy`
// stderr: help: build it again with `ferry cc --device cpu:copy`, or set FERRY_DEVICE=cpu
#ifdef NO_IMAGE
#undef IMAGE
#endif
#include "ferry_test.h"
KERNEL(nothing) { (void)args; }
#ifndef DEVICE_UNIT
int main(void) { return TARGET(nothing, {0, 0, 0, 0, 0, 0}); }
#endif
