// Variables of kernels lie where `_Alignas`, `aligned` and `allocate` want them: own ones, copies, sums, those of teams, functions and files.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#define N 96

static uintptr_t rest(const volatile void *p, uintptr_t to) {
  volatile uintptr_t at = (uintptr_t)p;
  return at % to;
}
#pragma omp declare target enter(rest)

struct wide {
  char tag;
  float values[3];
} __attribute__((aligned(128)));

static char before = 1;
static short table[3] __attribute__((aligned(256))) = {1, 2, 3};
static char between = 2;
_Alignas(64) static double number = 2.5;
#pragma omp declare target enter(before, table, between, number)

static int in_function(int i) {
  char gap = (char)i;
  _Alignas(128) int own[3] = {i, i + 1, i + 2};
  short wider __attribute__((aligned(32))) = (short)gap;
  int sum = 0;
  for (int *at = own; at < own + 3; at++)
    sum += *at;
  return (rest(own, 128) || rest(&wider, 32)) ? -1 : sum + wider - gap;
}
#pragma omp declare target enter(in_function)

int main(void) {
  int wrong = 0, out[N], bad = 0, last = -1, sum = 5;
  char list[9] = {1, 2, 3};
  struct wide wide = {'w', {1, 2, 3}};

  // Each thread has its own.
#pragma omp target teams distribute parallel for map(from : out) firstprivate(list, wide) \
    allocate(align(256) : list) allocate(align(512) : wide)
  for (int i = 0; i < N; i++) {
    char gap = (char)(i % 3);
    _Alignas(64) double own = i;
    long more[2] __attribute__((aligned(256))) = {i, gap};
    list[0] = (char)i, wide.values[1] = (float)i;
    out[i] = rest(&own, 64) || rest(more, 256) || rest(list, 256) || rest(&wide, 512) ? -1 : (int)own + (int)more[1];
    out[i] += in_function(i) == 3 * i + 3 && wide.values[1] == i && wide.tag == 'w' ? 0 : 1000;
  }
  for (int i = 0; i < N; i++)
    wrong += out[i] != i + i % 3;
  wrong += list[0] != 1 || wide.values[1] != 2;

  // A team has one, or its threads have.
  bad = 0;
#pragma omp target teams num_teams(3) map(tofrom : bad) firstprivate(list) allocate(align(128) : list) reduction(+ : bad)
  {
    char gap = 1;
    int both[5] __attribute__((aligned(512)));
    bad += rest(both, 512) != 0 || rest(list, 128) != 0 || gap != 1;
    for (int i = 0; i < 5; i++)
      both[i] = 0;
#pragma omp parallel num_threads(4) private(list) allocate(align(64) : list) reduction(+ : bad)
    {
      _Alignas(256) short of_thread = (short)omp_get_thread_num();
      list[0] = 7;
      bad += rest(&of_thread, 256) != 0 || rest(list, 64) != 0;
#pragma omp atomic
      both[of_thread % 5] += 1;
    }
    bad += both[0] < 1 || both[4] != 0 || list[0] != 1;
  }
  wrong += bad;

  // Sums and last values.
  bad = 0;
#pragma omp target parallel for map(tofrom : bad, last, sum) lastprivate(last) reduction(+ : sum) reduction(| : bad) \
    allocate(align(64) : last, sum)
  for (int i = 0; i < N; i++) {
    last = i, sum += i;
    bad |= rest(&last, 64) != 0 || rest(&sum, 64) != 0;
  }
  wrong += bad || last != N - 1 || sum != 5 + N * (N - 1) / 2;

  // The file's.
#pragma omp target map(from : bad)
  {
    bad = rest(table, 256) != 0 || rest(&number, 64) != 0;
    bad += before != 1 || between != 2 || table[2] != 3 || number != 2.5;
  }
  wrong += bad;

  // The other standard's.
#pragma acc parallel loop copyout(out) private(list)
  for (int i = 0; i < N; i++) {
    _Alignas(128) float own = (float)i;
    list[1] = (char)i;
    out[i] = (rest(&own, 128) ? -1 : (int)own) + list[1];
  }
  for (int i = 0; i < N; i++)
    wrong += out[i] != 2 * i;
  wrong += list[1] != 2;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
