// What threads of a team do together: iterations in order, prefixes, sections, one for all, chosen threads, barriers.
#include <omp.h>
#include <stdio.h>

enum { N = 50 };
static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

static void order(void)
{
  int list[N], count = 0, who[N], right = 1;
#pragma omp target parallel for ordered schedule(static, 2) num_threads(3) map(tofrom : list, count) map(from : who)
  for (int i = 0; i < N; i++) {
    who[i] = omp_get_thread_num();
#pragma omp ordered
    list[count++] = i;
  }
  for (int i = 0; i < N; i++) right &= list[i] == i && who[i] == i / 2 % 3;
  expect(right && count == N, "iterations in order, each by its thread");
  int sum = 100, before[N], upto[N];
  long product = 1;
#pragma omp target parallel for reduction(inscan, + : sum) map(from : upto)
  for (int i = 0; i < N; i++) {
    sum += i;
#pragma omp scan inclusive(sum)
    upto[i] = sum;
  }
  int at = 5;
#pragma omp target parallel for reduction(inscan, + : at) map(from : before)
  for (int i = 0; i < N; i++) {
    before[i] = at;
#pragma omp scan exclusive(at)
    at += 2 * i;
  }
  right = sum == 100 + N * (N - 1) / 2 && at == 5 + N * (N - 1) && product == 1;
  for (int i = 0; i < N; i++) right &= upto[i] == 100 + i * (i + 1) / 2 && before[i] == 5 + i * (i - 1);
  expect(right, "prefixes");
}

static void together(void)
{
  int done[5] = { 0 }, last = -1, threads[4] = { 0 }, told[4] = { 0 }, chosen = -1, late[4] = { 0 };
#pragma omp target map(tofrom : done, last, threads, told, chosen, late)
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num(), value = -1;
#pragma omp sections lastprivate(last)
    {
#pragma omp section
      {
        done[0]++;
        last = 10;
      }
#pragma omp section
      {
        done[1]++;
        last = 11;
      }
#pragma omp section
      {
        done[2]++;
        last = 12;
      }
    }
#pragma omp single copyprivate(value)
    value = 40 + last;
    told[me] = value;
#pragma omp masked filter(2)
    chosen = me;
    threads[me] = me + 1;
#pragma omp barrier
    for (int round = 0; round < 3; round++) {
      late[me] += threads[(me + 1 + round) % 4];
#pragma omp barrier
      threads[me] *= 2;
#pragma omp barrier
    }
  }
  expect(done[0] == 1 && done[1] == 1 && done[2] == 1 && last == 12, "sections");
  int right = 1, is_late = 1;
  for (int i = 0; i < 4; i++) {
    int sum = 0;
    for (int round = 0; round < 3; round++) sum += ((i + 1 + round) % 4 + 1) << round;
    right &= told[i] == 52;
    is_late &= late[i] == sum;
  }
  expect(right, "one tells the others");
  expect(chosen == 2, "a chosen thread");
  expect(is_late, "barriers in a loop");
}

typedef struct {
  double low, high;
  int count;
} range;
static void widen(range *to, const range *by)
{
  if (by->low < to->low) to->low = by->low;
  if (by->high > to->high) to->high = by->high;
  to->count += by->count;
}
#pragma omp declare reduction(hull : range : widen(&omp_out, &omp_in)) initializer(omp_priv = (range){ 1e9, -1e9, 0 })

static void sums(void)
{
  int bins[7] = { 0 }, more[3] = { 1, 2, 3 };
  int *part = more;
#pragma omp target teams distribute parallel for num_teams(3) reduction(+ : bins) map(tofrom : bins)
  for (int i = 0; i < 700; i++) bins[i % 7] += i;
  int right = 1;
  for (int i = 0; i < 7; i++) right &= bins[i] == 100 * i + 7 * 4950;
  expect(right, "an array");
#pragma omp target parallel for num_threads(5) reduction(max : part[1 : 2]) map(tofrom : part[0 : 3])
  for (int i = 0; i < 99; i++)
    if (part[1 + i % 2] < i) part[1 + i % 2] = i;
  expect(more[0] == 1 && more[1] == 98 && more[2] == 97, "a part of an array");
  range all = { 5, 5, 1 };
#pragma omp target teams distribute parallel for num_teams(2) reduction(hull : all) map(tofrom : all)
  for (int i = 0; i < 1000; i++) {
    range one = { -i, 2.0 * i, 1 };
    widen(&all, &one);
  }
  expect(all.low == -999 && all.high == 1998 && all.count == 1001, "in the user's way");
  long cells = 0;
  static int hit[30][30];
#pragma omp target teams distribute parallel for collapse(2) num_teams(4) map(tofrom : hit) reduction(+ : cells)
  for (int i = 0; i < 30; i++)
    for (int j = i; j < 30; j++) {
      hit[i][j]++;
      cells += omp_get_num_teams();
    }
  right = cells == 4 * 465;
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 30; j++) right &= hit[i][j] == (j >= i);
  expect(right, "a triangle");
}

int main(void)
{
  order();
  together();
  sums();
  if (!wrong) puts("right");
  return wrong;
}
