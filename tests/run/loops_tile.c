// Tiles are visited one after the other, partial ones at the edges included.
#include <stdio.h>

static int order[64], count;

static int visits(int rows, int columns, int height, int width) {
  int expected[64], at = 0;
  for (int i0 = 0; i0 < rows; i0 += height)
    for (int j0 = 0; j0 < columns; j0 += width)
      for (int i = i0; i < rows && i < i0 + height; i++)
        for (int j = j0; j < columns && j < j0 + width; j++)
          expected[at++] = i * 10 + j;
  int wrong = at != count;
  for (int k = 0; k < at && k < count; k++)
    wrong += expected[k] != order[k];
  return wrong;
}

int main(void) {
  int wrong = 0;
#pragma omp tile sizes(2, 3)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 7; ++j)
      order[count++] = i * 10 + j;
  wrong += visits(5, 7, 2, 3);

  // Steps, directions and the variable's type are the user's.
  count = 0;
  unsigned char last = 0;
#pragma omp tile sizes(4)
  for (unsigned char c = 200; c > 180; c -= 3) {
    order[count++] = c;
    last = c;
  }
  wrong += count != 7 || last != 182 || order[1] != 197;

  // All four loops that are made can be dealt.
  int seen[5][7] = {0};
#pragma omp parallel for collapse(4)
#pragma omp tile sizes(2, 3)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 7; ++j)
      seen[i][j]++;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 7; ++j)
      wrong += seen[i][j] != 1;

  // A tile is one piece of work of the loop around it, on a device too.
  int owner[12];
#pragma omp target parallel for num_threads(3) schedule(static, 1) map(from : owner)
#pragma omp tile sizes(4)
  for (int i = 0; i < 12; i++)
    owner[i] = i / 4;
  for (int i = 0; i < 12; i++)
    wrong += owner[i] != i / 4;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
