// Induction variables have their value in every iteration, whichever thread runs it, and at the end.
#include <stdio.h>

int main(void) {
  int power = 3, line = 100, wrong = 0;
  int powers[8] = {0}, lines[8] = {0};
#pragma omp parallel for num_threads(8) schedule(static, 1) induction(step(2), * : power) induction(step(-7), + : line)
  for (int i = 0; i < 8; i++) {
    powers[i] = power;
    lines[i] = line;
  }
  for (int i = 0, p = 3; i < 8; i++, p *= 2)
    wrong += powers[i] != p || lines[i] != 100 - 7 * i;
  wrong += power != 3 * 256 || line != 100 - 56;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
