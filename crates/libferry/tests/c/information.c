// env: FERRY_DEVICE=cpu:copy FERRY_INFO=1
// stderr: ferry: t.c:12:1: a: 4 bytes to device 0,
// stderr: ferry: t.c:12:1: a: 4 bytes from device 0,
// stderr: ferry: t.c:12:1: region nothing on device 0 (cpu:copy), 1 entries,
// stderr: ferry: t.c:13:1: region nothing on the host,
#include "ferry_test.h"
KERNEL(nothing) { (void)args; }
#ifndef DEVICE_UNIT
int main(void) {
    struct item item[] = {0};
    int a = 1;
    TARGET(nothing, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    launch(DEVICE_HOST, __LINE__, &region_nothing, 0, item);
    puts("passed");
    return 0;
}
#endif
