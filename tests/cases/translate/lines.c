// run: translate --to openacc --diff
// Lines that come stand beside the old ones, which stay as they are: comments behind, blanks before.
#pragma omp declare target
float table[8]; // filled on the host
  float twice(float x);
#pragma omp end declare target
float twice(float x) { return 2 * x; }
#pragma omp begin declare target
    static int count; /* of calls */
#pragma omp end declare target

void f(float *a, int n) {
    #pragma omp target depend(out: a[0]) map(tofrom: a[0:n]) nowait // first
    { // begin
        for (int i = 0; i < n; i++) a[i] = twice(a[i]) + table[i % 8] + count;
    } // end
    #pragma omp task depend(inout: a[0])
    a[0] = 1;
    if (n > 3)
        #pragma omp target depend(in: a[0]) map(tofrom: a[0:n]) device(1)
        a[0]++; // one
    #pragma omp taskwait
}
