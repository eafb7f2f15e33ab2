// Teams in two dimensions whose number makes no difference, and names that parameters have too.
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 12 };
int cells[N][N], scale = 3;
#pragma acc declare create(cells, scale)

struct held { int scale, cells; };

#pragma acc routine seq
static int scaled(int scale, struct held *cells) { return scale * cells->scale + cells->cells; }

#pragma acc routine seq
static int global_scale(void) { return scale; }

int main(void)
{
  int a[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = cells[i][j] = i * N + j;
#pragma acc update device(cells, scale)
#pragma acc parallel num_gangs(N, N) copy(a)
#pragma acc loop gang(dim : 2)
  for (int i = 0; i < N; i++) {
#pragma acc loop gang(dim : 1)
    for (int j = 0; j < N; j++) a[i][j] += 1;
  }
  int right = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) right = right && a[i][j] == i * N + j + 1;
  expect(right, "each cell once");

#pragma acc parallel loop collapse(2) copyout(a) present(cells)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      struct held here = { 2, 1 };
      a[i][j] = scaled(cells[i][j], &here) * global_scale();
    }
  right = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) right = right && a[i][j] == 3 * (2 * (i * N + j) + 1);
  expect(right, "variables and parameters of one name");

  int own = 3, wrong = 0, count = 0;
#pragma acc parallel num_gangs(5) copy(wrong, count)
  {
    own += 4;
#pragma acc atomic update
    wrong += own != 7;
#pragma acc atomic update
    count++;
#pragma acc loop gang
    for (int i = 0; i < N; i++) {
#pragma acc atomic update
      count += 100;
    }
  }
  expect(own == 3 && wrong == 0 && count == 5 + 100 * N, "teams have copies, and share loops");
  return failures != 0;
}
