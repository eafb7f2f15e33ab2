// Updates of what does not lie side by side: columns, planes, members of records, parts of rows; of both standards.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { R = 12, C = 15 };
struct cell { int a; short b[3]; double c; };

static int grid[R][C], cube[4][5][6];
static struct cell cells[9];

// Whether the device's copy has these values; it is asked before anything comes back.
static int differs(int from, int to, int column) {
  int wrong = 0;
#pragma omp target map(tofrom : wrong)
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      wrong += grid[i][j] != (i >= from && i < to && j == column ? -1 : i * 100 + j);
  return wrong;
}

int main(void) {
  int wrong = 0, shares = 0, lo = 3, count = 5, column = 4;
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      grid[i][j] = i * 100 + j;
  for (int i = 0; i < 120; i++)
    cube[0][0][i] = i;
  for (int i = 0; i < 9; i++)
    cells[i] = (struct cell){i, {i, i, i}, i};
#pragma omp target enter data map(to : grid, cube, cells, shares)
  shares = 1;
  int seen = 0;
#pragma omp target map(from : seen)
  seen = shares;
  // Where memory is shared there is nothing to update.
  if (!seen) {
    memset(grid, -1, sizeof grid);
#pragma omp target update to(grid[lo : count][column])
    wrong += differs(lo, lo + count, column);
#pragma acc update device(grid[lo:count][column])
    wrong += differs(lo, lo + count, column);
    memset(cube, -1, sizeof cube);
#pragma omp target update to(cube[1 : 2][3][2 : 3], cube[:][0][5])
    int odd = 0;
#pragma omp target map(tofrom : odd)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 5; j++)
        for (int k = 0; k < 6; k++) {
          int is_new = (i >= 1 && i < 3 && j == 3 && k >= 2 && k < 5) || (j == 0 && k == 5);
          odd += cube[i][j][k] != (is_new ? -1 : (i * 5 + j) * 6 + k);
        }
    wrong += odd;
#pragma omp target
    for (int i = 0; i < 9; i++)
      cells[i] = (struct cell){-i - 1, {-1, -2, -3}, -5};
#pragma omp target update from(cells[2 : 3].a, cells[4 : 2].b[1 : 2], cells[0 : 4 : 2].c)
    for (int i = 0; i < 9; i++) {
      wrong += cells[i].a != (i >= 2 && i < 5 ? -i - 1 : i);
      wrong += cells[i].b[0] != i || cells[i].b[2] != (i == 4 || i == 5 ? -3 : i);
      wrong += cells[i].c != (i % 2 == 0 && i < 8 ? -5 : i);
    }
  }
#pragma omp target exit data map(delete : grid, cube, cells, shares)
  int away = 0;
#pragma omp target map(from : away)
  away = !omp_is_initial_device();
  wrong += !away;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
