// run: check
// run: check -- -DLIMIT=10
#define ELEMENTS(array, count) array[0:count]
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define DO_PRAGMA(text) _Pragma(#text)
#define PARALLEL DO_PRAGMA(omp parallel for num_threads(threads))

void f(int n, double *a) {
#pragma omp target teams distribute parallel for \
        map(tofrom: ELEMENTS(a, m))
    EACH(i, n) a[i] = LIMIT;
    PARALLEL EACH(i, n) a[i] = 0;
#pragma omp tile sizes(LIMIT)
    EACH(i, n) a[i] = 1;
}
