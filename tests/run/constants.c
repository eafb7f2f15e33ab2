// Constants that regions hand to functions: arrays of functions and of the file, arrays of arrays, strings, numbers by
// their address; and strings that are subscripted where they stand.
#include <math.h>
#include <omp.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static const int of_file[2][3] = {{1, 2, 3}, {4, 5, 6}};
static const short row_of_file[3] = {-1, -2, -3};

static int sum(const int *p, int n)
{
  int s = 0;
  while (n-- > 0) s += *p++;
  return s;
}

static int sum_rows(const int (*p)[3], int n)
{
  int s = 0;
  for (int i = 0; i < n; i++) s += sum(p[i], 3);
  return s;
}

/* As C was written once. */
static int scaled(p, n, factor)
  const int *p;
  int n, factor;
{
  return sum(p, n) * factor;
}

static int second(const short *p) { return p[1]; }
static int digit(unsigned v) { return "0123456789abcdef"[v & 15]; }
static int length(const char *s)
{
  int n = 0;
  while (*s++) n++;
  return n;
}

static void handed_over(void)
{
  const int n = 5, flat[4] = {[2] = 7, [0] = 1}, nested[2][3] = {{9}, {0, 8}};
  static const short own[3] = {-4, -5, -6};
  const double half = .5;
  int got[8] = {0};
#pragma omp target map(to : n, half) map(tofrom : got)
  {
    const int *p = n > 3 ? flat : nested[0];
    const int *const rows[2] = {flat, nested[1]};
    const double *h = &half;
    got[0] = sum(flat, 4) + sum(&n, 1) + sum(&flat[2], 1);
    got[1] = sum_rows(nested, 2) + scaled(nested[1], 3, 2);
    got[2] = sum_rows(of_file, 2) + sum(of_file[1], 2);
    got[3] = second(row_of_file) + second(own);
    got[4] = p[2] + rows[1][1] + rows[0][0];
    got[5] = (int)(*h * 100);
    got[6] = !omp_is_initial_device();
  }
  expect(got[0] == 8 + 5 + 7, "an array of a function, and a number by its address");
  expect(got[1] == 17 + 16, "an array of arrays of a function");
  expect(got[2] == 21 + 9, "an array of arrays of the file");
  expect(got[3] == -2 - 5, "short arrays");
  expect(got[4] == 7 + 8 + 1, "pointers to constants");
  expect(got[5] == 50, "a pointer to a number");
  expect(got[6], "nobody ran it elsewhere");
  int each[20];
#pragma acc parallel loop copyout(each)
  for (int i = 0; i < 20; i++) each[i] = sum(flat, i % 4) + nested[i & 1][1];
  for (int i = 0; i < 20; i++)
    expect(each[i] == sum(flat, i % 4) + nested[i & 1][1], "constants in a loop");
}

static void strings(void)
{
  int got[8];
#pragma omp target map(from : got)
  {
    char text[4];
    int n = 0;
    unsigned v = 0x5f;
    do text[n++] = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    const char *p = "tail" + 1;
    got[0] = text[0];
    got[1] = text[1];
    got[2] = digit(11);
    got[3] = length(&"world"[2]);
    got[4] = length("abc" "def") + (int)sizeof("xyz");
    got[5] = *p;
    got[6] = *"q";
    got[7] = 2["abc"];
  }
  expect(got[0] == 'f' && got[1] == '5' && got[2] == 'b', "digits of a string");
  expect(got[3] == 3 && got[4] == 6 + 4, "strings that are handed over");
  expect(got[5] == 'a' && got[6] == 'q' && got[7] == 'c', "characters of strings");
}

/* The numbers are `long` here, whatever they are in a library of the device. */
static void rounded(void)
{
  double d = -84.99, big = 3e11 + .75;
  float f = -18.5f;
  long got[5];
#pragma omp target map(to : d, big, f) map(from : got)
  {
    got[0] = lround(d);
    got[1] = lrint(d);
    got[2] = lroundf(f);
    got[3] = lrintf(f);
    got[4] = lround(big);
  }
  expect(got[0] == -85 && got[1] == -85 && got[2] == -19 && got[3] == -18, "rounded numbers");
  expect(got[4] == 300000000001, "a large rounded number");
}

int main(void)
{
  handed_over();
  strings();
  rounded();
  return failures != 0;
}
