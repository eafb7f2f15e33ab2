// A value that is not allowed is an error that says what is.
// env: FERRY_TASKS_HOST=0
// env: FERRY_TASKS_CORES=many
// env: FERRY_TASKS_QUEUES=stack
// env: FERRY_TASKS_CHECK=yes
// status: 1
// stderr: is not allowed
#include <ferry_tasks.h>
#include <stdio.h>

int main(void) {
  start_finish(0);
  end_finish();
  puts("passed");
  return 0;
}
