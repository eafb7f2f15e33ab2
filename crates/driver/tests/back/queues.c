/* Two queues that wait for one another, and one that has no number. */
#include <openacc.h>
#include <stdio.h>

#define N 1000

int main(void) {
    static int a[N], b[N], c[N];
    int wrong = 0;
#pragma acc data copyout(a, b, c)
    {
#pragma acc parallel loop async(1)
        for (int i = 0; i < N; i++) a[i] = i;
#pragma acc parallel loop async(2) wait(1)
        for (int i = 0; i < N; i++) b[i] = 2 * a[i];
#pragma acc parallel loop async
        for (int i = 0; i < N; i++) c[i] = 7;
#pragma acc wait(2) async(1)
#pragma acc parallel loop async(1)
        for (int i = 0; i < N; i++) a[i] += b[i];
        acc_wait(1);
#pragma acc update self(a[0:N])
        wrong += a[10] != 30;
#pragma acc wait
    }
    for (int i = 0; i < N; i++) wrong += a[i] != 3 * i || b[i] != 2 * i || c[i] != 7;
    if (wrong) printf("%d wrong\n", wrong);
    return wrong != 0;
}
