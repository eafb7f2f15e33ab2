// run: translate --to openmp
// run: translate --to openmp --keep comment
// run: translate --to openmp --keep guard
// run: translate --to openmp --diff
// Only directives change: comments, tabs, macros and continued lines stay.
#define N 16
#define LOOP_CLAUSES gang vector
const char *words = "#pragma acc parallel";
/* #pragma acc data copy(a)
   #pragma acc wait */
void f(float a[N]) {
	/* before */	#pragma acc_not_ours
    #pragma acc parallel loop copy(a[0:N]) \
            LOOP_CLAUSES   // why
	for (int seq = 0; seq < N; seq++)  a[seq] = 1;  /* after */
    # pragma acc parallel loop seq copy(a[ 0 : N/2 ])
    for (int i = 1; i < N; i++) a[i] += a[i - 1];
    #pragma acc cache(a)
}
