// Directives that macros and `_Pragma` make are directives; what they say is found in definitions.
#define N 64
#define TEXT(x) #x
#define DO_PRAGMA(x) _Pragma(#x)
#define LEVELS(...) _Pragma(TEXT(acc __VA_ARGS__))
#define EACH(list, n) DO_PRAGMA(acc parallel loop copy(list[0:n])) for (int i = 0; i < (n); i++)
#define SUM _Pragma("acc parallel loop reduction(+: sum)")

#include <openacc.h>

int main(void) {
    int a[N], b[N], sum = 0, seen = 0;
    for (int i = 0; i < N; i++) a[i] = b[i] = 0;
    EACH(a, N) a[i] = i;
    EACH(b, N / 2) b[i] = 2 * i;
    SUM
    for (int i = 0; i < N; i++) sum += a[i];
    SUM
    for (int i = 0; i < N; i++) sum += b[i];
    LEVELS(serial copyout(seen))
    {
        seen = acc_on_device(acc_device_not_host);
    }
    _Pragma("acc parallel loop copy(a) if(sum > N)")
    for (int i = 0; i < N; i++) a[i] += 1;
    if (sum != N * (N - 1) / 2 + N / 2 * (N / 2 - 1)) return 1;
    for (int i = 0; i < N; i++) {
        if (a[i] != i + 1 || b[i] != (i < N / 2 ? 2 * i : 0)) return 2;
    }
    return seen ? 0 : 3;
}
