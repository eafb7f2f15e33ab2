// run: translate --to openmp --profile clang
// run: translate --to openacc
// A definition whose uses do not all mean the same, or are not all read, is refused by name; as is what makes more.
#define TEXT(x) #x
#define PRAGMA_OF(x) _Pragma(TEXT(x)) for
#define ORDER _Pragma("acc kernels loop")
#define CLAUSES(x) _Pragma(TEXT(acc parallel loop x))
#define NEVER _Pragma("acc wait")
#define NOR_THIS NEVER
#define HIDDEN _Pragma("acc parallel loop")
#define SHARED _Pragma("omp parallel for")
#define PASTED(x) _Pragma(TEXT(acc x ## allel loop))
#define NAMED(n) _Pragma(TEXT(acc parallel loop copy(a[0:n])))
void g(float a[16], float b[16], int n) {
    ORDER
    for (int i = 0; i < 16; i++) a[i] = 0;
    ORDER
    for (int i = 1; i < 16; i++) a[i] = a[i - 1];
    CLAUSES(copy(a[0:16]))
    for (int i = 0; i < 16; i++) a[i] = 0;
    HIDDEN
    for (int i = 0; i < 16; i++) a[i] = 0;
#if 0
    HIDDEN
    for (int i = 0; i < 16; i++) a[i] = 0;
#endif
    PASTED(par)
    for (int i = 0; i < 16; i++) a[i] = 0;
    PRAGMA_OF(acc parallel loop async(1)) (int i = 0; i < 16; i++) a[i] = 0;
    SHARED
    for (int i = 0; i < 16; i++) b[i] = 0;
#pragma omp target map(tofrom: b[0:16])
    {
        SHARED
        for (int i = 0; i < 16; i++) b[i] = 0;
    }
}
#ifdef MANY
#define SIZE num_gangs(64)
#else
#define SIZE
#endif
#define WHEN(c) if((c) > 3)
void h(float a[16], int n) {
#pragma acc parallel loop SIZE copy(a[0:16])
    for (int i = 0; i < 16; i++) a[i] = 0;
#pragma acc parallel loop WHEN(n + 1) copy(a[0:16])
    for (int i = 0; i < 16; i++) a[i] = 0;
}
