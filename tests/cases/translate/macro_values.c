// run: translate --to openmp
// run: translate --to openacc
// Values that macros have now are not written; the words of their definitions are.
#ifndef N
#define N 32
#endif
#define SEC(p) p[0:N]
#define PART a[0:N]
#define ALL copy(a[0:N])
#define MAPS map(tofrom: a[0:N])
#if _OPENACC >= 201306
#include <openacc.h>
#endif
void f(int *a) {
#pragma acc parallel loop copy(SEC(a))
    for (int i = 0; i < N; i++) a[i]++;
#pragma acc parallel loop copy(PART)
    for (int i = 0; i < N; i++) a[i]++;
#pragma acc parallel loop ALL
    for (int i = 0; i < N; i++) a[i]++;
#pragma omp target teams distribute parallel for MAPS
    for (int i = 0; i < N; i++) a[i]++;
}
