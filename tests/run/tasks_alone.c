// A program whose only business with the threading runtime is tasks with large copies of their own;
// the region has it linked with the offload runtime.
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  int numbers[N], sum = 0, on_device = 0;
  for (int i = 0; i < N; i++) numbers[i] = i;
#pragma omp target map(from : on_device)
  on_device = !omp_is_initial_device();
#pragma omp task default(firstprivate)
  {
    for (int i = 0; i < N; i++) numbers[i] = 1;
    sum = numbers[0];
  }
#pragma omp taskwait
  for (int i = 0; i < N; i++) sum += numbers[i];
  return !(sum == N * (N - 1) / 2 && on_device);
}
