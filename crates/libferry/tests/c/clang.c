/* Built by clang alone, with a tool of its own that LLVM's threading runtime starts. */
#include <omp-tools.h>
#include <omp.h>
#include <stdio.h>

static void on_open(int number, const char *type, ompt_device_t *device, ompt_function_lookup_t lookup,
                    const char *text) {
    puts("opened");
}
static void on_target(ompt_target_t kind, ompt_scope_endpoint_t end, int number, ompt_data_t *task,
                      ompt_data_t *target_task, ompt_data_t *data, const void *place) {
    if (end == ompt_scope_begin && kind == ompt_target && place) puts("region");
}
static int begin(ompt_function_lookup_t lookup, int number, ompt_data_t *data) {
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_device_initialize, (ompt_callback_t)on_open);
    set(ompt_callback_target_emi, (ompt_callback_t)on_target);
    return 1;
}
static void end(ompt_data_t *data) {}
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start_tool_result_t result = {begin, end, {0}};
    return &result;
}

int main(void) {
    int values[100], sum = 0;
    for (int i = 0; i < 100; i++) values[i] = i;
#pragma omp target teams distribute parallel for map(to : values) reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += values[i];
    printf("%d on device %d of %d\n", sum, omp_get_default_device(), omp_get_num_devices());
    return 0;
}
