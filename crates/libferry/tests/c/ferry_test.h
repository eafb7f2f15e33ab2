/* What a compiled program brings along, written by hand: the structures of the interface, one
 * registration, and short forms for map entries. A test is compiled twice: as the program, and with
 * DEVICE_UNIT as the shared object that is its device image (the harness passes its path as IMAGE). */
#ifndef FERRY_TEST_H
#define FERRY_TEST_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMA ,

struct ident { int r1, flags, r2, length; const char *text; };
struct entry { void *addr; char *name; unsigned long size; int flags; int data; };
struct image { const void *start, *end; const struct entry *begin, *stop; };
struct descriptor { int count; const struct image *images; const struct entry *begin, *stop; };
struct region { unsigned version, flags; const char *name; void (*cpu)(void *const *args); };
struct kernel_args {
    uint32_t version, count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trips, flags;
    uint32_t teams[3], limit[3], group;
};

enum {
    TO = 1, FROM = 2, TOFROM = 3, ALWAYS = 4, DELETE = 8, PTR_AND_OBJ = 0x10, PARAM = 0x20,
    RETURN = 0x40, PRIVATE = 0x80, LITERAL = 0x100, IMPLICIT = 0x200, PRESENT = 0x1000, HOLD = 0x2000
};
#define NON_CONTIG 0x100000000000LL
#define MEMBER_OF(index) ((int64_t)((index) + 1) << 48)
#define DEVICE_HOST (-10)

#ifdef DEVICE_UNIT
#define KERNEL(name) void name(void *const *args)
#define KERNEL_BODY(name) void name(void *const *args)
#define DEVICE_VARIABLE(declaration, name) declaration
#else
#define ENTRY(id, ...) \
    static struct entry entry_##id \
        __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {__VA_ARGS__}
#define KERNEL(name) \
    void name(void *const *args); \
    struct region region_##name = {1, 0, #name, name}; \
    ENTRY(name, &region_##name, #name, 0, 0x100, 0); \
    void name(void *const *args)
/* For a kernel that was only declared by the above. */
#define KERNEL_BODY(name) void name(void *const *args)
#define DEVICE_VARIABLE(declaration, name) \
    declaration; \
    ENTRY(name, &name, #name, sizeof name, 0, 0)

extern void __tgt_register_lib(struct descriptor *);
extern void __tgt_unregister_lib(struct descriptor *);
extern int __tgt_target_kernel(struct ident *, int64_t, int, int, void *, struct kernel_args *);
typedef void data_call(struct ident *, int64_t, int, void **, void **, int64_t *, int64_t *, void **, void **);
extern data_call __tgt_target_data_begin_mapper, __tgt_target_data_end_mapper,
    __tgt_target_data_update_mapper;
extern void __tgt_push_mapper_component(void *, void *, void *, int64_t, int64_t, void *);
extern int64_t __tgt_mapper_num_components(void *);
extern int omp_get_num_devices(void), omp_get_initial_device(void), omp_get_device_num(void),
    omp_is_initial_device(void), omp_get_default_device(void);
extern void omp_set_default_device(int);
extern void *omp_target_alloc(size_t, int), *omp_get_mapped_ptr(const void *, int);
extern void omp_target_free(void *, int);
extern int omp_target_is_present(const void *, int);
extern int omp_target_memcpy(void *, const void *, size_t, size_t, size_t, int, int);

#ifdef IMAGE
__asm__(".section .rodata\n.balign 16\n.globl test_image\ntest_image: .incbin \"" IMAGE "\"\n"
        ".globl test_image_end\ntest_image_end:\n.previous\n");
extern const char test_image[], test_image_end[];
#endif
extern const struct entry __start_omp_offloading_entries[] __attribute__((weak, visibility("hidden")));
extern const struct entry __stop_omp_offloading_entries[] __attribute__((weak, visibility("hidden")));

static struct image images[1];
static struct descriptor descriptor;
static void leave(void) { __tgt_unregister_lib(&descriptor); }
__attribute__((constructor(101))) static void join(void) {
    descriptor.begin = __start_omp_offloading_entries;
    descriptor.stop = __stop_omp_offloading_entries;
#ifdef IMAGE
    images[0] = (struct image){test_image, test_image_end, descriptor.begin, descriptor.stop};
    descriptor.count = 1;
    descriptor.images = images;
#endif
    __tgt_register_lib(&descriptor);
    atexit(leave);
}

/* One map entry: base, begin, bytes, type, name, mapper. */
struct item { void *base, *begin; int64_t size, type; const char *name; void *mapper; };
#define ITEM(variable, type) {(void *)(variable), (void *)(variable), sizeof *(variable), type, ";" #variable ";t.c;1;1;;", 0}
#define MOST 128

struct arrays { void *bases[MOST], *begins[MOST]; int64_t sizes[MOST], types[MOST]; void *names[MOST], *mappers[MOST]; };

static inline void fill(struct arrays *arrays, int count, const struct item *items) {
    for (int i = 0; i < count; i++) {
        arrays->bases[i] = items[i].base;
        arrays->begins[i] = items[i].begin;
        arrays->sizes[i] = items[i].size;
        arrays->types[i] = items[i].type;
        arrays->names[i] = (void *)items[i].name;
        arrays->mappers[i] = items[i].mapper;
    }
}

static inline struct arrays data(data_call *call, int device, int line, int count, const struct item *items) {
    char text[64];
    struct ident ident = {0, 2, 0, 0, text};
    ident.length = snprintf(text, sizeof text, ";t.c;main;%d;1;;", line);
    struct arrays arrays;
    fill(&arrays, count, items);
    call(&ident, device, count, arrays.bases, arrays.begins, arrays.sizes, arrays.types, arrays.names, arrays.mappers);
    return arrays;
}

static inline int launch(int device, int line, struct region *region, int count, const struct item *items) {
    char text[64];
    struct ident ident = {0, 2, 0, 0, text};
    ident.length = snprintf(text, sizeof text, ";t.c;main;%d;1;;", line);
    struct arrays arrays;
    fill(&arrays, count, items);
    struct kernel_args args = {.version = 3, .count = count, .bases = arrays.bases, .begins = arrays.begins,
        .sizes = arrays.sizes, .types = arrays.types, .names = arrays.names, .mappers = arrays.mappers};
    return __tgt_target_kernel(&ident, device, -1, 0, region, &args);
}

#define COUNT(...) ((int)(sizeof((struct item[]){__VA_ARGS__}) / sizeof(struct item)))
#define ENTER(...) data(__tgt_target_data_begin_mapper, -1, __LINE__, COUNT(__VA_ARGS__), (struct item[]){__VA_ARGS__})
#define EXIT(...) data(__tgt_target_data_end_mapper, -1, __LINE__, COUNT(__VA_ARGS__), (struct item[]){__VA_ARGS__})
#define UPDATE(...) data(__tgt_target_data_update_mapper, -1, __LINE__, COUNT(__VA_ARGS__), (struct item[]){__VA_ARGS__})
#define TARGET(name, ...) launch(-1, __LINE__, &region_##name, COUNT(__VA_ARGS__), (struct item[]){__VA_ARGS__})

#define CHECK(condition) \
    do { if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); failures++; } } while (0)
static int failures;

/* Does the device keep copies of its own? */
static inline int has_copies(void) {
    const char *device = getenv("FERRY_DEVICE");
    return device && strncmp(device, "cpu:", 4) == 0;
}
#endif
#endif
