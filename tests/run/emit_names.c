// Names and literals of the program stay what they are, however much they look like those that kernels are made with.
#include <stdio.h>
#include <string.h>

struct part {
  int a__fd, __fds;
};
struct part g__fv = {7, 8};
static int x__ferry_y[4] = {1, 2, 3, 4};

int main(void) {
  int sum = 0, letters = 0, quote = 0, wrong = 0;
  struct part __fvx = {1, 2};
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : g__fv, x__ferry_y)
  for (int i = 0; i < 4; i++)
    sum += x__ferry_y[i] * (g__fv.a__fd + g__fv.__fds) + __fvx.a__fd;
#pragma omp target map(from : letters, quote) map(to : __fvx)
  {
    const char text[] = "\"__ferry_x __fd9 __fv1";
    letters = (int)sizeof text - 1 + __fvx.__fds;
    quote = text[1] == '_' && text[11] == '_' && '"' == text[0];
#ifdef _OPENMP
    letters += 1000;
#endif
  }
  wrong += sum != 10 * 15 + 4;
  wrong += letters != (int)strlen("\"__ferry_x __fd9 __fv1") + 2 + 1000;
  wrong += !quote;
  if (wrong)
    printf("%d %d %d\n", sum, letters, quote);
  return wrong != 0;
}
