// Wrong use is refused with a message.
// flags: -DWAY=0
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: `end_finish` without `start_finish` in the same task
#include <ferry_tasks.h>
#include <stdio.h>

static void nothing(void *argument, int i) { (void)argument, (void)i; }
static void end(void *argument) { (void)argument; end_finish(); }

int main(void) {
  loop_domain_t loop = {0, 10, 0, 1};
  int here = 0;
  switch (WAY) {
  case 0: start_finish(0); async(end, NULL, 0); end_finish(); break;
  case 1: forasync(nothing, NULL, 0, 1, &loop, WS_RECURSION); break;
  case 2: ws_free(&here); break;
  case 3: ws_cacheWbInv(&here, sizeof here); break;
  case 4: return (int)ws_dspPtr(&here);
  case 5: loop.stride = 1; forasync(nothing, NULL, 0, 4, &loop, WS_RECURSION); break;
  }
  puts("passed");
  return 0;
}
