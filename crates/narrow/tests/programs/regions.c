/* Parallel regions that capture pointers of both kinds, by value and by reference, and use the host's memory directly. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 1024; i++) ((int *)slots[0])[i] = i * 3 - 50, ((float *)slots[1])[i] = i * 0.25f;
}
#endif

struct view { int *data; int count; float *weights; };

NOINLINE static void scale(int *to, const int *from, int n, int by) {
#pragma omp parallel for firstprivate(to, from, by)
    for (int i = 0; i < n; i++) to[i] = from[i] * by;
}
NOINLINE static void apply(struct view *v, long *out) {
#pragma omp parallel for
    for (int i = 0; i < v->count; i++) {
        v->data[i] += (int)(v->weights[i] * 4);
        out[i] = v->data[i];
    }
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0], *out = slots[2];
    float *weights = slots[1];
    int *near = spm_alloc(256 * sizeof(int));
    scale(near, host, 256, 2);
    scale(out, near, 256, -1);
    scale(out + 256, host, 256, 5);
    scale(near + 128, near, 128, 3);
    struct view both = {near, 256, weights}, other = {host, 300, weights + 10};
    apply(&both, (long *)slots[3]);
    apply(&other, (long *)slots[3] + 400);
    int *captured = host;
    int **where = &captured;
#pragma omp parallel for firstprivate(captured, where) shared(near)
    for (int i = 0; i < 64; i++) {
        int *p = i & 1 ? captured : near;
        out[600 + i] = p[i] + (*where)[i];
    }
#pragma omp parallel
    {
#pragma omp for
        for (long i = 0; i < 100; i++) near[i] = (int)i;
#pragma omp for
        for (long i = 0; i < 100; i++) out[700 + i] = near[99 - i];
    }
    int *volatile choice = host;
    int *picked = choice;
    if (out[700] == 99) {
#pragma omp parallel for firstprivate(picked, near)
        for (int i = 0; i < 64; i++) near[i] += picked[i];
    } else {
#pragma omp parallel for firstprivate(near, picked)
        for (int i = 0; i < 64; i++) picked[i] += near[i];
    }
    if (out[700] == 99)
        for (int i = 0; i < 256; i++) out[800 + i] = near[i];
    spm_free_all();
}
