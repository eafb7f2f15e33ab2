// A task on a core that uses memory of the host alone: the message says where the task was made and where it crashed.
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2
// status: 1
// stderr: crashed.c:18: a task on accelerator core
// stderr: crashed in `use`: memory that is not there, or is the host's alone, was used at 0x10
// flags: -rdynamic
#include <ferry_tasks.h>
#include <stdio.h>

__attribute__((noinline)) void use(void *argument) {
  volatile int *at = *(int **)argument;
  *at = 1;
}

int main(void) {
  void *at = (void *)16;
  start_finish(0);
  asyncDSP(use, &at, sizeof at);
  end_finish();
  puts("passed");
  return 0;
}
