// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
// flags: -fopenmp
#include "ferry_test.h"
#include <unistd.h>

KERNEL(add_one) {
    int *a = args[0];
    for (int i = 0; i < 4; i++) a[i]++;
}

#ifndef DEVICE_UNIT
#include "acc_prof.h"

/* Compares what was heard since the last call. */
static void expect(int line, const char *text) {
    if (strcmp(heard, text) != 0) {
        printf("line %d: heard\n%s", line, heard);
        failures++;
    }
    heard[0] = 0;
}
#define EXPECT(text) expect(__LINE__, text)

static void one(acc_prof_info *info, acc_event_info *event, acc_api_info *api) { strcat(heard, "1"); }
static void two(acc_prof_info *info, acc_event_info *event, acc_api_info *api) { strcat(heard, "2"); }

int main(void) {
    int a[4] = {1, 2, 3, 4}, b[4] = {0};
    static struct ident place = {0, 2, 0, 0, ";t.c;work;12;3;;1;15;10;20;"};
    void *at[] = {a}, *names[] = {";a[0:4];t.c;12;3;;"};
    int64_t size = sizeof a, type = TOFROM | PARAM;
    struct kernel_args args = {.version = 3, .count = 1, .bases = at, .begins = at, .sizes = &size, .types = &type,
        .names = names};
    __tgt_target_kernel(&place, -1, 2, 0, &region_add_one, &args);
    EXPECT("init { -:0-0 -:0-0 construct 0 device 0 queue -2\n} init\n"
           "compute { t.c:12-15 work:10-20 construct 1 device 0 queue -2\n"
           "enter { t.c:12-15 work:10-20 construct 1 implicit device 0 queue -2\n"
           "alloc - 16\ncreate a[0:4] 16\nupload { a[0:4] 16\n} upload\n} enter\n"
           "launch { add_one 2\n} launch\n"
           "exit { t.c:12-15 work:10-20 construct 1 implicit device 0 queue -2\n"
           "download { a[0:4] 16\n} download\ndelete a[0:4] 16\nfree - 16\n} exit\n} compute\n");
    acc_copyin(b, sizeof b);
    EXPECT("enter { -:0-0 acc_copyin:0-0 construct 15 device 0 queue -2\n"
           "alloc - 16\ncreate - 16\nupload { - 16\n} upload\n} enter\n");
    acc_update_self_async(b, sizeof b, 3);
    while (!acc_async_test(3)) usleep(100); /* one thread speaks at a time */
    acc_wait(3);
    CHECK(strstr(heard, "update { -:0-0 acc_update_self_async:0-0 construct 15 device 0 queue 3\n"));
    CHECK(strstr(heard, "download { - 16\n"));
    CHECK(strstr(heard, "wait { -:0-0 acc_wait:0-0 construct 15 device 0 queue 3\n"));
    heard[0] = 0, is_wrong = 0, depth = 0;
    acc_delete(b, sizeof b);
    EXPECT("exit { -:0-0 acc_delete:0-0 construct 15 device 0 queue -2\ndelete - 16\nfree - 16\n} exit\n");
    void *there = acc_malloc(8);
    acc_free(there);
    heard[0] = 0;
    acc_shutdown(acc_device_default);
    EXPECT("shutdown { -:0-0 acc_shutdown:0-0 construct 15 device 0 queue -2\n} shutdown\n");

    /* Order, counts and switches. */
    for (int event = acc_ev_device_init_start; event < acc_ev_last; event++)
        acc_prof_unregister((acc_event_t)event, hear, acc_reg);
    acc_prof_register(acc_ev_update_start, one, acc_reg), acc_prof_register(acc_ev_update_start, two, acc_reg);
    acc_prof_register(acc_ev_update_end, one, acc_reg), acc_prof_register(acc_ev_update_end, two, acc_reg);
    acc_copyin(b, sizeof b);
    acc_update_device(b, sizeof b);
    EXPECT("1221");
    acc_prof_register(acc_ev_update_start, one, acc_reg), acc_prof_unregister(acc_ev_update_start, one, acc_reg);
    acc_prof_unregister(acc_ev_update_end, two, acc_reg);
    acc_update_device(b, sizeof b);
    EXPECT("121");
    acc_prof_unregister(acc_ev_update_start, two, acc_toggle);
    acc_update_device(b, sizeof b);
    EXPECT("11");
    acc_prof_register(acc_ev_update_start, two, acc_toggle), acc_prof_unregister(acc_ev_update_end, NULL, acc_toggle);
    acc_update_device(b, sizeof b);
    EXPECT("12");
    acc_prof_unregister(acc_ev_none, NULL, acc_toggle);
    acc_update_device(b, sizeof b);
    EXPECT("");
    acc_prof_register(acc_ev_none, NULL, acc_toggle), acc_prof_unregister(acc_ev_none, NULL, acc_toggle_per_thread);
    acc_update_device(b, sizeof b);
    EXPECT("");
    acc_prof_register(acc_ev_none, NULL, acc_toggle_per_thread);
    acc_update_device(b, sizeof b);
    EXPECT("12");
    CHECK(!is_wrong);
    if (!failures) puts("passed");
    return failures;
}
#endif
