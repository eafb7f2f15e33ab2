// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
/* A library that is opened late registers then, and takes its regions along when it is closed. */
#include "ferry_test.h"
#include <dlfcn.h>

DEVICE_VARIABLE(int late_variable = 5, late_variable);
KERNEL(late_kernel) {
    int *a = args[0];
    a[0] = late_variable;
}

#ifndef DEVICE_UNIT
int call(int *a) { return TARGET(late_kernel, {a, a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0}); }
#ifndef LATE_LIBRARY
int main(void) {
    int a = 0;
    call(&a);
    CHECK(a == 5);
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 1;
        int (*theirs)(int *) = dlsym(library, "call");
        int *variable = dlsym(library, "late_variable"), b = 0;
        CHECK(variable != &late_variable && theirs(&b) == 0 && b == 5);
        CHECK(omp_target_is_present(variable, 0));
        *variable = 9;
        theirs(&b);
        CHECK(b == (has_copies() ? 5 : 9));
        dlclose(library);
        CHECK(!omp_target_is_present(variable, 0));
    }
    call(&a);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
#endif
