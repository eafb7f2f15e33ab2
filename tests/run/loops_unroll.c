// A partially unrolled loop has fewer iterations to deal: four consecutive ones go to one thread.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int owner[16], sum = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1)
#pragma omp unroll partial(4)
  for (int i = 0; i < 16; i++)
    owner[i] = omp_get_thread_num();
  int wrong = 0;
  for (int i = 0; i < 16; i++)
    wrong += owner[i] != i / 4;

#pragma omp unroll full
  for (int i = 0; i < 5; i++)
    sum += i;
#pragma omp unroll
  for (int *p = owner; p != owner + 16; ++p)
    sum += *p;
  wrong += sum != 10 + 24;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
