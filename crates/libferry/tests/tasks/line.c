// Host and core write to one line at the same time: checking mode finds it; other modes keep what both have written.
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=1 FERRY_TASKS_CHECK=1
// status: 1
// stderr: bytes 128 to 255 of the buffer at 0x
// stderr: were written by two sides at the same time
// stderr: give each task whole lines of 128 bytes
#include <ferry_tasks.h>
#include <stdio.h>

static void set(void *argument) { (*(int **)argument)[33] = 5; }

int main(void) {
  int *cells = ws_malloc(4096);
  for (int i = 0; i < 1024; i++) cells[i] = 0;
  ws_args_t written = {cells, 4096};
  start_finish(1, &written);
  asyncDSP(set, &cells, sizeof cells);
  cells[32] = 4;
  end_finish();
  puts(cells[32] == 4 && cells[33] == 5 ? "passed" : "wrong");
  return 0;
}
