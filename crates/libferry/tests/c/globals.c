// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// env: FERRY_DEVICE=cpu:copy*2
#include "ferry_test.h"

DEVICE_VARIABLE(int counter[2] = {20 COMMA 0}, counter);
/* link: the host's pointer is in the table, the device's is filled when the variable is mapped. */
int big[4];
#ifdef DEVICE_UNIT
int *big_decl_tgt_ref_ptr;
#else
int *big_decl_tgt_ref_ptr = big;
ENTRY(big_decl_tgt_ref_ptr, &big_decl_tgt_ref_ptr, "big_decl_tgt_ref_ptr", 8, 1, 0);
#endif

KERNEL(count) {
    (void)args;
    counter[0]++;
}
KERNEL(fill_big) {
    (void)args;
    for (int i = 0; i < 4; i++) big_decl_tgt_ref_ptr[i] = i + 1;
}

#ifndef DEVICE_UNIT
int main(void) {
    CHECK(omp_target_is_present(counter, 0));
    TARGET(count, {0, 0, 0, 0, 0, 0});
    CHECK(counter[0] == (has_copies() ? 20 : 21));
    EXIT({counter, counter, sizeof counter, DELETE, 0, 0});
    CHECK(omp_target_is_present(counter, 0));
    UPDATE({counter, counter, sizeof counter, FROM, 0, 0});
    CHECK(counter[0] == 21);
    if (omp_get_num_devices() > 1) {
        /* Each device has variables of its own. */
        launch(1, __LINE__, &region_count, 0, 0);
        launch(1, __LINE__, &region_count, 0, 0);
        struct item from = {counter, counter, sizeof counter, FROM, 0, 0};
        data(__tgt_target_data_update_mapper, 1, __LINE__, 1, &from);
        CHECK(counter[0] == 22);
    }
    TARGET(fill_big, {&big_decl_tgt_ref_ptr, big, sizeof big, PTR_AND_OBJ | TOFROM, ";big;t.c;1;1;;", 0});
    CHECK(big[0] == 1 && big[3] == 4 && big_decl_tgt_ref_ptr == big);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
