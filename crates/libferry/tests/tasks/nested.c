// Scopes inside of scopes, tasks that make tasks: each is run once, and a scope ends after all of its tasks.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=4
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=3 FERRY_TASKS_CROSS=always
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always FERRY_TASKS_CHECK=1
// serial: yes
#include <ferry_tasks.h>
#include <stdio.h>

/* A node of a binary tree, in a line of its own: how often it was run, and the sum of what is below it. */
typedef struct {
  long times, sum, pad[14];
} node;

typedef struct {
  node *nodes;
  int index, count, is_nested;
} job;

static void visit(void *argument) {
  job *j = argument;
  node *here = &j->nodes[j->index];
  here->times++;
  here->sum = 1;
  int left = 2 * j->index + 1, right = left + 1;
  job l = {j->nodes, left, j->count, !j->is_nested}, r = {j->nodes, right, j->count, !j->is_nested};
  if (j->is_nested) {
    /* The sums of both sides are there when the scope has ended. */
    start_finish(0);
    if (left < j->count) async(visit, &l, sizeof l);
    if (right < j->count) async(visit, &r, sizeof r);
    end_finish();
    if (left < j->count) here->sum += j->nodes[left].sum;
    if (right < j->count) here->sum += j->nodes[right].sum;
  } else {
    if (left < j->count) visit(&l);
    if (right < j->count) visit(&r);
    if (left < j->count) here->sum += j->nodes[left].sum;
    if (right < j->count) here->sum += j->nodes[right].sum;
  }
}

/* Without a scope of their own: tasks of tasks belong to the scope of the first. */
static void spread(void *argument) {
  job *j = argument;
  j->nodes[j->index].times++;
  for (int child = 2 * j->index + 1; child <= 2 * j->index + 2; child++) {
    job next = {j->nodes, child, j->count, 0};
    if (child < j->count) async(spread, &next, sizeof next);
  }
}

int main(void) {
  enum { COUNT = 1000 };
  node *nodes = ws_malloc(COUNT * sizeof *nodes);
  for (int round = 0; round < 8; round++) {
    for (int i = 0; i < COUNT; i++) nodes[i] = (node){0};
    ws_args_t written = {nodes, COUNT * sizeof *nodes};
    job first = {nodes, 0, COUNT, 1};
    start_finish(1, &written);
    async(visit, &first, sizeof first);
    end_finish();
    if (nodes[0].sum != COUNT) return printf("round %d: sum %ld\n", round, nodes[0].sum), 1;
    start_finish(1, &written);
    async(spread, &first, sizeof first);
    end_finish();
    for (int i = 0; i < COUNT; i++)
      if (nodes[i].times != 2) return printf("round %d: node %d ran %ld times\n", round, i, nodes[i].times), 1;
  }
  ws_free(nodes);
  puts("passed");
  return 0;
}
