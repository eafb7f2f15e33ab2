/* A tool in a library of its own; the program knows nothing of it. */
#include <stdint.h>
#include <stdio.h>
#include "tool.h"
static void on_target(int kind, int endpoint, int device, uint64_t *task, uint64_t id, void *place) {
    fprintf(stderr, "tool: kind %d endpoint %d on device %d\n", kind, endpoint, device);
}
static int begin(void *(*lookup)(const char *), int initial, uint64_t *data) {
    ((int (*)(int, void *))lookup("ompt_set_callback"))(8, on_target);
    return 1;
}
static void end(uint64_t *data) { fputs("tool: end\n", stderr); }
struct tool *ompt_start_tool(unsigned version, const char *runtime) {
    static struct tool tool = {begin, end, 0};
    return &tool;
}
