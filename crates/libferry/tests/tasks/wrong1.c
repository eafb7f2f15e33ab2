// Wrong use is refused with a message.
// flags: -DWAY=1
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: wrong.c:17: `forasync` with a stride of 0
#include "wrong.c"
