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
