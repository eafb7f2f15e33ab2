// A core writes a buffer that the scope does not name: the host would keep its old copy, and checking mode says so.
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=1 FERRY_TASKS_CHECK=1
// status: 1
// stderr: an accelerator core has written bytes 0 to 127 of the buffer at 0x
// stderr: name the buffer in `start_finish`
#include <ferry_tasks.h>
#include <stdio.h>

static void set(void *argument) { (*(int **)argument)[3] = 5; }

int main(void) {
  int *cells = ws_malloc(4096);
  for (int i = 0; i < 1024; i++) cells[i] = 0;
  ws_cacheWbInv(cells, 4096);
  start_finish(0);
  asyncDSP(set, &cells, sizeof cells);
  end_finish();
  puts(cells[3] == 5 ? "passed" : "wrong");
  return 0;
}
