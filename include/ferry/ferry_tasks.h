/* Tasks that host workers and accelerator cores run, whoever is free (docs/tasks.md).

     start_finish(1, &buffer);                     // tasks write to this buffer
     forasync(kernel, NULL, 0, 1, &loop, WS_RECURSION);
     end_finish();                                 // all of them are done, and the host sees what they wrote

   With FERRY_TASKS_SERIAL defined there are no tasks: every call is a plain call (serial elision). */
#ifndef FERRY_TASKS_H
#define FERRY_TASKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A buffer of ws_malloc that tasks write to. */
typedef struct {
  void *ptr;
  size_t size;
} ws_args_t;

/* One dimension of a loop: from low to below high, in steps of stride, tile iterations for a task (0: Ferry chooses). */
typedef struct {
  int low;
  int high;
  int stride;
  int tile;
} loop_domain_t;

/* How a loop becomes tasks: halves of halves, or tile after tile. */
enum { WS_RECURSION = 0, WS_CHUNK = 1 };
/* Where a buffer lies: off the chip or on it. */
enum { WS_FAR = 0, WS_NEAR = 1 };
/* Bytes of a line of the cores' caches: what two tasks write to lies in different lines. */
enum { WS_LINE = 128 };

typedef void (*ws_task_t)(void *);

/* What was done since the program began. */
typedef struct {
  uint64_t host_tasks, host_steals, core_tasks, core_steals;
  uint64_t sent, taken; /* across: from the host to cores, from cores to the host */
  uint64_t host_flushes, core_flushes;
} ws_statistics_t;

#ifdef FERRY_TASKS_SERIAL

static inline void ws_task_(ws_task_t body, void *args, size_t size) {
  (void)size;
  body(args);
}
static inline void ws_finish_(int number, ...) { (void)number; }
static inline void ws_loop_(void (*kernel)(void), void *args, int dimensions, const loop_domain_t *d) {
  for (int i = d[0].low; i < d[0].high; i += d[0].stride) {
    if (dimensions == 1) {
      ((void (*)(void *, int))kernel)(args, i);
      continue;
    }
    for (int j = d[1].low; j < d[1].high; j += d[1].stride) {
      if (dimensions == 2) {
        ((void (*)(void *, int, int))kernel)(args, i, j);
        continue;
      }
      for (int k = d[2].low; k < d[2].high; k += d[2].stride)
        ((void (*)(void *, int, int, int))kernel)(args, i, j, k);
    }
  }
}
static inline void *ws_malloc_(size_t size, int where) {
  (void)where;
  return aligned_alloc(WS_LINE, (size + WS_LINE - 1) / WS_LINE * WS_LINE);
}
static inline void ws_free(void *at) { free(at); }
static inline void ws_cacheWbInv(void *at, size_t size) { (void)at, (void)size; }
static inline uintptr_t ws_dspPtr(const void *at) { return (uintptr_t)at; }
static inline int ws_isCore(void) { return 0; }
static inline void ws_statistics(ws_statistics_t *to) {
  ws_statistics_t none = {0, 0, 0, 0, 0, 0, 0, 0};
  *to = none;
}

#else

const void *ferry_tasks_self(void);
void ferry_tasks_async(const void *self, ws_task_t body, void *args, size_t size, const char *place);
void ferry_tasks_async_core(ws_task_t body, void *args, size_t size, const char *place);
void ferry_tasks_start_finish(const void *self, int number, const ws_args_t *const *written);
void ferry_tasks_end_finish(const void *self);
void ferry_tasks_forasync(const void *kernel, const void *args, size_t size, int dimensions,
                          const loop_domain_t *domains, int mode, const char *place);
void *ferry_tasks_malloc(size_t size, int where);
void ferry_tasks_free(void *at);
void ferry_tasks_flush(void *at, size_t size);
uint32_t ferry_tasks_core_pointer(const void *at);
void ferry_tasks_statistics(ws_statistics_t *to);
int ferry_tasks_is_core(void);

/* What this thread is; asked for once. */
static __thread const void *ws_self_;
static inline const void *ws_me_(void) {
  if (__builtin_expect(!ws_self_, 0)) ws_self_ = ferry_tasks_self();
  return ws_self_;
}

static inline void *ws_malloc_(size_t size, int where) { return ferry_tasks_malloc(size, where); }
static inline void ws_free(void *at) { ferry_tasks_free(at); }
/* Writes back what this side has written to a part of a buffer, and takes what the other side has. */
static inline void ws_cacheWbInv(void *at, size_t size) { ferry_tasks_flush(at, size); }
/* A pointer to a buffer as cores have it. */
static inline uint32_t ws_dspPtr(const void *at) { return ferry_tasks_core_pointer(at); }
/* Whether this runs on an accelerator core. */
static inline int ws_isCore(void) { return ferry_tasks_is_core(); }
static inline void ws_statistics(ws_statistics_t *to) { ferry_tasks_statistics(to); }

#endif

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus

#define WS_TEXT_(x) #x
#define WS_PLACE_(line) __FILE__ ":" WS_TEXT_(line)
#define WS_FIRST_(a, ...) a
#define WS_SECOND_(a, b, ...) b

#ifdef FERRY_TASKS_SERIAL
#define async(body, args, size) ws_task_((body), (args), (size))
#define asyncDSP(body, args, size) ws_task_((body), (args), (size))
#define forasync(kernel, args, size, dimensions, domains, mode)                                    \
  ((void)(size), (void)(mode), ws_loop_((void (*)(void))(kernel), (args), (dimensions), (domains)))
#define start_finish(...) ws_finish_(__VA_ARGS__)
#define end_finish() ws_finish_(0)
#else
/* A task for whoever is free: body(args), with a copy of size bytes. */
#define async(body, args, size) ferry_tasks_async(ws_me_(), (body), (args), (size), WS_PLACE_(__LINE__))
/* A task for the accelerator. */
#define asyncDSP(body, args, size) ferry_tasks_async_core((body), (args), (size), WS_PLACE_(__LINE__))
/* A loop of one to three dimensions: kernel(args, i), kernel(args, i, j), kernel(args, i, j, k). */
#define forasync(kernel, args, size, dimensions, domains, mode)                                    \
  ferry_tasks_forasync((const void *)(kernel), (args), (size), (dimensions), (domains), (mode),    \
                       WS_PLACE_(__LINE__))
/* start_finish(n, &buffer...): the number of buffers that tasks write to, and these. */
#define start_finish(...)                                                                          \
  ferry_tasks_start_finish(ws_me_(), WS_FIRST_(__VA_ARGS__, 0), WS_WRITTEN_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0))
#define WS_WRITTEN_(n, a, b, c, d, e, f, g, h, ...)                                                \
  ((const ws_args_t *const[]){a, b, c, d, e, f, g, h})
#define end_finish() ferry_tasks_end_finish(ws_me_())
#endif
/* ws_malloc(size) or ws_malloc(size, WS_NEAR): whole lines of memory that both sides see. */
#define ws_malloc(...) ws_malloc_(WS_FIRST_(__VA_ARGS__, 0), WS_SECOND_(__VA_ARGS__, WS_FAR, 0))

#else

#include <new>
#include <type_traits>
#include <utility>

static inline void *ws_malloc(size_t size, int where = WS_FAR) { return ws_malloc_(size, where); }

#ifdef FERRY_TASKS_SERIAL
static inline void async(ws_task_t body, void *args, size_t size) { ws_task_(body, args, size); }
static inline void asyncDSP(ws_task_t body, void *args, size_t size) { ws_task_(body, args, size); }
template <typename Kernel>
static inline void forasync(Kernel *kernel, void *args, size_t, int dimensions, const loop_domain_t *domains, int) {
  ws_loop_(reinterpret_cast<void (*)(void)>(kernel), args, dimensions, domains);
}
template <typename... Buffers> static inline void start_finish(int, const Buffers *...) {}
static inline void end_finish() {}
template <typename Work, typename = decltype(std::declval<Work &>()())> static inline void async(Work work) { work(); }
template <typename Work, typename = decltype(std::declval<Work &>()())> static inline void asyncDSP(Work work) { work(); }
#else
static inline void async(ws_task_t body, void *args, size_t size, const char *place = nullptr) {
  ferry_tasks_async(ws_me_(), body, args, size, place);
}
static inline void asyncDSP(ws_task_t body, void *args, size_t size, const char *place = nullptr) {
  ferry_tasks_async_core(body, args, size, place);
}
template <typename Kernel>
static inline void forasync(Kernel *kernel, void *args, size_t size, int dimensions, const loop_domain_t *domains, int mode) {
  ferry_tasks_forasync(reinterpret_cast<const void *>(kernel), args, size, dimensions, domains, mode, nullptr);
}
template <typename... Buffers> static inline void start_finish(int number, const Buffers *...written) {
  const ws_args_t *list[] = {written..., nullptr};
  ferry_tasks_start_finish(ws_me_(), number, list);
}
static inline void end_finish() { ferry_tasks_end_finish(ws_me_()); }

/* A lambda as a task: it is copied byte by byte, so it holds what can be: numbers, pointers, plain records. */
template <typename Work> static inline void ws_call_(void *work) { (*static_cast<Work *>(work))(); }
template <typename Work, typename = decltype(std::declval<Work &>()())> static inline void async(Work work) {
  static_assert(std::is_trivially_copyable<Work>::value, "a task holds only what can be copied byte by byte");
  ferry_tasks_async(ws_me_(), ws_call_<Work>, &work, sizeof work, nullptr);
}
template <typename Work, typename = decltype(std::declval<Work &>()())> static inline void asyncDSP(Work work) {
  static_assert(std::is_trivially_copyable<Work>::value, "a task holds only what can be copied byte by byte");
  ferry_tasks_async_core(ws_call_<Work>, &work, sizeof work, nullptr);
}
#endif

/* finish([&] { ... }), with the buffers that its tasks write to behind. */
template <typename Work, typename... Buffers> static inline void finish(Work work, const Buffers *...written) {
  start_finish(static_cast<int>(sizeof...(written)), written...);
  work();
  end_finish();
}
/* forasync(low, high, tile, [=](int i) { ... }). */
template <typename Work> static inline void ws_iteration_(void *work, int i) { (*static_cast<Work *>(work))(i); }
template <typename Work, typename = decltype(std::declval<Work &>()(0))>
static inline void forasync(int low, int high, int tile, Work work, int mode = WS_RECURSION) {
  static_assert(std::is_trivially_copyable<Work>::value, "a task holds only what can be copied byte by byte");
  loop_domain_t domain = {low, high, 1, tile};
  forasync(ws_iteration_<Work>, static_cast<void *>(&work), sizeof work, 1, &domain, mode);
}

#endif

#endif
