// run: check
// What cannot have a memory kind, and what cannot be done with a variable that has one.
static int own, *p = &own;
#pragma omp memkind(own)
static int *q = &own;
static void *r;
#pragma omp memkind(persistent : ref : own, r)

void f(void) {
  int local;
#pragma omp memkind(teamlocal : local)
#pragma omp parallel copyin(own)
  own++;
#pragma omp target
  own++;
}
