// syntax only: assumptions change nothing that a correct program can see.
#pragma omp assumes no_openmp_routines

#pragma omp begin assumes absent(target)
static int twice(int x) { return 2 * x; }
#pragma omp end assumes

int main(void) {
  int sum = 0, n = 10;
#pragma omp assume holds(n > 0) absent(parallel)
  {
    for (int i = 0; i < n; i++)
      sum += twice(i);
  }
#pragma omp target map(tofrom : sum)
  {
#pragma omp assume holds(n == 10) no_parallelism
    sum += n;
  }
  return sum != 100;
}
