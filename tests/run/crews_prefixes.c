// Prefixes that several threads make together, jumps within the code of one thread, and calls under conditions of functions
// in which threads meet.
#include <omp.h>
#include <stdio.h>

enum { N = 300 };

struct map {
  unsigned m, c;
};

static void then(struct map *a, const struct map *b) {
  a->c = b->m * a->c + b->c;
  a->m *= b->m;
}
#pragma omp declare target(then)
#pragma omp declare reduction(then : struct map : then(&omp_out, &omp_in)) initializer(omp_priv = {1, 0})

static int met[4], calls;
#pragma omp declare target(met, calls)

static int meet(int x) {
  calls++;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 4; i++)
    met[i] += x * (omp_get_num_threads() > 1);
  return x;
}
#pragma omp declare target(meet)

static int wrong;

static void expect(const char *what, long got, long wanted) {
  if (got != wanted) {
    printf("%s: %ld, not %ld\n", what, got, wanted);
    wrong = 1;
  }
}

int main(void) {
  long sums[N], sum = 7, before[N], gone = 0;
  unsigned at[N];
  int who[N], ran[N] = {0}, threads = 0;
  struct map all = {1, 0};
#pragma omp target parallel num_threads(4) map(from : sums, before, at, who) map(tofrom : sum, gone, all, ran, threads)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for reduction(inscan, + : sum)
    for (int i = 0; i < N; i++) {
      sum += i * i;
      ran[i] += 1;
      who[i] = omp_get_thread_num();
#pragma omp scan inclusive(sum)
      sums[i] = sum;
    }
#pragma omp for reduction(inscan, + : gone)
    for (int i = N - 1; i >= 0; i--) {
      before[i] = gone;
#pragma omp scan exclusive(gone)
      gone += i;
    }
#pragma omp for reduction(inscan, then : all)
    for (int i = 0; i < N; i++) {
      {
        struct map one = {2 * i + 1, i};
        then(&all, &one);
      }
#pragma omp scan inclusive(all)
      at[i] = all.c;
    }
  }
  long so_far = 7, passed = 0;
  unsigned m = 1, c = 0;
  int by_others = 0;
  for (int i = 0; i < N; i++) {
    so_far += i * i;
    c = (2 * i + 1) * c + i;
    m *= 2 * i + 1;
    expect("a sum so far", sums[i], so_far);
    expect("a map so far", at[i], c);
    expect("an iteration", ran[i], 1);
    by_others += who[i] != 0;
  }
  for (int i = N - 1; i >= 0; i--) {
    expect("what went before", before[i], passed);
    passed += i;
  }
  expect("the sum", sum, so_far);
  expect("the map", all.m, m);
  expect("all", gone, passed);
  expect("threads", threads, 4);
  expect("others take part", by_others > 0, 1);

  int got[6] = {0}, steps = 0;
#pragma omp target map(tofrom : got, steps)
  {
    calls = 0;
    for (int i = 0; i < 4; i++) met[i] = 0;
  again:
    steps++;
    if (steps < 6) goto again;
    got[0] = 0 && meet(1);
    got[1] = meet(2) && meet(4);
    got[2] = meet(8) || meet(16);
    got[3] = got[1] ? meet(32) + 1 : meet(64);
    got[4] = got[0] ? meet(128) : calls;
    got[5] = met[0] + met[3];
  }
  expect("jumps", steps, 6);
  expect("neither", got[0], 0);
  expect("both", got[1], 1);
  expect("one", got[2], 1);
  expect("chosen", got[3], 33);
  expect("calls", got[4], 4);
  expect("met", got[5], 2 * (2 + 4 + 8 + 32));
  return wrong;
}
