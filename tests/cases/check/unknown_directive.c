// run: check
void f(int n, double *a) {
#pragma omp paralel for private(n)
    for (int i = 0; i < n; i++) a[i] = 0;
#pragma omp parallel for privat(n) schedule(sttic)
    for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop copin(a[0:n]) num_gangs(4
    for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc kernal
    ;
}
