// Threads of the program make tasks and wait for them, many at a time; tasks outside of a scope are done at once.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=3
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2
// flags: -pthread
#include <ferry_tasks.h>
#include <pthread.h>
#include <stdio.h>

typedef struct {
  int number, *count;
} job;

static void count(void *argument) {
  job *j = argument;
  __atomic_fetch_add(j->count, ws_isCore() ? 0 : j->number, __ATOMIC_RELAXED);
}

static void *work(void *result) {
  for (int round = 0; round < 50; round++) {
    int sum = 0;
    job j = {1, &sum};
    async(count, &j, sizeof j);
    if (sum != 1) return NULL;
  }
  *(int *)result = 1;
  return NULL;
}

typedef struct {
  int *cells, at;
} cell;
static void set(void *argument) {
  cell *c = argument;
  c->cells[c->at * 32]++;
}

static void *scopes(void *cells) {
  for (int round = 0; round < 20; round++) {
    ws_args_t written = {cells, 64 * WS_LINE};
    start_finish(1, &written);
    for (int i = 0; i < 64; i++) {
      cell c = {cells, i};
      async(set, &c, sizeof c);
    }
    end_finish();
    for (int i = 0; i < 64; i++)
      if (((int *)cells)[i * 32] != round + 1) return (void *)1;
  }
  return NULL;
}

int main(void) {
  enum { THREADS = 8 };
  for (int again = 0; again < 40; again++) {
    pthread_t threads[THREADS];
    int done[THREADS] = {0};
    int *cells[THREADS];
    for (int i = 0; i < THREADS; i++) {
      cells[i] = ws_malloc(64 * WS_LINE);
      for (int k = 0; k < 64; k++) cells[i][k * 32] = 0;
      if (i % 2) pthread_create(&threads[i], NULL, scopes, cells[i]);
      else pthread_create(&threads[i], NULL, work, &done[i]);
    }
    for (int i = 0; i < THREADS; i++) {
      void *wrong;
      pthread_join(threads[i], &wrong);
      if (wrong || (i % 2 == 0 && !done[i])) return printf("thread %d\n", i), 1;
      ws_free(cells[i]);
    }
  }
  puts("passed");
  return 0;
}
