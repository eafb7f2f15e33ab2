// run: translate --to openmp --profile gcc
// run: translate --to openacc
// Directives have lines of their own, whatever stands beside them.
#pragma acc routine seq
static int a1(int v) { return v; } static int b1(int v) { return v; }
#pragma omp declare target
double coef = 2.5; int tab[4] = {1, 2, 3, 4};
int sq(int v) { return v * v; } static int cube(int v) { return v * v * v; }
#pragma omp end declare target
int f(int *x) {
#pragma acc serial copy(x[0:1])
    x[0] = a1(x[0]); int y = b1(1);
#pragma omp target map(always, tofrom: x[0:1])
    x[0] = sq(tab[1]) + cube(2) + (int)coef; y++;
    return y;
}
