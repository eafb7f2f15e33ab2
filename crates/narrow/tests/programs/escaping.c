/* Addresses of the accelerator that go out and come back: through host memory, globals, numbers and tagged bits. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 100; i++) ((int *)slots[0])[i] = i + 1000;
}
#endif

int *shared_with_host;
static int *own;
struct holder { int *p; };

NOINLINE static uintptr_t as_number(void *p) { return (uintptr_t)p; }
NOINLINE static int *as_pointer(uintptr_t n) { return (int *)n; }

void __ferry_k_test(void *const *slots) {
    int *host = slots[0], *out = slots[1];
    int **mailbox = slots[2];
    int near[8];
    for (int i = 0; i < 8; i++) near[i] = 50 + i;
    mailbox[0] = near;
    mailbox[1] = host;
    int *back = mailbox[0];
    out[0] = back[2] + mailbox[1][2];
    back[3] = 99;
    out[1] = near[3];
    mailbox[0] = 0;
    shared_with_host = near + 1;
    out[2] = *shared_with_host;
    shared_with_host = host + 1;
    out[3] = *shared_with_host;
    own = near;
    out[4] = own[1];
    own = host;
    out[5] = own[1];
    uintptr_t n = as_number(near + 2), h = as_number(host + 2);
    out[6] = *as_pointer(n) + *as_pointer(h);
    uintptr_t tagged = (uintptr_t)(host + 4) | 1;
    out[7] = (tagged & 1) + *(int *)(tagged & ~(uintptr_t)1);
    uintptr_t mixed = as_number(near) ^ as_number(host);
    out[8] = *as_pointer(mixed ^ as_number(near)) + *as_pointer(mixed ^ as_number(host));
    /* A host pointer put into an object through an address that went out. */
    struct holder held = {near};
    mailbox[4] = (int *)&held;
    struct holder *found = (struct holder *)mailbox[4];
    found->p = host + 6;
    out[9] = *held.p;
    mailbox[4] = 0;
    struct holder *numbered = (struct holder *)as_pointer(as_number(&held));
    numbered->p = host + 7;
    out[10] = *held.p;
    shared_with_host = 0;
}
