// Wrong use is refused with a message.
// flags: -DWAY=3
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: are not within a buffer of `ws_malloc`
#include "wrong.c"
