// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu:separate IN_RECORD=1
// status: 1
// stderr: t.c:20:1: in `reads` the kernel crashed: memory that is not there or not its own (SIGSEGV) at 0x
// stderr: which comes from
// stderr: help: map the data behind
// stderr: `p`
/* A host pointer means nothing to a device with memory of its own, passed or inside of a record. */
#include "ferry_test.h"
struct record { int n; int *p; };
KERNEL(reads) {
    struct record *record = args[0];
    record->n = record->p ? record->p[3] : ((int *)args[1])[3];
}
#ifndef DEVICE_UNIT
int main(void) {
    int *data = calloc(100, sizeof *data), *p = data;
    struct record record = {0, getenv("IN_RECORD") ? data : 0};
    struct item pointer = {getenv("IN_RECORD") ? 0 : p, getenv("IN_RECORD") ? 0 : p, 0, PARAM | IMPLICIT, getenv("IN_RECORD") ? ";q;t.c;1;1;;" : ";p;t.c;1;1;;", 0};
    TARGET(reads, {&record, &record, sizeof record, TOFROM | PARAM, getenv("IN_RECORD") ? ";p;t.c;1;1;;" : ";r;t.c;1;1;;", 0}, pointer);
    return 0;
}
#endif
