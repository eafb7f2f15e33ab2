// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:copy NEW_CALLBACKS=1
// flags: -Wno-unused
// stderr: tool ends
/* A tool inside the program: regions, operations on data, launches and devices, each with its number
 * and place, in order. */
#include "ferry_test.h"
KERNEL(add_one) { ++*(int *)args[0]; }
#ifndef DEVICE_UNIT
#include "tool.h"

static char seen[4096];
static void *places[8];
static int count;
static uint64_t target, next_word = 100;

#define SAW(...) snprintf(seen + strlen(seen), sizeof seen - strlen(seen), __VA_ARGS__)

static void on_target(int kind, int endpoint, int device, uint64_t *task, uint64_t id, void *place) {
    if (endpoint == 1) target = id;
    else if (target != id) SAW("?");
    SAW("%c%d ", endpoint == 1 ? '<' : '>', kind);
    if (count < 8) places[count++] = place;
    CHECK(device == 0);
}
static void on_op(uint64_t id, uint64_t op, int kind, void *from, int from_device, void *to, int to_device,
                  size_t bytes, void *place) {
    CHECK(op != 0 && place != NULL && bytes == sizeof(int));
    CHECK(id == target && (kind == 4 || to != NULL));
    SAW("%d:%d>%d ", kind, from_device, to_device);
}
static void on_submit(uint64_t id, uint64_t op, unsigned teams) { SAW("run%u ", teams); CHECK(id == target && op); }
static void on_target_emi(int kind, int endpoint, int device, uint64_t *task, uint64_t *target_task,
                          uint64_t *data, void *place) {
    CHECK(task && target_task && place);
    if (endpoint == 1) *data = target = next_word++;
    CHECK(*data == target);
    SAW("%c%d ", endpoint == 1 ? '<' : '>', kind);
}
static void on_op_emi(int endpoint, uint64_t *task, uint64_t *data, uint64_t *op, int kind, void *from,
                      int from_device, void *to, int to_device, size_t bytes, void *place) {
    CHECK(*data == target && place != NULL);
    if (endpoint == 1) *op = next_word;
    CHECK(*op == next_word);
    if (endpoint == 2) next_word++;
    if (endpoint == 2) SAW("%d:%d>%d ", kind, from_device, to_device);
    if (endpoint == 2 && kind == 1) CHECK(to != NULL);
}
static void on_submit_emi(int endpoint, uint64_t *data, uint64_t *op, unsigned teams) {
    CHECK(*data == target);
    if (endpoint == 1) SAW("run%u ", teams);
}
static void on_map(uint64_t id, unsigned items, void **hosts, void **there, size_t *bytes, unsigned *flags, void *place) {
    CHECK(id == target && items == 1 && *hosts && *there && *bytes == sizeof(int) && place);
    CHECK(!(*flags & 0x200) == (*hosts != *there));
    SAW("map%x ", *flags & ~0x200u);
}
static void on_map_emi(uint64_t *data, unsigned items, void **hosts, void **there, size_t *bytes, unsigned *flags, void *place) {
    CHECK(*data == target);
    on_map(target, items, hosts, there, bytes, flags, place);
}
static void on_open(int device, const char *type, void *handle, void *lookup, const char *text) {
    CHECK(strncmp(type, "cpu", 3) == 0);
    SAW("open%d ", device);
}
static void on_load(int device, const char *file, int64_t offset, void *address, size_t bytes, void *host,
                    void *there, uint64_t module) {
    CHECK(bytes > 100 && host);
    SAW("load%d ", device);
}
static void on_close(int device) { fprintf(stderr, "closed %d\n", device); }
static int on_control(uint64_t command, uint64_t modifier, void *argument, void *place) {
    return command == 1 && modifier == 3 && place ? 42 : 0;
}

static int begin(void *(*lookup)(const char *), int initial, uint64_t *data) {
    int (*set)(int, void *) = (int (*)(int, void *))lookup("ompt_set_callback");
    int (*devices)(void) = (int (*)(void))lookup("ompt_get_num_devices");
    CHECK(initial == 1 && devices() == 1 && lookup("no_such_thing") == NULL);
    CHECK(set(2, on_open) == 1); /* never: threads are not ours */
    int is_new = getenv("NEW_CALLBACKS") != NULL;
    CHECK(set(8, on_target) == 5 && set(9, on_op) == 5 && set(10, on_submit) == 5);
    CHECK(set(22, on_map) == 5);
    if (is_new) CHECK(set(36, on_map_emi) == 5);
    if (is_new) CHECK(set(33, on_target_emi) == 5 && set(34, on_op_emi) == 5 && set(35, on_submit_emi) == 5);
    CHECK(set(12, on_open) == 5 && set(13, on_close) == 5 && set(14, on_load) == 5 && set(11, on_control) == 5);
    return 1;
}
static void end(uint64_t *data) { fputs("tool ends\n", stderr); }
struct tool *ompt_start_tool(unsigned version, const char *runtime) {
    static struct tool tool = {begin, end, 0};
    CHECK(version >= 201811 && strncmp(runtime, "Ferry", 5) == 0);
    return &tool;
}

int main(void) {
    int a = 41, b = 0;
    CHECK(omp_control_tool(1, 3, NULL) == 42);
    TARGET(add_one, {&a, &a, 4, TOFROM | PARAM, ";a;t.c;1;1;;", 0});
    CHECK(a == 42);
    ENTER({&b, &b, 4, TO, ";b;t.c;1;1;;", 0});
    UPDATE({&b, &b, 4, FROM, ";b;t.c;1;1;;", 0});
    EXIT({&b, &b, 4, FROM, ";b;t.c;1;1;;", 0});
    const char *expected = has_copies()
        ? "open0 load0 <1 1:1>0 2:1>0 map3 run1 3:0>1 4:0>1 >1 <2 1:1>0 2:1>0 map1 >2 <4 3:0>1 >4 <3 map2 3:0>1 4:0>1 >3 "
        : "open0 <1 map3 run1 >1 <2 map1 >2 <4 >4 <3 map2 >3 ";
    if (strcmp(seen, expected) != 0) printf("%s\n%s\n", seen, expected), failures++;
    for (int i = 0; i < count; i++) CHECK((char *)places[i] > (char *)launch - 8192 && (char *)places[i] < (char *)main + 8192);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
