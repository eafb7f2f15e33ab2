// Loops whose iterations threads take one by one or in a row: steps, directions and types of counters, nests
// that rows do not divide evenly, and copies that each iteration must have for itself.
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

enum { N = 1009 };
static int marks[N], more[N];

static int once(const int *list, int first, int end, int step)
{
  for (int i = 0; i < N; i++)
    if (list[i] != (i >= first && i < end && (i - first) % step == 0)) return 0;
  return 1;
}

static void counters(void)
{
  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for map(tofrom : marks)
  for (int i = 3; i < N; i += 7) marks[i]++;
  expect(once(marks, 3, N, 7), "a step");

  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for map(tofrom : marks)
  for (int i = N - 1; i >= 2; i--) marks[i]++;
  expect(once(marks, 2, N, 1), "a loop that goes down");

  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for map(tofrom : marks)
  for (unsigned char i = 250; i > 4; i -= 3) marks[i]++;
  expect(once(marks, 7, 251, 3), "a counter of one byte");

  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for map(tofrom : marks)
  for (long long i = 0; i < N; i++) marks[i]++;
  expect(once(marks, 0, N, 1), "a wide counter");

  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for map(tofrom : marks)
  for (int *p = marks; p < marks + N; p += 2) ++*p;
  expect(once(marks, 0, N, 2), "a pointer that counts");
}

static void nests(void)
{
  static int cube[5][7][131];
#pragma omp target teams distribute parallel for collapse(3) map(tofrom : cube)
  for (int i = 0; i < 5; i++)
    for (int j = 6; j >= 0; j--)
      for (int k = 1; k < 131; k += 2) {
        if ((i + j + k) % 3 == 0) continue;
        cube[i][j][k] += 100 * i + 10 * j + k;
      }
  int right = 1;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 131; k++) {
        const int want = k % 2 == 0 || (i + j + k) % 3 == 0 ? 0 : 100 * i + 10 * j + k;
        right = right && cube[i][j][k] == want;
      }
  expect(right, "three loops, some iterations of which do nothing");

  int last = -1, seen = 0;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(last) reduction(+ : seen)
  for (int i = 0; i < 13; i++)
    for (int j = 0; j < 3; j++) {
      last = 10 * i + j;
      seen++;
    }
  expect(last == 122 && seen == 39, "the last value of a nest");
}

static int *turned(int *list, int by)
{
  for (int i = 0; i < 4; i++) list[i] += by;
  return list;
}
#pragma omp declare target(turned)

static void copies(void)
{
  int own[4] = { 1, 2, 3, 4 };
  memset(marks, 0, sizeof marks);
#pragma omp target teams distribute parallel for private(own) map(tofrom : marks)
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 4; k++) own[k] = i + k;
    own[i % 4] = 7;
    for (int k = 0; k < 4; k++) marks[i] += own[(k + i) % 4];
  }
  int right = 1;
  for (int i = 0; i < N; i++) right = right && marks[i] == 4 * i + 6 - (i + i % 4) + 7;
  expect(right, "an array that each iteration fills");

#pragma omp target teams distribute parallel for map(tofrom : marks, more)
  for (int i = 0; i < N; i++) {
    int list[4] = { i, 1, 2, 3 }, taken = i, *at = &taken;
    *at += 1;
    more[i] = turned(list, i)[i % 4] + taken;
  }
  right = 1;
  for (int i = 0; i < N; i++) right = right && more[i] == (i % 4 == 0 ? i : i % 4) + i + i + 1;
  expect(right, "arrays and addresses of an iteration's own");
}

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  counters();
  nests();
  copies();
  return failures != 0;
}
