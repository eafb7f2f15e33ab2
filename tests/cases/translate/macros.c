// run: translate --to openmp --profile clang
// run: translate --to openmp --profile clang --keep comment --diff
// run: translate --to openmp --profile clang --keep guard --partial
// Directives that macros and `_Pragma` make are changed where their words stand, definitions once.
#define N 16
#define TEXT(x) #x
#define DO_PRAGMA(x) _Pragma(#x)
#define LEVELS(x) DO_PRAGMA(acc x)
#define TEXTS(...) #__VA_ARGS__
#define SPELLED(...) _Pragma(TEXTS(__VA_ARGS__))
#define EACH _Pragma("acc parallel loop") for
#define COPIED(a, n) DO_PRAGMA(acc parallel loop copy(a[0:n]))
#define BOTH(n) \
    _Pragma("acc parallel copy(a[0:16])") { _Pragma("acc loop") \
    for (int i = 0; i < (n); i++)
#define FOREIGN DO_PRAGMA(GCC ivdep)
void f(int n, float b[N], float a[N]) {
    float c[N];
    _Pragma("acc parallel loop copy(a[0:N])") /* stays */
    for (int i = 0; i < N; i++) a[i] = i;
    DO_PRAGMA(acc parallel loop copy(a[0:N / 2]))
    for (int i = 0; i < N / 2; i++) a[i] = i;
    LEVELS(parallel loop copyin(a[0:N]) copy(b[0:N]))
    for (int i = 0; i < N; i++) b[i] = a[i];
    LEVELS(cache(a)) LEVELS(serial copy(b[0:N]))
    for (int i = 1; i < N; i++) b[i] += b[i - 1];
    EACH (int i = 0; i < N; i++) c[i] = 2;
    EACH (int i = 0; i < N; i++) { c[i] += 3; }
    COPIED(b, n)
    for (int i = 0; i < n; i++) b[i] += 1;
    COPIED(a, n * 2 + N)
    for (int i = 0; i < n; i++) a[i] += c[i];
    SPELLED(acc parallel loop, copy(a[0:N]), copyin(c))
    for (int i = 0; i < N; i++) a[i] += c[i];
    BOTH(N) a[i] += 1; }
    FOREIGN
    for (int i = 0; i < N; i++) a[i] += c[i];
}
