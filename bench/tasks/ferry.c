/* Fibonacci numbers with a task and a scope for each addition. Prints `ferry` and nanoseconds for each. */
#include "fib.h"
#include <ferry_tasks.h>

typedef struct {
  int n;
  long *result;
} job;

static void fib(void *argument) {
  job *it = argument;
  if (it->n < 2) {
    *it->result = it->n;
    return;
  }
  long x, y;
  job first = {it->n - 1, &x}, second = {it->n - 2, &y};
  start_finish(0);
  async(fib, &first, sizeof first);
  fib(&second);
  end_finish();
  *it->result = x + y;
}

static long whole(int n) {
  long result;
  job it = {n, &result};
  fib(&it);
  return result;
}

int main(void) { return timed("ferry", whole); }
