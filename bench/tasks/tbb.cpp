/* The same with oneTBB. */
#include "fib.h"
#include <cstdlib>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

static long fib(int n) {
  if (n < 2) return n;
  long x, y;
  tbb::task_group group;
  group.run([&] { x = fib(n - 1); });
  y = fib(n - 2);
  group.wait();
  return x + y;
}

int main() {
  const char *threads = std::getenv("THREADS");
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads ? std::atoi(threads) : 1);
  return timed("tbb", fib);
}
