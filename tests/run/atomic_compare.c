// Atomic comparisons in all their forms, by many threads of many teams; sums beside them, and an object that is too large
// to be exchanged in one step.
#include <omp.h>
#include <stdio.h>

#define N 20000

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int number(int i) { return (int)((unsigned)i * 2654435761u >> 8) % 100003; }
#pragma omp declare target to(number)

int main(void)
{
  int least = 1 << 30, most = -1, low = 1 << 30, teams = 0;
  unsigned char small = 0;
  double far = 0;
  long owner = -1, owners = 0, seen = 0, wins = 0, losses = 0, sum = 0;
  int stairs = 0, steps = 0, last = 0;
#pragma omp target teams distribute parallel for num_teams(4) map(tofrom : least, most, low, small, far, owner, owners, seen, wins, losses, sum, teams)
  for (int i = 0; i < N; i++) {
    const int x = number(i);
    if (i == 0) teams = omp_get_num_teams();
#pragma omp atomic compare
    if (x < least) least = x;
#pragma omp atomic compare
    if (most < x) { most = x; }
#pragma omp atomic compare
    low = low > x ? x : low;
#pragma omp atomic compare
    small = small < (unsigned char)(x % 200) ? (unsigned char)(x % 200) : small;
#pragma omp atomic compare
    far = 0.5 * x > far ? 0.5 * x : far;
    long before;
#pragma omp atomic compare capture
    { before = owner; if (owner == -1) owner = i; }
    if (before == -1) {
#pragma omp atomic
      owners++;
    }
    long now;
#pragma omp atomic compare capture
    { if (seen < i) { seen = i; } now = seen; }
    int won;
#pragma omp atomic compare capture
    { won = owner == i; if (won) { owner = i; } }
#pragma omp atomic
    wins += won;
    long held = -2;
#pragma omp atomic compare capture
    if (owner == -1) { owner = i; } else { held = owner; }
#pragma omp atomic
    losses += held >= 0 && now >= i;
#pragma omp atomic
    sum += x;
  }
  int right_least = 1 << 30, right_most = -1, right_small = 0;
  long right_sum = 0;
  for (int i = 0; i < N; i++) {
    const int x = number(i);
    if (x < right_least) right_least = x;
    if (x > right_most) right_most = x;
    if (x % 200 > right_small) right_small = x % 200;
    right_sum += x;
  }
  expect(teams == 4, "teams");
  expect(least == right_least && most == right_most && low == right_least, "least and most");
  expect(small == right_small, "a small object");
  expect(far == 0.5 * right_most, "a value on the left");
  expect(owner >= 0 && owner < N && owners == 1 && wins == 1, "one owner");
  expect(seen == N - 1 && losses == N, "what is there afterwards, or if it is another");
  expect(sum == right_sum, "a sum");

  // Each step is taken once, by whoever finds the one before.
#pragma omp target teams distribute parallel for num_teams(4) map(tofrom : stairs, steps, last)
  for (int i = 0; i < 400; i++) {
    int done = 0;
    for (int tries = 0; tries < 1000000 && !done; tries++) {
      int at, is_mine;
#pragma omp atomic read
      at = stairs;
#pragma omp atomic compare capture
      { is_mine = stairs == at; if (is_mine) { stairs = at + 1; } }
      done = is_mine;
    }
#pragma omp atomic
    steps += done;
#pragma omp atomic compare
    last = last < i ? i : last;
  }
  expect(stairs == 400 && steps == 400 && last == 399, "a step by each");
  if (failures == 0) puts("ok");
  return failures != 0;
}
