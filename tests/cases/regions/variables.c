// run: check
extern int table[];
int a[100];
const int limit = 3;
struct pair { int x, y; };

void lists(int n, int *p, struct pair s) {
    int x = 0;
#pragma omp parallel default(none) shared(n)
    x += n;
#pragma omp parallel private(x) reduction(+ : x)
    x = n;
#pragma omp parallel private(x)
    {
#pragma omp for reduction(+ : x)
        for (int i = 0; i < n; i++) x += i;
    }
#pragma omp target map(to : table) map(a[50:60], p[0:])
    a[0] = table[0] + *p;
#pragma omp parallel private(limit) reduction(max : s) num_threads(0)
    ;
#pragma acc parallel loop copy(a[0:101]) gang
    for (int i = 0; i < n; i++) {
#pragma acc loop gang
        for (int j = 0; j < n; j++) a[i] = j;
    }
}
