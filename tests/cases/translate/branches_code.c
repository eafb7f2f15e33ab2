// run: translate --to openmp --profile clang
// Code of a region that another configuration compiles may need other directives: it is read too, or refused.
#define N 50
int last = -1;
void same(int *restrict a) {
#pragma acc parallel loop copy(a[0:N])
    for (int i = 0; i < N; i++) {
#ifdef DOUBLED
        a[i] *= 2;
#else
        a[i] += 1;
#endif
#if 0
        a[i] = a[i + 1];
#endif
    }
}
void more(int *restrict a) {
#pragma acc kernels copy(a[0:N])
    {
        for (int i = 0; i < N; i++) a[i] *= 2;
#ifdef TRACK
        last = a[N - 1];
#endif
    }
}
void carried(int *restrict a) {
#pragma acc kernels copy(a[0:N])
    for (int i = 1; i < N; i++)
#ifdef SCAN
        a[i] += a[i - 1];
#else
        a[i] += 1;
#endif
}
