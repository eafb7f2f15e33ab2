// run: translate --to openmp --profile clang -v
// run: translate --to openmp --profile clang --no-branches
// run: translate --to openmp --profile clang --diff --partial
// Branches that the flags do not reach are read with names set for them, if that agrees with the others.
#define SIZE 64
void f(float a[SIZE], int n) {
#ifdef WIDE
#pragma acc parallel loop gang vector copy(a[0:SIZE])
#else
    #pragma acc serial copy(a[0:SIZE]) /* narrow */
#endif
    for (int i = 0; i < SIZE; i++) a[i] = i;
#if LEVEL > 2 && defined(FAST)
    # pragma acc parallel loop copy(a[0:SIZE])
    for (int i = 0; i < SIZE; i++) a[i] += 1;
#elif LEVEL == 2
#pragma acc parallel loop copy(a[0:SIZE / 2])
    for (int i = 0; i < SIZE / 2; i++) a[i] += 2;
#endif
}
