// run: check
int total, late;
void count(void) { late++; }
#pragma omp threadprivate(late)

void stand(int n) {
#pragma omp parallel
    {
#pragma omp single
        {
#pragma omp barrier
        }
#pragma omp cancel for
    }
#pragma omp target teams
    {
#pragma omp single
        total = 0;
    }
#pragma omp atomic capture
    total = n;
#pragma acc loop
    for (int i = 0; i < n; i++) ;
}
