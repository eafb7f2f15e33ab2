/* A runtime for tests: as small as can be, in the host's data model like the programs it serves. */
#include "device.h"

#define REGISTER(address) (*(volatile unsigned *)(address))
#define EVENT_WAIT 0x10204000
#define EVENT_RAISE 0x10204040
#define BARRIER 0x10204204
#define DMA 0x10204400
#define CORES 8
#define L1 0x10000000u

typedef void region(int *gtid, int *tid, void *pack);

static region *run_now;
static void *pack_now;
static unsigned top;
static int in_region;

static int core(void) {
    int id;
    __asm__ volatile("csrr %0, mhartid" : "=r"(id));
    return id;
}

static void barrier(void) { (void)REGISTER(BARRIER); }

#ifdef INLINE_FORK
__attribute__((always_inline))
#endif
void ferry_fork(region *run, void *pack) {
    int id = core();
    if (in_region) {
        int only = 0;
        run(&only, &only, pack);
        return;
    }
    in_region = 1;
    run_now = run;
    pack_now = pack;
    __asm__ volatile("fence" ::: "memory");
    REGISTER(EVENT_RAISE) = 0xfe;
    run(&id, &id, pack);
    barrier();
    in_region = 0;
}

FERRY_ROOT void ferry_worker(void) {
    int id = core();
    (void)REGISTER(EVENT_WAIT);
    run_now(&id, &id, pack_now);
    barrier();
}

FERRY_DEVICE void *spm_alloc(size_t bytes) {
    unsigned at = L1 + top;
    top += ((unsigned)bytes + 7) & ~7u;
    return (void *)(uintptr_t)at;
}

void spm_free_all(void) { top = 0; }

static void transfer(const void *from, void *to, size_t bytes) {
    uint64_t source = (uint64_t)from, target = (uint64_t)to;
    REGISTER(DMA) = (unsigned)source;
    REGISTER(DMA + 4) = (unsigned)(source >> 32);
    REGISTER(DMA + 8) = (unsigned)target;
    REGISTER(DMA + 12) = (unsigned)(target >> 32);
    REGISTER(DMA + 16) = (unsigned)bytes;
    (void)REGISTER(DMA + 32);
}

void copy_in(void *to, const void *from, size_t bytes) { transfer(from, to, bytes); }
void copy_out(void *to, const void *from, size_t bytes) { transfer(from, to, bytes); }
void copies_done(void) {
    while (REGISTER(DMA + 36)) { }
    __asm__ volatile("" ::: "memory");
}

int __kmpc_global_thread_num(void *place) { return core(); }
void __kmpc_push_num_threads(void *place, int id, int threads) {}
void __kmpc_barrier(void *place, int id) { barrier(); }
void __kmpc_for_static_fini(void *place, int id) {}
void __kmpc_for_static_init_4(void *place, int id, int schedule, int *last, int *lower, int *upper, int *stride, int step,
                              int chunk) {
    int trips = (*upper - *lower) / step + 1, each = (trips + CORES - 1) / CORES, end = *upper;
    int from = *lower + id * each * step, to = from + (each - 1) * step;
    *last = from <= end && to >= end;
    *lower = from;
    *upper = to < end ? to : end;
    *stride = trips * step;
}
void __kmpc_for_static_init_8(void *place, int id, int schedule, int *last, long *lower, long *upper, long *stride,
                              long step, long chunk) {
    long trips = (*upper - *lower) / step + 1, each = (trips + CORES - 1) / CORES, end = *upper;
    long from = *lower + id * each * step, to = from + (each - 1) * step;
    *last = from <= end && to >= end;
    *lower = from;
    *upper = to < end ? to : end;
    *stride = trips * step;
}

#ifdef OWN_COPIES
void *memcpy(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memmove(void *to, const void *from, size_t bytes) {
    if ((uintptr_t)to - (uintptr_t)from >= bytes) return memcpy(to, from, bytes);
    while (bytes-- > 0) ((char *)to)[bytes] = ((const char *)from)[bytes];
    return to;
}
void *memset(void *to, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = (char)value;
    return to;
}
#endif
