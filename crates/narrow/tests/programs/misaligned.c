/* Numbers of 16, 32 and 64 bits at each of eight places within a double word, read and written: on the stack and in the
   scratchpad, in variables of the program, in the host's memory, and across a multiple of 4 GiB. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16384; i++) ((unsigned char *)slots[0])[i] = i * 37 + 11, ((unsigned char *)slots[3])[i] = i * 13 + (i >> 8);
}
#endif

struct __attribute__((packed)) two { short it; };
struct __attribute__((packed)) four { int it; };
struct __attribute__((packed)) eight { long it; };
static unsigned char variables[64];

NOINLINE static long each(unsigned char *memory, int at) {
    struct two *two = (struct two *)(memory + at);
    struct four *four = (struct four *)(memory + at + 16);
    struct eight *eight = (struct eight *)(memory + at + 32);
    long sum = two->it + 3L * four->it + 5 * eight->it;
    two->it ^= 0x5aa5, four->it += 0x01020304, eight->it -= 0x0102030405060708;
    return sum;
}

void __ferry_k_test(void *const *slots) {
    unsigned char *host = slots[0], *middle = (unsigned char *)slots[3] + 0x2000;
    long *out = slots[1];
    unsigned char *near = spm_alloc(64), stack[64];
    for (int i = 0; i < 64; i++) near[i] = stack[i] = variables[i] = i * 9 + 1;
    int k = 0;
    for (int at = 0; at < 8; at++) {
        out[k++] = each(near, at), out[k++] = each(stack, at), out[k++] = each(variables, at), out[k++] = each(host, at);
        out[k++] = each(middle - 8, at), out[k++] = each(middle - 24, at), out[k++] = each(middle - 40, at);
    }
    for (int i = 0; i < 64; i++) out[k++] = near[i] + 256 * stack[i] + 65536 * variables[i];
    spm_free_all();
}
