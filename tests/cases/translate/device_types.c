// run: translate --to openmp -v
// What is for one type of device is not for all; and each clause says what became of it.
void f(int *a, int n) {
#pragma acc parallel loop copy(a[0:n]) default(none) num_workers(4) \
    device_type(nvidia) num_gangs(100) vector_length(64) device_type(host) num_gangs(2)
    for (int i = 0; i < n; i++) a[i]++;
#pragma acc parallel loop copy(a[0:n]) num_gangs(8) device_type(*) num_gangs(16)
    for (int i = 0; i < n; i++) a[i]++;
#pragma acc parallel loop gang(static:*) copy(a[0:n])
    for (int i = 0; i < n; i++) a[i]++;
#pragma acc parallel loop gang(static:4) copy(a[0:n])
    for (int i = 0; i < n; i++) a[i]++;
}
