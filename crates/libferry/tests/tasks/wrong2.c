// Wrong use is refused with a message.
// flags: -DWAY=2
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: `ws_free` of 0x
#include "wrong.c"
