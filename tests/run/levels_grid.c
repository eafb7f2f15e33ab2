// Loops for gangs around loops for vectors, whose variables are the gang's: counters, offsets, sums.
#include <openacc.h>
#include <stdio.h>

enum { N = 60, M = 100 };

static int table[N][M], rows[N], seen[N];

int main(void)
{
  int failures = 0, host = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) table[i][j] = (i + 3 * j) % 11;
#pragma acc parallel loop gang copyin(table) copyout(rows, seen)
  for (int i = 0; i < N; i++) {
    int sum = 1, offset = 2 * i;
#pragma acc loop vector reduction(+ : sum)
    for (int j = 0; j < M; j++) {
      int both = table[i][j] + offset;
      sum += both;
    }
    rows[i] = sum;
    seen[i] = offset;
  }
#pragma acc kernels copy(table) copyout(host)
  {
    for (int i = 1; i < N; i++)
      for (int j = 0; j < M; j++) table[i][j] = 2 * table[i][j] + i;
    host = acc_on_device(acc_device_host);
  }
  for (int i = 0; i < N; i++) {
    int sum = 1;
    for (int j = 0; j < M; j++) {
      const int before = (i + 3 * j) % 11;
      sum += before + 2 * i;
      failures += table[i][j] != (i == 0 ? before : 2 * before + i);
    }
    failures += rows[i] != sum || seen[i] != 2 * i;
  }
  if (failures != 0 || host != 0) printf("%d wrong, on the host: %d\n", failures, host);
  return failures != 0 || host != 0;
}
