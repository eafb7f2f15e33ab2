// Wrong use is refused with a message.
// flags: -DWAY=5
// env: FERRY_TASKS_HOST=1
// status: 1
// stderr: `forasync` over 4 dimensions
#include "wrong.c"
