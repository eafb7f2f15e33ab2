// Wrong use is refused with a message.
// flags: -DWAY=4
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: accelerator cores see buffers of `ws_malloc` only
#include "wrong.c"
