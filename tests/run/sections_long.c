// Sections whose code is several statements, before the first directive too; regions and declarations in them.
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int a[6] = { 0 }, seen[4] = { 0 }, here = 1, sum = 3, last = -1;
#pragma omp target map(tofrom : a, seen, sum, last) map(from : here)
  {
    here = omp_is_initial_device();
#pragma omp parallel num_threads(3)
    {
#pragma omp sections reduction(+ : sum) lastprivate(last)
      {
        a[0] = 1;
        a[1] += a[0] + 1;
        sum += 1;
#pragma omp section
        a[2] = 2;
        a[2] += 3;
#pragma omp atomic
        seen[0]++;
        last = 7;
#pragma omp section
        { a[3] = 6; }
        a[4] += 2 * a[3];
        for (int i = 0; i < 3; i++) sum += i;
#pragma omp task shared(a)
        a[5] = a[3] + 1;
#pragma omp taskwait
        last = a[5] * 10;
      }
#pragma omp sections
      {
#pragma omp section
        seen[1]++;
        seen[2] += seen[1];
      }
    }
#pragma omp parallel sections num_threads(2)
    {
      seen[3]++;
      seen[3]++;
#pragma omp section
      sum += 100;
      sum += 1000;
    }
  }
  int wrong = here || a[0] != 1 || a[1] != 2 || a[2] != 5 || a[3] != 6 || a[4] != 12 || a[5] != 7;
  wrong |= seen[0] != 1 || seen[1] != 1 || seen[2] != 1 || seen[3] != 2 || sum != 1107 || last != 70;
  printf("%d: sum %d last %d, %d\n", wrong, sum, last, here);
  return wrong;
}
