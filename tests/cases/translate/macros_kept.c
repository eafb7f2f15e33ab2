// run: translate --to openmp --profile clang --keep guard
// Directives that macros make stay beside their translations: in code, in definitions, in both.
#define DO_PRAGMA(x) _Pragma(#x)
#define LEVELS(x) DO_PRAGMA(acc x)
#define LONG(a) \
    DO_PRAGMA(acc parallel loop \
              copy(a[0:8]))
void f(float a[8], float b[8]) {
    LEVELS(parallel loop copy(a[0:8]))
    for (int i = 0; i < 8; i++) a[i] = i;
    LEVELS(parallel loop copy(b[0:8])) // stays
    for (int i = 0; i < 8; i++) b[i] = i;
    LONG(a)
    for (int i = 0; i < 8; i++) a[i] += i;
    LONG(b)
    for (int i = 0; i < 8; i++) b[i] += i;
}
