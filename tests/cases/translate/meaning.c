// run: translate --to openmp --profile clang
// run: translate --to openmp --profile gcc --report json
// Where the two standards mean different things by the same words.
void gang_copies(int n, int *restrict r) {
    int x = 0;
    // Each gang has its own `x`; teams would share one.
#pragma acc parallel num_gangs(4) copy(r[0:n])
    {
        x = 1;
#pragma acc loop gang
        for (int i = 0; i < n; i++) r[i] = x;
    }
}

int enclosed(void) {
    int x = 1;
    // The data region's `x` is meant; a region of its own would copy it.
#pragma acc data copy(x)
    {
#pragma acc parallel
        x += 10;
    }
    return x;
}

int kept(int n, const int *restrict a) {
    int last = 0;
    // Scalars of `kernels` come back.
#pragma acc kernels copyin(a[0:n])
    last = a[n - 1];
    return last;
}

float sums(int n, const float *restrict a) {
    float s = 0, t;
#pragma acc parallel loop reduction(+:s) copyin(a[0:n])
    for (int i = 0; i < n; i++) s += a[i];
    // The sum is the teams', not only the loop's.
#pragma acc parallel copyin(a[0:n])
    {
#pragma acc loop gang reduction(+:s)
        for (int i = 0; i < n; i++) s += a[i];
    }
    // A sum of each gang's own stays with its threads.
#pragma acc parallel loop gang reduction(+:s) private(t) copyin(a[0:n])
    for (int i = 0; i < 4; i++) {
        t = 0;
#pragma acc loop vector reduction(+:t)
        for (int j = 0; j < n; j++) t += a[j];
        s += t;
    }
    return s;
}

void in_order(int n, float *restrict a) {
    // Nothing is made parallel that depends on what came before.
#pragma acc kernels loop copy(a[0:n])
    for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma acc parallel loop seq copy(a[0:n])
    for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
#pragma acc parallel loop gang copy(a[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop seq
        for (int j = 1; j < 4; j++) a[i] += j;
    }
#pragma acc serial copy(a[0:n])
    for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
}

void own_scalar(int n, float *restrict a) {
    float t;
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++) {
        t = a[i];
        a[i] = t * t;
    }
}

void counters(int n, float *restrict a) {
    int i, j;
    // What counts a loop that runs in order is each thread's own, though its directive goes.
#pragma acc parallel loop copy(a[0:4 * n])
    for (i = 0; i < n; i++) {
#pragma acc loop seq
        for (j = 0; j < 4; j++) a[4 * i + j] = j;
    }
}

void one_after_another(int n, float *restrict a, float *restrict b) {
    // Teams do not wait for each other: each loop leaves the host by itself.
#pragma acc parallel copy(a[0:n], b[0:n])
    {
#pragma acc loop
        for (int i = 0; i < n; i++) a[i] = i;
#pragma acc loop
        for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
    }
}
