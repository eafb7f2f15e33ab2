// The program of old_copy.c where nothing is checked: it is right.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=1
#include "old_copy.c"
