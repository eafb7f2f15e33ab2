// run: translate --to openmp
// run: translate --to openacc
// What the preprocessor would make something else of, or what means nothing to the new reader, is refused.
#define simd 8
#define copy(to, from) ((to) = (from))
int f(int *a) {
#pragma acc parallel loop present(a[0:8])
    for (int i = 0; i < simd; i++) a[i]++;
#pragma omp target teams distribute parallel for map(tofrom: a[0:8])
    for (int i = 0; i < 8; i++) a[i]++;
#ifdef _OPENACC
    return _OPENACC;
#elif defined(_OPENMP)
    return _OPENMP;
#endif
    return 0;
}
