// run: explain --profile cpu
// run: check
// Parts of arrays that a clause combines: each thread has a copy, so iterations do not depend on each other.
#define N 8
void sums(int n, long *behind, const long *what) {
  long inside[N] = { 0 };
#pragma acc parallel loop reduction(+ : inside[0:N]) copy(inside) copyin(what[0:n])
  for (int k = 0; k < n; k++)
    for (int i = 0; i < N; i++) inside[i] += what[k] * i;
#pragma acc parallel loop reduction(max : behind[0:N]) copy(behind[0:N]) copyin(what[0:n])
  for (int k = 0; k < n; k++)
    for (int i = 0; i < N; i++) behind[i] = behind[i] < what[k] ? what[k] + inside[i] : behind[i];
}
