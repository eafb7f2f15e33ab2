// run: translate --to openacc
// A program for threads of the host alone stays as it is.
#include <omp.h>
int f(void) {
    int n = 0;
    if (_OPENMP)
#pragma omp parallel reduction(+ : n)
        n++;
    return n;
}
