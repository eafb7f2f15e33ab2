// The host writes a buffer and does not flush it before cores read it: checking mode finds it, other modes are right nevertheless.
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=1 FERRY_TASKS_CHECK=1
// status: 1
// stderr: unflushed.c:20: an accelerator core uses bytes 256 to 383 of the buffer at 0x
// stderr: which the host has written and not flushed
// stderr: call `ws_cacheWbInv(buffer, size)`
#include <ferry_tasks.h>
#include <stdio.h>

static void copy(void *argument) {
  int **it = argument;
  /* The line before is not written: it lies in the same page, and is no fault. */
  it[1][0] = it[0][0] + it[0][64];
}

int main(void) {
  int *in = ws_malloc(4096), *out = ws_malloc(4096);
  int *both[] = {in, out};
  in[64] = 7;
  start_finish(0); asyncDSP(copy, both, sizeof both); end_finish();
  puts(out[0] == 7 ? "passed" : "wrong");
  return 0;
}
