// env: FERRY_DEVICE=cpu:separate
// status: 1
// stderr: t.c:14:1: loading an image failed: the device image cannot be loaded:
/* An image that only looks like one. */
#undef IMAGE
#include "ferry_test.h"
KERNEL(nothing) { (void)args; }
#ifndef DEVICE_UNIT
static char damaged[256] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1";
int main(void) {
    images[0] = (struct image){damaged, damaged + sizeof damaged, descriptor.begin, descriptor.stop};
    struct descriptor other = {1, images, descriptor.begin, descriptor.stop};
    __tgt_register_lib(&other);
    return TARGET(nothing, {0, 0, 0, 0, 0, 0});
}
#endif
