/* Arrays of computed size: lengths are computed once, where they are declared. */
#include <stdio.h>
#include <string.h>
static int rows(int n, int m, int a[n][m]) { return (int)(sizeof a[0] / sizeof(int)) * 100 + a[n - 1][m - 1]; }
static int starred(int n, double (*)[n]);
static int starred(int n, double (*a)[n]) { return (int)sizeof *a + (int)a[1][0]; }
static int total(int n, const int v[restrict static n]) { int t = 0; for (int i = 0; i < n; i++) t += v[i]; return t; }
int main(void) {
  int n = 3, m = 4;
  int a[n][m];
  memset(a, 0, sizeof a);
  a[2][3] = 7;
  n = 50;
  printf("%zu %zu\n", sizeof a, sizeof a[0]);
  printf("%d\n", rows(3, 4, a));
  double (*p)[m] = (double (*)[m])__builtin_malloc(2 * sizeof *p);
  p[1][0] = 9;
  m = 1;
  printf("%d %zu\n", starred(4, p), sizeof *p);
  int (*walk)[4] = a;
  walk++;
  printf("%d %d\n", (int)(walk - a), walk[1][3]);
  for (int i = 1; i < 3; i++) { char text[i * 2]; printf("%zu ", sizeof text); }
  printf("%zu\n", sizeof(int[m + 1]));
  printf("%d\n", total(3, (int[]){ 1, 2, 3 }));
  int (*f)(int, double (*)[*]) = starred;
  printf("%d\n", f(4, p));
  return 0;
}
