// A task on a core that calls exit ends the program with that status, and a line says so.
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=1
// status: 7
// stderr: exited.c:13: a task on accelerator core 0 has called `exit(7)`
#include <ferry_tasks.h>
#include <stdio.h>
#include <stdlib.h>

static void leave(void *argument) { exit(*(int *)argument); }

int main(void) {
  int status = 7;
  start_finish(0); asyncDSP(leave, &status, sizeof status); end_finish();
  puts("passed");
  return 0;
}
