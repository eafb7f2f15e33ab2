// A million tasks in trees of different depth: each is run once, and each scope ends after all of its own.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=2
// env: FERRY_TASKS_HOST=5
#include <ferry_tasks.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  unsigned seed;
  int depth;
  unsigned long *ran;
} job;

static unsigned children(job *j) { return j->depth ? (j->seed >> 20) % 4 : 0; }
static job child(job *j, unsigned i) { return (job){(j->seed + i) * 1664525u + 1013904223u, j->depth - 1, j->ran}; }

static unsigned long serial(job j) {
  unsigned long sum = 1;
  for (unsigned i = 0; i < children(&j); i++) sum += serial(child(&j, i));
  return sum;
}

static void visit(void *argument) {
  job *j = argument;
  __atomic_fetch_add(j->ran, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < children(j); i++) {
    job next = child(j, i);
    async(visit, &next, sizeof next);
  }
}

int main(int count, char **words) {
  unsigned long wanted = count > 1 ? strtoul(words[1], NULL, 10) : 1000000, made = 0;
  for (unsigned seed = 1; made < wanted; seed++) {
    unsigned long ran = 0;
    job first = {seed * 2654435761u, 24, &ran};
    start_finish(0);
    async(visit, &first, sizeof first);
    end_finish();
    unsigned long expected = serial(first);
    if (ran != expected) return printf("seed %u: %lu tasks ran, not %lu\n", seed, ran, expected), 1;
    made += expected;
  }
  printf("passed: %lu tasks\n", made);
  return 0;
}
