// run: translate --to openmp --profile clang
// run: translate --to openacc
// Readings that do not compile or do not agree are dropped, and told of with the directives that they were for.
void f(float *restrict a, int n) {
    float s = 0;
#ifdef HELD
#pragma acc data copy(s)
#endif
    {
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++) a[i] = s;
    }
#ifdef BROKEN
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++) a[i] = undeclared;
#endif
#if 0
#pragma acc wait
#endif
#if __has_include("nothing.h")
#pragma acc wait
#endif
#ifdef THREADS
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i;
#endif
#ifdef DEVICE
#pragma omp target map(tofrom: a[0:n])
    a[0] = 1;
#endif
#ifndef _OPENMP
#pragma omp target map(tofrom: a[0:n])
    a[0] = 1;
#endif
}
