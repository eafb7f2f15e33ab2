// run: translate --to openmp
// run: translate --to openmp --profile clang --diff
// Functions that device code calls: a loop for the teams of callers, another function for devices, variables
// that are declared behind the function that uses them; pointers that are attached, with and without calls.
#include <openacc.h>
int late, unused;
#pragma acc routine gang
void shared(int n, float *a) {
    float twice;
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
        twice = 2 * late;
        a[i] *= twice;
    }
}
#pragma acc declare create(late, unused)
#pragma acc update device(late)
int told(int);
#pragma acc routine(told) seq bind(told_on_device)
#pragma acc routine seq bind("other_on_device")
int other(int x) { return x; }
static int told_on_device(int x) { return -x; }
struct row { int n; float *of; };
void callers(int n, float *a, struct row *r) {
#pragma acc update device(late, unused)
#pragma acc parallel copy(a[0:n]) present(late)
    shared(n, a);
#pragma acc parallel copy(a[0:n]) num_gangs(8)
    shared(n, a);
#pragma acc serial copy(a[0:n])
    a[0] = told(1) + other(2);
#pragma acc enter data copyin(r[0:1]) attach(r->of) if (n > 8)
    acc_attach((void **)&r->of);
#pragma acc exit data detach(r->of) delete(r[0:1]) finalize if (n > 8)
#pragma acc parallel loop async(1) reduction(+:n)
    for (int i = 0; i < 100; i++) n += i;
}
