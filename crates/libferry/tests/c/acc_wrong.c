/* Calls that the standard calls errors: one for each number in CASE. */
// case 1: acc_set_device_num: there is no device 1: the program has 1
// case 2: acc_set_device_type: 77 is no type of devices
// case 3: acc_copyin: 8 bytes at a null pointer
// case 4: acc_copyin: the range of 16 bytes at
// case 5: acc_copyout: the range of 16 bytes at
// case 6: acc_update_self: the range of 16 bytes at
// case 7: acc_unmap_data: 0x
// case 8: acc_free: 0x
// case 9: acc_memcpy_to_device: copying 4 bytes to or from a null pointer
// case 10: acc_memcpy_d2d: the range of 16 bytes at
// case 11: acc_init_device: there is no device 5: the program has 1
// case 12: acc_map_data: the range of 16 bytes at
// case 13: acc_update_device: the range of 16 bytes at
// case 14: acc_memcpy_d2d: there is no device 1: the program has 1
// case 15: acc_set_device_num: there is no device 1: the program has 1
// case 16: acc_wait: there is no queue -9
// case 17: acc_copyin_async: there is no queue -4
// case 18: acc_wait_any: a list of 3 queues at a null pointer
// case 19: acc_update_self_async: the range of 16 bytes at
// case 20: acc_wait_all_device: there is no device 3: the program has 1
#include "ferry_test.h"
#include "../../../../include/ferry/openacc.h"

#ifndef DEVICE_UNIT
int main(void) {
    int a[4] = {1, 2, 3, 4};
    void *there = acc_malloc(sizeof a);
    switch (atoi(getenv("CASE"))) {
    case 1: acc_set_device_num(1, acc_device_not_host); break;
    case 2: acc_set_device_type((acc_device_t)77); break;
    case 3: acc_copyin(NULL, 8); break;
    case 4: acc_copyin(a, 8), acc_copyin(a, sizeof a); break;
    case 5: acc_copyin(a + 1, 8), acc_copyout(a, sizeof a); break;
    case 6: acc_update_self(a, sizeof a); break;
    case 7: acc_copyin(a, sizeof a), acc_unmap_data(a); break;
    case 8: acc_free(there), acc_free(there); break;
    case 9: acc_memcpy_to_device(NULL, a, 4); break;
    case 10: acc_memcpy_d2d(a, a, sizeof a, 0, 0); break;
    case 11: acc_init_device(5, acc_device_default); break;
    case 12: acc_copyin(a, sizeof a), acc_map_data(a, there, sizeof a); break;
    case 13: acc_copyin(a + 1, 8), acc_update_device(a, sizeof a); break;
    case 14: acc_memcpy_d2d(a, a, sizeof a, 1, 0); break;
    case 15: acc_set_device_num(1, acc_device_nvidia); break;
    case 16: acc_wait(-9); break;
    case 17: acc_copyin_async(a, sizeof a, -4); break;
    case 18: acc_wait_any(3, NULL); break;
    case 19: acc_update_self_async(a, sizeof a, 1), acc_wait(1); break;
    case 20: acc_wait_all_device(3); break;
    }
    return 0;
}
#endif
