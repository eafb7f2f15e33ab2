// Arguments of any size are copied when the task is made; buffers of any size begin and end with a line.
// env: FERRY_TASKS_HOST=2
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=1 FERRY_TASKS_CROSS=always FERRY_TASKS_CHECK=1
// serial: yes
#include <ferry_tasks.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1500 };

typedef struct {
  unsigned *sums;
  int size;
  unsigned char bytes[LONGEST];
} message;

static void sum(void *argument) {
  message *m = argument;
  unsigned sum = 0;
  for (int i = 0; i < m->size; i++) sum += m->bytes[i] * (i + 1u);
  m->sums[m->size * 32] = sum;
}

int main(void) {
  unsigned *sums = ws_malloc(LONGEST * WS_LINE);
  void *near = ws_malloc(100, WS_NEAR);
  if (!near || (uintptr_t)near % WS_LINE || (uintptr_t)sums % WS_LINE) return puts("not a line"), 1;
  ws_args_t written = {sums, LONGEST * WS_LINE};
  static unsigned expected[LONGEST];
  for (int is_for_cores = 0; is_for_cores < 2; is_for_cores++) {
    memset(sums, 0, LONGEST * WS_LINE);
    start_finish(1, &written);
    for (int size = 0; size < LONGEST; size += 7) {
      message m = {sums, size, {0}};
      for (int i = 0; i < size; i++) expected[size] = (i ? expected[size] : 0) + (m.bytes[i] = size + i) * (i + 1u);
      size_t bytes = offsetof(message, bytes) + size;
      if (is_for_cores) asyncDSP(sum, &m, bytes);
      else async(sum, &m, bytes);
      memset(&m, 255, sizeof m);
    }
    end_finish();
    for (int size = 0; size < LONGEST; size += 7)
      if (sums[size * 32] != expected[size]) return printf("%d: %u, not %u\n", size, sums[size * 32], expected[size]), 1;
  }
  ws_free(near);
  ws_free(sums);
  /* What was given back can be had again, as one piece. */
  for (int i = 0; i < 100; i++) {
    void *a = ws_malloc(1 << 20), *b = ws_malloc(1), *c = ws_malloc(4 << 20, WS_NEAR);
    if (!a || !b || !c) return puts("memory"), 1;
    ws_free(b), ws_free(a), ws_free(c);
  }
  puts("passed");
  return 0;
}
