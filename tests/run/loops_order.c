// Reverse, interchange, stripe, split and fuse change the order in which iterations run.
#include <stdio.h>
#include <string.h>

static char trace[256];
static void visit(const char *word, int number) {
  sprintf(trace + strlen(trace), "%s%d ", word, number);
}
static int is_not(const char *expected) {
  int differs = strcmp(trace, expected) != 0;
  if (differs)
    printf("got      %s\nexpected %s\n", trace, expected);
  trace[0] = 0;
  return differs;
}

int main(void) {
  int wrong = 0;
#pragma omp reverse
  for (int i = 1; i <= 9; i += 2)
    visit("", i);
  wrong += is_not("9 7 5 3 1 ");

#pragma omp interchange
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      visit("", i * 10 + j);
  wrong += is_not("0 10 1 11 2 12 ");

#pragma omp interchange permutation(3, 1, 2)
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++)
        visit("", i * 100 + j * 10 + k);
  wrong += is_not("0 10 100 110 1 11 101 111 ");

#pragma omp stripe sizes(3)
  for (int i = 0; i < 8; i++)
    visit("", i);
  wrong += is_not("0 3 6 1 4 7 2 5 ");

#pragma omp split counts(2, omp_fill, 1) apply(split(2) : reverse)
  for (int i = 0; i < 6; i++)
    visit("", i);
  wrong += is_not("0 1 4 3 2 5 ");

  // A shorter loop pauses; `continue` ends one of the bodies only.
#pragma omp fuse
  {
    for (int i = 0; i < 3; i++) {
      if (i == 1)
        continue;
      visit("a", i);
    }
    for (int j = 10; j < 12; j++)
      visit("b", j);
  }
  wrong += is_not("a0 b10 b11 a2 ");

#pragma omp fuse looprange(2, 2)
  {
    for (int i = 0; i < 2; i++)
      visit("a", i);
    for (int i = 0; i < 2; i++)
      visit("b", i);
    for (int i = 0; i < 2; i++)
      visit("c", i);
  }
  wrong += is_not("a0 a1 b0 c0 b1 c1 ");

  // One transformation upon another, and one applied to what another makes.
#pragma omp reverse
#pragma omp tile sizes(2)
  for (int i = 0; i < 6; i++)
    visit("", i);
  wrong += is_not("4 5 2 3 0 1 ");

#pragma omp tile sizes(3) apply(intratile : reverse)
  for (int i = 0; i < 7; i++)
    visit("", i);
  wrong += is_not("2 1 0 5 4 3 6 ");

#pragma omp tile sizes(3) apply(grid : reverse)
  for (int i = 0; i < 7; i++)
    visit("", i);
  wrong += is_not("6 3 4 5 0 1 2 ");

#pragma omp unroll partial(2) apply(reverse)
  for (int i = 0; i < 7; i++)
    visit("", i);
  wrong += is_not("6 4 5 2 3 0 1 ");

#pragma omp tile sizes(4) apply(intratile : unroll partial(2) apply(reverse))
  for (int i = 0; i < 8; i++)
    visit("", i);
  wrong += is_not("2 3 0 1 6 7 4 5 ");
  return wrong != 0;
}
