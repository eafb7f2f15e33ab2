// Locks of the runtime in regions: set, tested, held several times by their owner, by threads of teams and through functions.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

#pragma omp begin declare target
static void add(omp_nest_lock_t *lock, int *to, int value)
{
  omp_set_nest_lock(lock);
  *to += value;
  omp_unset_nest_lock(lock);
}
#pragma omp end declare target

static void in_a_team(void)
{
  int count = 0, tested = 0, nested = 0, threads = 0, depth = 0;
#pragma omp target map(tofrom : count, tested, nested, threads, depth)
  {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock_with_hint(&nest, omp_sync_hint_contended);
#pragma omp parallel num_threads(6)
    {
      for (int i = 0; i < 10; i++) {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
      }
      while (!omp_test_lock(&lock)) continue;
      tested += 2;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      add(&nest, &nested, 3);
      int times = omp_test_nest_lock(&nest);
      if (times > depth) depth = times;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
#pragma omp single
      threads = omp_get_num_threads();
    }
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    if (omp_is_initial_device()) threads = 0;
  }
  expect(threads > 1 && count == 10 * threads && tested == 2 * threads, "a lock that threads take in turn");
  expect(nested == 3 * threads && depth == 2, "a lock that its owner holds several times");
}

static void of_a_league(void)
{
  int count = 0, threads = 0;
  omp_lock_t lock;
#pragma omp target data map(alloc : lock) map(tofrom : count, threads)
  {
#pragma omp target
    omp_init_lock(&lock);
#pragma omp target teams num_teams(3) map(tofrom : count, threads)
#pragma omp parallel num_threads(4)
    {
      omp_set_lock(&lock);
      count += 5;
      omp_unset_lock(&lock);
#pragma omp atomic
      threads++;
    }
  }
  expect(threads > 1 && count == 5 * threads, "a lock of several teams");
}

int main(void)
{
  in_a_team();
  of_a_league();
  return wrong;
}
