// A parallel sum of arrays: buffers of both sides, global variables of the cores set by a task for them, a loop.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=3
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=3
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always FERRY_TASKS_QUEUES=fifo
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always FERRY_TASKS_CHECK=1
// serial: yes
#include <stdio.h>
#include <ferry_tasks.h>
#ifdef FERRY_TASKS_SERIAL
#define INT uintptr_t
#else
#define INT uint32_t
#endif
static INT size, *a, *b, *c;
static void arm_init(INT n) {
  size = n;
  a = (INT *)ws_malloc(n * sizeof(INT)); b = (INT *)ws_malloc(n * sizeof(INT)); c = (INT *)ws_malloc(n * sizeof(INT));
  for (INT i = 0; i < n; i++) { a[i] = 0; b[i] = 100 + i; c[i] = 1; }
  ws_cacheWbInv(a, n * sizeof(INT)); ws_cacheWbInv(b, n * sizeof(INT)); ws_cacheWbInv(c, n * sizeof(INT));
}
static void dsp_init(void *args) { INT *in = args; size = in[0]; a = (INT *)(uintptr_t)in[1]; b = (INT *)(uintptr_t)in[2]; c = (INT *)(uintptr_t)in[3]; }
static void kernel(void *args, int i) { (void)args; a[i] = b[i] + c[i]; }
int main(void) {
  INT n = 1 << 17;
  arm_init(n);
  INT in[] = {n, ws_dspPtr(a), ws_dspPtr(b), ws_dspPtr(c)};
  start_finish(0); asyncDSP(dsp_init, in, sizeof in); end_finish();
  loop_domain_t loop = {0, (int)size, 1, 128 / sizeof(INT)};
  ws_args_t t1 = {a, size * sizeof(INT)};
  start_finish(1, &t1);
  forasync(kernel, NULL, 0, 1, &loop, WS_RECURSION);
  end_finish();
  for (INT i = 0; i < n; i++) if (a[i] != 101 + i) { printf("wrong at %u\n", (unsigned)i); return 1; }
  ws_free(a); ws_free(b); ws_free(c);
  puts("passed");
  return 0;
}
