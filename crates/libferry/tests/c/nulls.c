// env: FERRY_DEVICE=cpu
// status: 1
// stderr: wrong call of the runtime: a region without arguments
/* Calls without what they need: those that can be answered are, the last one ends the program. */
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) {
    __tgt_unregister_lib(NULL);
    __tgt_target_data_begin_mapper(NULL, -1, 0, NULL, NULL, NULL, NULL, NULL, NULL);
    __tgt_target_data_end_mapper(NULL, -1, 0, NULL, NULL, NULL, NULL, NULL, NULL);
    __tgt_push_mapper_component(NULL, NULL, NULL, 0, 0, NULL);
    if (__tgt_mapper_num_components(NULL) != 0) return 2;
    if (omp_target_is_present(NULL, 0) || omp_get_mapped_ptr(NULL, 0)) return 3;
    __tgt_target_kernel(NULL, -1, 0, 0, NULL, NULL);
    return 4;
}
#endif
