// run: translate --to openmp
// run: translate --to openacc
// Clauses that macros say are written out; none of their words is left.
#define N 100
#define DATA copyin(a[0:N]) copyout(b[0:N])
#define LEVELS gang vector
#define PAR parallel loop
#define MAPS map(to: a[0:N]) map(from: b[0:N])
#define TEAMS target teams distribute parallel for
void f(int *a, int *b) {
#pragma acc parallel loop DATA LEVELS
    for (int i = 0; i < N; i++) b[i] = a[i];
#pragma acc PAR \
    DATA // what moves
    for (int i = 0; i < N; i++) b[i] = a[i];
#pragma acc PAR DATA /* what
    moves */ LEVELS /* who */
    for (int i = 0; i < N; i++) b[i] = a[i];
#pragma omp TEAMS MAPS
    for (int i = 0; i < N; i++) b[i] = a[i];
}
