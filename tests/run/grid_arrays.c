// Arrays whose lengths are computed: mapped whole, by rows, through pointers and in functions.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

#pragma omp begin declare target
static double row_sum(int n, int m, double a[n][m], int row)
{
  double (*at)[m] = a, sum = 0;
  at += row;
  for (int j = 0; j < m; j++)
    sum += (*at)[j] + (at - a == row ? 0 : 1000);
  return sum;
}

static double last_of(int m, double (*rows)[m], int n)
{
  double (*end)[m] = rows + n;
  end--;
  return end[0][m - 1] + (double)(sizeof *end - m * sizeof(double));
}
#pragma omp end declare target

static void whole(int n, int m)
{
  double a[n][m], sums[n];
  float deep[2][n][3];
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < m; j++)
      a[i][j] = 10 * i + j;
    for (int k = 0; k < 3; k++)
      deep[0][i][k] = deep[1][i][k] = (float)k;
  }
  const int rows = n, columns = m;
#pragma omp target teams distribute parallel for map(tofrom : a, deep) map(from : sums)
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      a[i][j] *= 2;
    deep[1][i][2] += (float)(sizeof a / sizeof a[0] == (unsigned long)rows);
    double (*row)[columns] = &a[i];
    sums[i] = (*row)[0] + row[0][columns - 1];
  }
  int right = 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      right = right && a[i][j] == 2 * (10 * i + j);
    right = right && deep[1][i][2] == 3 && deep[0][i][2] == 2;
    right = right && sums[i] == a[i][0] + a[i][m - 1];
  }
  expect(right, "two and three dimensions");

  double sum = 0, last = 0;
#pragma omp target map(to : a) map(from : sum, last)
  {
    sum = row_sum(n, m, a, n - 1);
    last = last_of(m, a, n);
  }
  double wanted = 0;
  for (int j = 0; j < m; j++)
    wanted += a[n - 1][j];
  expect(sum == wanted && last == a[n - 1][m - 1], "functions get the lengths too");
}

static void through_pointer(int n, int m)
{
  int (*p)[m] = malloc(sizeof(int[n][m]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i][j] = i * m + j;
  long count = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : count) map(tofrom : p[0 : n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      count += p[i][j] == i * m + j && (*(p + i))[j] == *(p[i] + j);
  // The length is what it was.
  int later = m;
  m = 0;
#pragma omp target map(tofrom : p[0 : n])
  p[1][0] = -1;
  m = later;
  expect(count == (long)n * m && p[1][0] == -1 && p[0][0] == 0, "through a pointer to rows");
  free(p);
}

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  whole(7, 5);
  whole(3, 11);
  through_pointer(6, 9);
  return failures != 0;
}
