// Constructs in functions: what they mean depends on where they are called.
#include <omp.h>
#include <stdio.h>

enum { N = 40 };
static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

static int number(void) { return omp_get_thread_num(); }

static int first_with(const int *list, int wanted)
{
  for (int i = 0; i < N; i++) {
    if (list[i] == wanted) return i + 100 * number();
    if (i == N - 1) break;
  }
  return -1;
}

static void fill(int *list, int by)
{
#pragma omp for schedule(static, 1)
  for (int i = 0; i < N; i++) {
    if (i % 10 == 9) continue;
    list[i] = by * i + number();
  }
}

static int meet(int *counter)
{
  int before = 0;
#pragma omp atomic
  *counter += 1;
#pragma omp barrier
  before = *counter;
#pragma omp barrier
  return before;
}

int main(void)
{
  int list[N] = { 0 }, found[3] = { 0 }, seen[3] = { 0 }, counter = 0, alone[N] = { 0 }, outside = -1;
#pragma omp target map(tofrom : list, found, seen, counter, alone, outside)
  {
    outside = number();
    fill(alone, 7);
#pragma omp parallel num_threads(3)
    {
      fill(list, 10);
      found[number()] = first_with(list, 10 * (12 + number()) + (12 + number()) % 3);
      int rounds = 0;
      while (rounds < 2) {
        seen[number()] += meet(&counter);
        rounds++;
      }
    }
  }
  int right = outside == 0;
  for (int i = 0; i < N; i++) right &= alone[i] == (i % 10 == 9 ? 0 : 7 * i);
  expect(right, "without a team");
  right = 1;
  for (int i = 0; i < N; i++) right &= list[i] == (i % 10 == 9 ? 0 : 10 * i + i % 3);
  expect(right, "a loop that the callers share");
  expect(found[0] == 12 && found[1] == 113 && found[2] == 214, "who calls");
  expect(counter == 6 && seen[0] == 9 && seen[1] == 9 && seen[2] == 9, "callers that meet");
  if (!wrong) puts("right");
  return wrong;
}
