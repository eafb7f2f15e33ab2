// Iterators in map clauses: elements with gaps lie on the device as on the host, rows beside the pointers that lead to them.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 4 };
static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

static void rows(void)
{
  int on_device = 0, right = 1;
  double **table = malloc(ROWS * sizeof *table);
  for (int i = 0; i < ROWS; i++) {
    table[i] = malloc(COLUMNS * sizeof **table);
    for (int j = 0; j < COLUMNS; j++) table[i][j] = 10 * i + j;
  }
#pragma omp target map(to : table[0 : ROWS]) map(iterator(i = 0 : ROWS), tofrom : table[i][0 : COLUMNS]) map(from : on_device)
  {
    on_device = !omp_is_initial_device();
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) table[i][j] += 0.5;
  }
#pragma omp target teams distribute parallel for map(iterator(int i = 0 : ROWS : 2), tofrom : table[i][1 : 2]) map(to : table[1])
  for (int i = 0; i < ROWS; i += 2) table[i][1] *= 2;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) right &= table[i][j] == (10 * i + j + 0.5) * (j == 1 && i % 2 == 0 ? 2 : 1);
  expect(right && on_device, "rows beside pointers to them");
}

static void gaps(int count)
{
  int data[20], *p = data, total = 0, right = 1;
  for (int i = 0; i < 20; i++) data[i] = i;
#pragma omp target map(iterator(i = 2 : 14 : 3), tofrom : p[i]) map(tofrom : total)
  for (int i = 2; i < 14; i += 3) total += p[i]++;
#pragma omp target map(to : p[0 : 2]) map(iterator(i = 3 : 3 + count), tofrom : p[i]) map(tofrom : total)
  for (int i = 3; i < 3 + count; i++) p[i] += p[1], total++;
  for (int i = 0; i < 20; i++) right &= data[i] == i + (i >= 2 && i < 14 && i % 3 == 2) + (i >= 3 && i < 3 + count);
  expect(right && total == 2 + 5 + 8 + 11 + count, "elements with gaps");
}

int main(void)
{
  rows();
  gaps(4);
  gaps(0);
  return wrong;
}
