// Cores that are killed while they work are started again; what they had is run again, by whoever is free.
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=3 FERRY_TASKS_CROSS=always
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2
// stderr: was killed: it is started again
// flags: -pthread
#include <ferry_tasks.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int ferry_tasks_core_process(int core);

enum { TASKS = 400 };

static volatile int is_over;

/* Long enough that a core is killed in the middle of one. */
static double slowly(int i) {
  double sum = 0;
  for (int k = 1; k < 400000; k++) sum += 1.0 / (k + i);
  return sum;
}

typedef struct {
  double *cells;
  int at;
} job;

static void compute(void *argument) {
  job *j = argument;
  j->cells[j->at * 16] += slowly(j->at);
}

static void *kill_them(void *argument) {
  (void)argument;
  for (int i = 0; !is_over && i < 12; i++) {
    usleep(15000);
    int process = ferry_tasks_core_process(i % 2);
    if (process > 0) kill(process, SIGKILL);
  }
  return NULL;
}

int main(void) {
  double *cells = ws_malloc(TASKS * WS_LINE);
  for (int i = 0; i < TASKS; i++) cells[i * 16] = 0;
  pthread_t killer;
  pthread_create(&killer, NULL, kill_them, NULL);
  ws_args_t written = {cells, TASKS * WS_LINE};
  start_finish(1, &written);
  for (int i = 0; i < TASKS; i++) {
    job j = {cells, i};
    if (i % 2) async(compute, &j, sizeof j);
    else asyncDSP(compute, &j, sizeof j);
  }
  end_finish();
  is_over = 1;
  pthread_join(killer, NULL);
  for (int i = 0; i < TASKS; i++)
    if (cells[i * 16] != slowly(i)) return printf("task %d: %g, not %g\n", i, cells[i * 16], slowly(i)), 1;
  puts("passed");
  return 0;
}
