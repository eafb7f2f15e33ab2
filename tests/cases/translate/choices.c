// run: translate --to openacc
// A directive that the running program chooses is refused, in one piece.
#include <omp.h>
void f(int *a, int n) {
    int device = omp_get_default_device();
    #pragma omp metadirective \
        when(target_device={device_num(device)}: target map(always, tofrom: a[0:n])) \
        default(target map(to: a[0:n]))
    for (int i = 0; i < n; i++) a[i] = i;
}
