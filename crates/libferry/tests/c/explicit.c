// env: FERRY_DEVICE=cpu OMP_NUM_THREADS=4
// flags: -fopenmp
/* Which threads run explicit tasks, also with copied arguments, in loops, nested and in kernels. */
#include "ferry_test.h"
extern int omp_in_explicit_task(void);
KERNEL(in_kernel) { *(int *)args[0] = omp_in_explicit_task(); }
#ifndef DEVICE_UNIT
struct large { long words[20]; };
static long sum(struct large it) { long sum = 0; for (int i = 0; i < 20; i++) sum += it.words[i]; return sum; }
int main(void) {
    int seen = -1, inside = 0, total = 0, wrong = 0;
    struct large large;
    for (int i = 0; i < 20; i++) large.words[i] = i;
    CHECK(!omp_in_explicit_task());
#pragma omp task shared(seen)
    seen = omp_in_explicit_task();
#pragma omp taskwait
    CHECK(seen == 1);
#pragma omp parallel
    {
        if (omp_in_explicit_task()) wrong++;
#pragma omp single
        for (int i = 0; i < 100; i++) {
            char odd[3] = {i, i + 1, i + 2};
#pragma omp task firstprivate(i, large, odd) shared(inside, total, wrong) if (i % 3)
            {
                if (sum(large) != 190 || odd[2] != (char)(i + 2)) wrong++;
#pragma omp atomic
                inside += omp_in_explicit_task();
#pragma omp atomic
                total += i;
                if (i == 50) {
#pragma omp parallel num_threads(2) shared(wrong)
                    if (omp_in_explicit_task()) wrong++;
                    if (!omp_in_explicit_task()) wrong++;
                }
            }
        }
        if (omp_in_explicit_task()) wrong++;
    }
    CHECK(inside == 100 && total == 4950 && wrong == 0);
    inside = total = 0;
    long last = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(large) shared(inside) reduction(+ : total) lastprivate(last) grainsize(7)
    for (int i = 0; i < 200; i++) {
#pragma omp atomic
        inside += omp_in_explicit_task();
        total += i + (sum(large) != 190);
        last = i;
    }
    CHECK(inside == 200 && total == 19900 && last == 199);
    unsigned long long wide = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop shared(wide)
    for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 10; i++)
#pragma omp atomic
        wide += omp_in_explicit_task();
    CHECK(wide == 10);
#pragma omp task shared(seen)
    TARGET(in_kernel, {&seen, &seen, 4, TOFROM | PARAM, ";seen;t.c;1;1;;", 0});
    CHECK(seen == 0);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
