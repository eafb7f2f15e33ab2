// `update` of a pointer that says no length: all that is mapped behind it is moved, whoever mapped it.
#include <openacc.h>
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

enum { N = 100, M = 7 };

// Somebody else has mapped it, how much is not known here.
static void refresh(int *p, int to_device)
{
  if (to_device) {
#pragma acc update device(p)
  } else {
#pragma acc update self(p)
  }
}

static void rows(int n)
{
  int (*table)[M] = malloc(n * sizeof *table);
  long sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < M; j++) table[i][j] = 0;
#pragma acc data create(table[0:n])
  {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < M; j++) table[i][j] = i + j;
#pragma acc update device(table)
#pragma acc parallel loop collapse(2) reduction(+ : sum) present(table)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < M; j++) {
        sum += table[i][j];
        table[i][j] = acc_on_device(acc_device_host) ? -1 : 3;
      }
#pragma acc update self(table)
  }
  expect(sum == (long)M * n * (n - 1) / 2 + (long)n * M * (M - 1) / 2, "all rows have come");
  expect(table[0][0] == 3 && table[n - 1][M - 1] == 3, "all rows have come back");
  free(table);
}

static void from_elsewhere(void)
{
  int *line = malloc(N * sizeof *line);
  int wrong = 0;
  for (int i = 0; i < N; i++) line[i] = 0;
#pragma acc enter data create(line[0:N])
  for (int i = 0; i < N; i++) line[i] = i;
  refresh(line, 1);
#pragma acc parallel loop present(line[0:N])
  for (int i = 0; i < N; i++) line[i] = acc_on_device(acc_device_host) ? 0 : 2 * line[i];
  // The pointer may lead anywhere into what is mapped.
  refresh(line + N / 2, 0);
  for (int i = 0; i < N; i++) wrong += line[i] != 2 * i;
  expect(wrong == 0, "mapped by one function and updated by another");
#pragma acc exit data delete(line[0:N])
  int *none = 0;
  refresh(none, 1);
#pragma acc update device(line) if_present
  free(line);
}

// Here the pointer itself is on the device, and that is what is updated.
static void itself(void)
{
  static int first = 1, second = 2;
  int *p = &first, found = 0;
#pragma acc data copyin(first, second) copyin(p)
  {
    p = &second;
#pragma acc update device(p)
#pragma acc parallel copyout(found) present(p)
    found = p != 0;
  }
  expect(found, "a pointer that is mapped itself");
  // What it leads to need not be there, or be anything.
  int outside, *astray = &outside;
  found = 0;
#pragma acc enter data copyin(astray)
#pragma acc parallel copyout(found) present(astray)
  found = astray != 0;
#pragma acc exit data delete(astray)
  expect(found, "a pointer that leads elsewhere");
}

int main(void)
{
  rows(30);
  from_elsewhere();
  itself();
  if (!failures) printf("done\n");
  return failures != 0;
}
