// Variables with a memory kind: each thread has its own, which begins with the first value and stays from one region to the
// next. `ref` is for what a pointer leads to; a team has its own of `teamlocal`.
#include <ferry_memory.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

struct pair {
  char tag;
  double value;
};

static double table[300] = {1.5, 2.5};
int counter = 7;
static struct pair both = {'x', 4.0};
static int *lent;
static double (*rows)[8];
static int plain = 5;
_Alignas(256) static char wide[3] = "ab";
static int of_team;
#pragma omp memkind(fastmem : val : table, both, scratch : ref : lent, rows, volatile : plain, wide)
#pragma omp memkind(counter, teamlocal : of_team)

static int bump(void) {
  static int calls = 10;
#pragma omp memkind(fastmem : calls)
  return calls++;
}

static int take(int *from, int size) { return size == (int)sizeof(int) ? *from : -1; }

int main(void) {
  int wrong = 0, threads = 0;
  wrong += ferry_memkind_define("[scratch]\nnodes = [0]\n") != 0;
  counter = 1000;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3) reduction(+ : wrong, threads)
    {
      int me = omp_get_thread_num();
      threads++;
      if (round == 0) {
        wrong += me != 0 && counter != 7;
        wrong += table[1] != 2.5 || table[299] != 0 || both.tag != 'x' || both.value != 4.0;
        wrong += *lent != 0 || (*rows)[7] != 0 || plain != 5 || wide[1] != 'b';
        wrong += (uintptr_t)wide % 256 != 0;
        counter = me;
      }
      wrong += counter != me + round || take(&counter, sizeof counter) != me + round;
      if (round > 0)
        wrong += table[299] != me + round - 1 || both.value != me || *lent != me * 3 ||
                 (*rows)[7] != me || plain != me;
      wrong += bump() != 10 + round;
      counter++;
      table[299] = me + round;
      both.value = me;
      *lent = me * 3;
      (*rows)[7] = plain = me;
      wrong += sizeof table != 300 * sizeof(double) || sizeof(both) != sizeof(struct pair);
    }
  }
  int sums[4] = {0};
#pragma omp target teams num_teams(4) thread_limit(3) map(tofrom : sums)
  {
    of_team = 10 * omp_get_team_num();
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
      of_team++;
    }
    sums[omp_get_team_num()] = of_team;
  }
  for (int i = 0; i < 4; i++)
    wrong += sums[i] != 10 * i + 3;
  wrong += of_team != 0;
  ferry_where lies;
  wrong += ferry_memkind_where(&table, sizeof table, &lies) != 0 || lies.node < 0 || lies.present < 1;
  if (wrong || threads != 9) {
    printf("%d differences, %d threads\n", wrong, threads);
    return 1;
  }
  return 0;
}
