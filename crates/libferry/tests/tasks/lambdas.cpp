// Lambdas as tasks, loops and scopes.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=3
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always
// serial: yes
#include <cstdio>
#include <ferry_tasks.h>
#include <future>

struct cell {
  long value, pad[15];
};

static void count(cell *cells, int low, int high) {
  if (high - low == 1) {
    cells[low].value++;
    return;
  }
  int middle = low + (high - low) / 2;
  async([=] { count(cells, low, middle); });
  count(cells, middle, high);
}

int main() {
  const int n = 500;
  cell *cells = static_cast<cell *>(ws_malloc(n * sizeof(cell)));
  ws_args_t written = {cells, n * sizeof(cell)};
  for (int i = 0; i < n; i++) cells[i].value = 0;
  finish([&] { count(cells, 0, n); }, &written);
  finish([&] { forasync(0, n, 3, [=](int i) { cells[i].value += i; }); }, &written);
  start_finish(1, &written);
  asyncDSP([=] { cells[0].value += 10; });
  end_finish();
  /* The C++ library's own name stays usable. */
  long ten = std::async(std::launch::deferred, [] { return 10L; }).get();
  for (int i = 0; i < n; i++)
    if (cells[i].value != 1 + i + (i ? 0 : ten)) return std::printf("%d: %ld\n", i, cells[i].value), 1;
  ws_free(cells);
  std::puts("passed");
  return 0;
}
