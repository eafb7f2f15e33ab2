// run: translate --to openacc
// Declarations that another configuration compiles are said too.
#pragma omp declare target
int plain(int v) { return v; }
#ifdef EXTRA
int table[4] = {1, 2, 3, 4};
int extra(int v) { return v + table[0]; }
#endif
#pragma omp end declare target
int f(int x) {
#pragma omp target /* in front */ map(tofrom: x) /* behind */
    x = plain(x);
    return x;
}
