// run: translate --to openmp --profile gcc
// A macro that is used for several types: what differs is advice, and goes.
#define SUM(type)                                                          \
    type sum_of_##type(const type *a, int n) {                             \
        type s = 0;                                                        \
        _Pragma("acc parallel loop copyin(a[0:n]) reduction(+ : s)")       \
        for (int i = 0; i < n; i++) s += a[i];                             \
        return s;                                                          \
    }
SUM(float)
SUM(int)
