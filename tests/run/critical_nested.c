// Critical sections inside of others, in functions too, with atomic accesses and locks in them.
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
static void count(int *at)
{
#pragma omp critical(inner)
  *at += 1;
}
#pragma omp end declare target

int main(void)
{
  int own[6] = { 0 }, inside = 0, called = 0, locked = 0, threads = 0, away = 0;
  long double_steps = 0;
  unsigned short small = 0;
#pragma omp target map(tofrom : own, inside, called, locked, threads, double_steps, small, away)
  {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(5)
    {
      for (int round = 0; round < 4; round++) {
#pragma omp critical(outer)
        {
          own[omp_get_thread_num()]++;
#pragma omp critical(inner)
          inside += 2;
          count(&called);
#pragma omp atomic
          small += 3;
#pragma omp critical
          {
            double_steps = double_steps * 2 % 1000003 + 1;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
          }
        }
      }
#pragma omp single
      threads = omp_get_num_threads();
    }
    omp_destroy_lock(&lock);
    away = !omp_is_initial_device();
  }
  long expected = 0;
  for (int i = 0; i < 4 * threads; i++) expected = expected * 2 % 1000003 + 1;
  int right = away && threads > 1;
  for (int i = 0; i < threads; i++) right &= own[i] == 4;
  expect(right && inside == 8 * threads && called == 4 * threads, "sections in sections, and in functions");
  expect(small == 12 * threads && locked == 4 * threads && double_steps == expected, "accesses and locks in sections");
  return wrong;
}
