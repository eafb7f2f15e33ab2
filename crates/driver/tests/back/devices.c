// What one standard means by itself and the other does not, and calls about devices.
#include <stdio.h>
#include <omp.h>
#define N 64
int a[N], b[N], h[4];
static int sq(int x);
#pragma omp declare target
int table[4] = { 1, 2, 3, 4 };
int scale = 3;
static int sq(int x) { return x * x * scale; }
static void fill(int *p, int n)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) p[i] = table[i % 4];
}
#pragma omp end declare target
static int tri(void)
{
    int s = 0; int i, j;
    #pragma omp target teams distribute parallel for collapse(2) reduction(+: s)
    for (i = 0; i < 10; i++)
        for (j = 0; j < i; j++)
            s += j;
    return s;
}
static int wrong;
static void fail(const char *what)
{
    printf("%s\n", what);
    wrong++;
}
int main(void)
{
    int count = 0, next = 0, x = 5;
    for (int i = 0; i < N; i++) a[i] = i;
    #pragma omp target
    { fill(b, N); }
    if (b[5] != 2) fail("fill");
    #pragma omp target teams distribute parallel for num_teams(8) thread_limit(128) map(tofrom: a, count)
    for (int i = 0; i < N; i++) {
        a[i] = sq(a[i]);
        #pragma omp critical
        { count += 1; }
        #pragma omp critical(two)
        h[i % 4]++;
    }
    if (count != N || a[3] != 27 || h[1] != 16) fail("crit");
    #pragma omp target teams distribute parallel for map(from: b)
    for (int i = 0; i < N; i++) {
        int k;
        #pragma omp atomic capture
        k = next++;
        b[k] = 1;
    }
    int sum = 0; for (int i = 0; i < N; i++) sum += b[i];
    if (sum != N || next != 0) fail("next");
    #pragma omp target data map(to: x)
    {
        x = 7;
        int y = 0;
        #pragma omp target map(from: y)
        y = x;
        if (y != 7) fail("x");
        #pragma omp target map(always, tofrom: x) map(tofrom: y)
        { y = x; x = 9; }
        if (y != 7 || x != 9) fail("always");
    }
    #pragma omp target enter data map(to: a) nowait
    #pragma omp target teams distribute parallel for nowait depend(out: a)
    for (int i = 0; i < N; i++) a[i] = i;
    #pragma omp target teams distribute parallel for nowait depend(inout: a)
    for (int i = 0; i < N; i++) a[i] *= 2;
    #pragma omp taskwait
    #pragma omp target update from(a)
    #pragma omp target exit data map(delete: a)
    if (a[9] != 18) fail("async");
    int c[N]; c[0] = c[1] = c[2] = c[3] = 1;
    #pragma omp target
    {
        #pragma omp simd safelen(4)
        for (int i = 4; i < N; i++) c[i] = c[i - 4] + 1;
    }
    if (c[N - 1] != 16) fail("safelen");
    #pragma omp target device(0) map(tofrom: c)
    c[0] = 5;
    if (c[0] != 5) fail("device");
    int *d = omp_target_alloc(N * sizeof(int), omp_get_default_device());
    omp_target_memcpy(d, a, N * sizeof(int), 0, 0, omp_get_default_device(), omp_get_initial_device());
    #pragma omp target is_device_ptr(d)
    for (int i = 0; i < N; i++) d[i] += 1;
    omp_target_memcpy(a, d, N * sizeof(int), 0, 0, omp_get_initial_device(), omp_get_default_device());
    omp_target_free(d, omp_get_default_device());
    if (a[9] != 19) fail("alloc");
    #pragma omp parallel for
    for (int i = 0; i < N; i++) b[i] = i;
    if (tri() != 120) fail("tri");
    return wrong;
}
