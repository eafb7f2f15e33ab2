/* Words of the host that all cores change: a histogram and a sum.
 *
 *   ferry run --device riscv bench/programs/words.c
 *
 * prints the cycles of its region. */
#include <stdio.h>
int main(void) {
  enum { N = 4096 };
  static int a[N]; static int bins[16]; int total = 0;
  for (int i = 0; i < N; i++) a[i] = (i * 2654435761u) >> 7;
  #pragma omp target teams distribute parallel for map(to: a) map(tofrom: bins, total)
  for (int i = 0; i < N; i++) {
    #pragma omp atomic
    bins[a[i] & 15]++;
    #pragma omp atomic
    total += a[i] & 3;
  }
  long sum = 0; for (int i = 0; i < 16; i++) sum = sum * 31 + bins[i];
  printf("%ld %d\n", sum, total);
}
