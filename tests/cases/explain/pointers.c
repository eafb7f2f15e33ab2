// run: explain
// run: explain --json
void unseen(double *);
static void add(double *to, const double *from, int i) { to[i] += from[i]; }

void sum(int n, double *to, const double *from, double *rest) {
#pragma acc parallel loop copy(to[0:n]) copyin(from[0:n]) copyout(rest[0:n])
    for (int i = 0; i < n; i++) {
        add(to, from, i);
        rest[i] = 0;
    }
#pragma omp target map(rest[0:n])
    unseen(rest);
}

/* Two parts, of which either may be the longer one. */
void several(int n, int m, double *restrict a) {
#pragma acc kernels
    {
        for (int i = 0; i < n; i++) a[i] += 1;
        for (int i = 0; i < m; i++) a[i] *= 2;
    }
}
