/* The program of another machine: serves the library that has started it, by frames over its standard input and output.
   Crate `abi` (remote.rs) has the frames; their numbers, FERRY_VERSION and the table of symbols come before and behind
   this text.

   One thread reads all frames and answers what takes no time, so that the host knows that this process lives. Kernels
   run in threads of their own, one for each worker that the host names: so each keeps the team that it has made. */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error ferry: the bytes of its numbers are in another order than those of the host
#endif
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ != 8
#error ferry: its pointers do not have 8 bytes as those of the host have
#endif
#if defined(__SIZEOF_LONG__) && __SIZEOF_LONG__ != 8
#error ferry: its `long` does not have 8 bytes as that of the host has
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

typedef char long_has_8_bytes[sizeof(long) == 8 && sizeof(void *) == 8 ? 1 : -1];

#define HEAD 40
#define PIECE (64 << 10)
#define STACK ((size_t)64 << 20)
#define ALTERNATE (64 << 10)
#define NO_STACK ((int64_t)INT32_MIN)
#define NEAR_END ((uintptr_t)1 << 20)

/* The table of symbols of the device code. */
struct ferry_symbol {
  const char *name;
  void *address;
  unsigned long size;
};
extern const struct ferry_symbol __ferry_symbols[];
extern const unsigned long __ferry_symbol_count;

static int in_link, out_link, printed;
static int device_number, device_count = 1;
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
/* The launch that this thread runs, and where its stack ends. */
static __thread uint64_t launch;
static __thread uintptr_t stack_end;
static __thread int is_reading;
static volatile int is_over;

/* Numbers are little-endian on the link. */
static void put(unsigned char *at, uint64_t word) {
  for (int i = 0; i < 8; i++) at[i] = (unsigned char)(word >> (8 * i));
}

static uint64_t get(const unsigned char *at) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word |= (uint64_t)at[i] << (8 * i);
  return word;
}

static void send_bytes(const void *bytes, size_t len) {
  const char *at = bytes;
  while (len > 0) {
    ssize_t sent = write(out_link, at, len);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(0);
    at += sent;
    len -= (size_t)sent;
  }
}

/* One number for some bytes, as crate `abi` has it: by it garbage on the link is told from frames. */
static uint64_t mix(uint64_t before, uint64_t word) {
  uint64_t product = (before ^ word) * UINT64_C(0xff51afd7ed558ccd);
  return product ^ product >> 33;
}

static uint64_t mixed(uint64_t value, const unsigned char *bytes, size_t len) {
  for (; len >= 8; bytes += 8, len -= 8) value = mix(value, get(bytes));
  if (len == 0) return value;
  unsigned char last[8] = {0};
  memcpy(last, bytes, len);
  return mix(value, get(last));
}

/* In pieces of our own: kernels may write meanwhile what is sent. Whoever sends has the buffer. */
static void send_locked(uint64_t kind, uint64_t call, const void *bytes, uint64_t len) {
  static unsigned char piece[HEAD + PIECE + 8];
  const unsigned char *from = bytes;
  put(piece, kind);
  put(piece + 8, call);
  put(piece + 16, 0);
  put(piece + 24, len);
  put(piece + 32, mixed(MIXED, piece, 32));
  size_t used = HEAD;
  uint64_t value = MIXED, left = len;
  while (left > 0) {
    size_t part = left < PIECE ? (size_t)left : PIECE;
    memcpy(piece + used, from, part);
    value = mixed(value, piece + used, part);
    from += part;
    left -= part;
    used += part;
    if (left == 0) {
      put(piece + used, value);
      used += 8;
    }
    send_bytes(piece, used);
    used = 0;
  }
  if (len == 0) send_bytes(piece, used);
}

static void send_frame(uint64_t kind, uint64_t call, const void *bytes, uint64_t len) {
  pthread_mutex_lock(&sending);
  send_locked(kind, call, bytes, len);
  pthread_mutex_unlock(&sending);
}

static void fail(uint64_t call, const char *why) { send_frame(FAILED, call, why, strlen(why)); }

/* Sends what lies in the pipe of standard output. */
static void drain_locked(void) {
  char bytes[4096];
  ssize_t got;
  while ((got = read(printed, bytes, sizeof bytes)) > 0) send_frame(PRINTED, 0, bytes, (uint64_t)got);
}

static void drain(void) {
  pthread_mutex_lock(&printing);
  drain_locked();
  pthread_mutex_unlock(&printing);
}

static void flush(void) {
  fflush(NULL);
  drain();
}

/* The program of the host, where that is on this machine. */
static volatile pid_t host;

/* A kernel that prints more than a pipe holds must not wait for its own end. A program that has ended may have left the
   link to a process that it has forked. */
static void *printer(void *unused) {
  struct pollfd wait = {printed, POLLIN, 0};
  for (;;) {
    if (poll(&wait, 1, 1000) > 0) drain();
    if (host && kill(host, 0) && errno == ESRCH) _exit(0);
  }
  return unused;
}

/* Locks what a thread may hold that has died, not for ever. */
static int lock_soon(pthread_mutex_t *mutex) {
  for (int i = 0; i < 200; i++) {
    if (pthread_mutex_trylock(mutex) == 0) return 1;
    usleep(1000);
  }
  return 0;
}

static void say_last(uint64_t kind, const unsigned char *bytes, size_t len) {
  if (lock_soon(&printing)) drain_locked();
  if (lock_soon(&sending)) send_locked(kind, 0, bytes, len);
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  /* The thread that reads frames has followed an address of the host's: no kernel has. */
  if (is_reading) _exit(4);
  if (__sync_lock_test_and_set(&is_over, 1)) {
    /* Another thread speaks, and ends the process. */
    usleep(500000);
    _exit(128 + number);
  }
  int is_fault = number == SIGSEGV || number == SIGBUS;
  uintptr_t at = (uintptr_t)info->si_addr;
  uintptr_t away = at > stack_end ? at - stack_end : stack_end - at;
  int is_stack = is_fault && stack_end && away < NEAR_END;
  unsigned char words[40];
  put(words, (uint64_t)number);
  put(words + 8, (uint64_t)(is_stack ? NO_STACK : info->si_code));
  put(words + 16, is_fault && info->si_code > 0 && info->si_code != 0x80);
  put(words + 24, at);
  put(words + 32, launch);
  say_last(SIGNAL, words, sizeof words);
  _exit(128 + number);
}

/* A kernel has called exit(): the program ends with that status. */
void __real_exit(int) __attribute__((noreturn));
static int exit_status;

void __wrap_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) {
  exit_status = status;
  __real_exit(status);
}

static void exiting(void) {
  if (__sync_lock_test_and_set(&is_over, 1)) return;
  fflush(NULL);
  unsigned char words[16];
  put(words, (uint64_t)(int64_t)exit_status);
  put(words + 8, launch);
  say_last(EXIT, words, sizeof words);
  _exit(exit_status);
}

static void handlers(void) {
  int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGPIPE};
  int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(faults[i], &action, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  atexit(exiting);
}

/* A stack for handlers of this thread: its own may be what ran out. */
static void keep_a_stack(void) {
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = malloc(ALTERNATE);
  stack.ss_size = ALTERNATE;
  if (stack.ss_sp) sigaltstack(&stack, NULL);
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  void *end;
  size_t size;
  if (!pthread_attr_getstack(&attributes, &end, &size)) stack_end = (uintptr_t)end;
  pthread_attr_destroy(&attributes);
}

/* A side that waits looks so many nanoseconds before it sleeps, as the library does: waking may take longer. */
#define LOOK 50000

/* Whether to look again, from a time of 0 at first; lets others run before. */
static int looks(uint64_t *end) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now)) return 0;
  uint64_t time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  if (!*end) *end = time + LOOK;
  if (time >= *end) return 0;
  sched_yield();
  return 1;
}

/* Work for a worker: a frame. */
struct work {
  struct work *next;
  uint64_t kind, call, len;
  unsigned char bytes[];
};

struct worker {
  struct worker *next;
  uint64_t number;
  pthread_mutex_t lock;
  pthread_cond_t come;
  struct work *first, **last;
};

static struct worker *workers;

static void run(const struct work *work) {
  uint64_t count = work->len / 8 - 2;
  void (*kernel)(void *const *) = (void (*)(void *const *))(uintptr_t)get(work->bytes + 8);
  void **words = malloc((count + 1) * sizeof *words);
  if (!words) {
    fail(work->call, "it has no memory for the arguments of a kernel");
    return;
  }
  for (uint64_t i = 0; i < count; i++) words[i] = (void *)(uintptr_t)get(work->bytes + 16 + 8 * i);
  launch = get(work->bytes);
  kernel(words);
  flush();
  launch = 0;
  free(words);
  send_frame(DONE, work->call, NULL, 0);
}

static void expand(const struct work *work);

/* Whether a worker without work, which has its lock, looks again. */
static int looks_on(struct worker *worker, uint64_t *end) {
  pthread_mutex_unlock(&worker->lock);
  int goes_on = looks(end);
  pthread_mutex_lock(&worker->lock);
  return goes_on;
}

static void *serve(void *argument) {
  struct worker *worker = argument;
  keep_a_stack();
  for (;;) {
    uint64_t end = 0;
    pthread_mutex_lock(&worker->lock);
    while (!worker->first && looks_on(worker, &end)) {}
    while (!worker->first) pthread_cond_wait(&worker->come, &worker->lock);
    struct work *work = worker->first;
    worker->first = work->next;
    if (!worker->first) worker->last = &worker->first;
    pthread_mutex_unlock(&worker->lock);
    if (work->kind == MAPPER)
      expand(work);
    else
      run(work);
    free(work);
  }
  return NULL;
}

static struct worker *worker_of(uint64_t number) {
  struct worker *worker;
  for (worker = workers; worker; worker = worker->next)
    if (worker->number == number) return worker;
  worker = calloc(1, sizeof *worker);
  if (!worker) return NULL;
  worker->number = number;
  worker->last = &worker->first;
  pthread_mutex_init(&worker->lock, NULL);
  pthread_cond_init(&worker->come, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, serve, worker);
  pthread_attr_destroy(&attributes);
  if (failed) {
    free(worker);
    return NULL;
  }
  pthread_detach(thread);
  worker->next = workers;
  workers = worker;
  return worker;
}

/* Bytes of the link that were read and not used yet. */
static unsigned char held[1 << 16];
static size_t held_from, held_to;

/* The value of the bytes of a frame that were read, which must be what the frame says. */
static uint64_t read_value;
static unsigned char odd[8];
static size_t odd_count;

static void *take(void *to, const unsigned char *from, size_t len) {
  for (const unsigned char *at = from; at < from + len;) {
    if (odd_count == 0 && (size_t)(from + len - at) >= 8) {
      read_value = mix(read_value, get(at));
      at += 8;
      continue;
    }
    odd[odd_count++] = *at++;
    if (odd_count == 8) {
      read_value = mix(read_value, get(odd));
      odd_count = 0;
    }
  }
  return to ? (char *)memcpy(to, from, len) + len : NULL;
}

static void receive(void *to, uint64_t len) {
  while (len > 0) {
    size_t here = held_to - held_from;
    if (here > 0) {
      size_t part = here < len ? here : (size_t)len;
      to = take(to, held + held_from, part);
      held_from += part;
      len -= part;
      continue;
    }
    uint64_t end = 0;
    struct pollfd link = {.fd = in_link, .events = POLLIN};
    while (poll(&link, 1, 0) == 0 && looks(&end)) {}
    ssize_t got = read(in_link, held, sizeof held);
    if (got < 0 && errno == EINTR) continue;
    /* The program is gone, and so is this one, whatever kernels do. */
    if (got <= 0) _exit(0);
    held_from = 0;
    held_to = (size_t)got;
  }
}

/* The bytes of a frame were all read: are they what was sent? */
static void check(uint64_t len) {
  unsigned char value[8];
  if (odd_count) {
    memset(odd + odd_count, 0, 8 - odd_count);
    read_value = mix(read_value, get(odd));
    odd_count = 0;
  }
  uint64_t own = read_value;
  if (len == 0) return;
  receive(value, 8);
  if (get(value) != own) _exit(3);
}

/* Questions of kernels that the host has not answered. */
struct asked {
  struct asked *next;
  uint64_t call;
  int is_done;
  int is_refused;
  char why[200];
};
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static struct asked *questions;
static uint64_t last_question;

static void answer(uint64_t kind, uint64_t call, uint64_t len) {
  char why[200];
  uint64_t part = len < sizeof why - 1 ? len : sizeof why - 1;
  receive(why, part);
  receive(NULL, len - part);
  check(len);
  why[part] = 0;
  pthread_mutex_lock(&asking);
  for (struct asked *it = questions; it; it = it->next)
    if (it->call == call) {
      it->is_done = 1;
      it->is_refused = kind != DONE;
      memcpy(it->why, why, sizeof why);
    }
  pthread_cond_broadcast(&answered);
  pthread_mutex_unlock(&asking);
}

/* The structures of calls, as compiled code has them. */
struct ident { int r1, flags, r2, length; const char *text; };
struct args {
  unsigned version, count;
  void **bases, **begins;
  int64_t *sizes, *types;
  void **names, **mappers;
};
struct region { unsigned version, flags; const char *name; };

#define ANCESTOR (-11)
#define ENTRY 5

/* A kernel hands a region back to the host. */
int __tgt_target_kernel(const struct ident *place, int64_t device, int teams, int limit, const struct region *region,
                        struct args *args) {
  (void)teams;
  (void)limit;
  if (device != ANCESTOR) {
    fprintf(stderr, "ferry: error: a kernel starts a region on a device, which other machines cannot\n");
    exit(1);
  }
  const char *source = place && place->text ? place->text : "";
  uint64_t words = 3 + (uint64_t)ENTRY * args->count;
  size_t name = strlen(region->name), text = strlen(source), size = 8 * words + name + text;
  unsigned char *bytes = malloc(size), *at = bytes;
  if (!bytes) abort();
  put(at, args->count);
  put(at + 8, name);
  put(at + 16, launch);
  at += 24;
  for (unsigned i = 0; i < args->count; i++, at += 8 * ENTRY) {
    put(at, (uint64_t)(uintptr_t)args->bases[i]);
    put(at + 8, (uint64_t)(uintptr_t)args->begins[i]);
    put(at + 16, (uint64_t)args->sizes[i]);
    put(at + 24, (uint64_t)args->types[i]);
    put(at + 32, args->mappers ? (uint64_t)(uintptr_t)args->mappers[i] : 0);
  }
  memcpy(at, region->name, name);
  memcpy(at + name, source, text);
  flush();
  struct asked own;
  memset(&own, 0, sizeof own);
  pthread_mutex_lock(&asking);
  own.call = ++last_question;
  own.next = questions;
  questions = &own;
  pthread_mutex_unlock(&asking);
  send_frame(REGION, own.call, bytes, size);
  free(bytes);
  pthread_mutex_lock(&asking);
  while (!own.is_done) pthread_cond_wait(&answered, &asking);
  struct asked **link = &questions;
  while (*link != &own) link = &(*link)->next;
  *link = own.next;
  pthread_mutex_unlock(&asking);
  if (own.is_refused) {
    fprintf(stderr, "ferry: error: %s\n", own.why);
    exit(1);
  }
  return 0;
}

/* What a mapper pushes: base, begin, size, type, and a name, which stays here. */
struct component { uint64_t words[ENTRY]; };
struct components { struct component *list; uint64_t count, room; };

void __tgt_push_mapper_component(struct components *to, void *base, void *begin, int64_t size, int64_t type, void *name) {
  (void)name;
  if (to->count == to->room) {
    uint64_t room = to->room ? 2 * to->room : 16;
    struct component *list = realloc(to->list, room * sizeof *list);
    if (!list) abort();
    to->list = list;
    to->room = room;
  }
  uint64_t words[ENTRY] = {(uint64_t)(uintptr_t)base, (uint64_t)(uintptr_t)begin, (uint64_t)size, (uint64_t)type, 0};
  memcpy(to->list[to->count++].words, words, sizeof words);
}

int64_t __tgt_mapper_num_components(struct components *of) { return (int64_t)of->count; }

static void expand(const struct work *work) {
  struct components made = {NULL, 0, 0};
  typedef void mapper(void *, void *, void *, int64_t, int64_t, void *);
  mapper *function = (mapper *)(uintptr_t)get(work->bytes);
  void *base = (void *)(uintptr_t)get(work->bytes + 8), *begin = (void *)(uintptr_t)get(work->bytes + 16);
  function(&made, base, begin, (int64_t)get(work->bytes + 24), (int64_t)get(work->bytes + 32), NULL);
  for (uint64_t i = 0; i < made.count; i++)
    for (int j = 0; j < ENTRY; j++) {
      uint64_t word = made.list[i].words[j];
      put((unsigned char *)&made.list[i].words[j], word);
    }
  send_frame(DONE, work->call, made.list, made.count * sizeof *made.list);
  free(made.list);
}

/* Takes from this process what kernels do not need (confine.c). */
static uint64_t ferry_confine(void);

/* Memory at the address that the host wishes, or elsewhere: the file that both map, or memory of this process alone. */
static void hello(uint64_t call, uint64_t len) {
  unsigned char *bytes = malloc(len + 1);
  if (!bytes || len < 48) _exit(2);
  receive(bytes, len);
  check(len);
  bytes[len] = 0;
  if (get(bytes) != FERRY_VERSION) {
    fail(call, "it speaks another version: build the program and the library from one installation");
    return;
  }
  device_number = (int)get(bytes + 8);
  device_count = (int)get(bytes + 16);
  void *wish = (void *)(uintptr_t)get(bytes + 24), *at = MAP_FAILED;
  size_t size = get(bytes + 32);
  uint64_t word = 0;
  host = (pid_t)get(bytes + 40);
  int file = bytes[48] ? open((char *)bytes + 48, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    int flags = MAP_SHARED | MAP_NORESERVE;
    at = mmap(wish, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (at != MAP_FAILED) word = get(at);
    close(file);
  }
  if (at == MAP_FAILED)
    at = mmap(wish, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  free(bytes);
  if (at == MAP_FAILED) {
    fail(call, "its memory cannot be reserved: FERRY_DEVICE_MEMORY sets another size");
    return;
  }
  /* Threads that run kernels come from this one, later. */
  unsigned char words[24];
  put(words, (uint64_t)(uintptr_t)at);
  put(words + 8, word);
  put(words + 16, ferry_confine());
  send_frame(DONE, call, words, sizeof words);
}

static void find(uint64_t call, uint64_t len) {
  char name[4096];
  uint64_t part = len < sizeof name ? len : 0;
  receive(part ? name : NULL, len);
  check(len);
  name[part] = 0;
  for (unsigned long i = 0; i < __ferry_symbol_count; i++)
    if (!strcmp(__ferry_symbols[i].name, name)) {
      unsigned char words[16];
      put(words, (uint64_t)(uintptr_t)__ferry_symbols[i].address);
      put(words + 8, __ferry_symbols[i].size);
      send_frame(DONE, call, words, sizeof words);
      return;
    }
  send_frame(NOT_FOUND, call, name, part);
}

/* Gives a frame to its worker. */
static void hand_over(uint64_t kind, uint64_t call, uint64_t number, uint64_t len) {
  struct work *work = malloc(sizeof *work + len);
  receive(work ? work->bytes : NULL, len);
  check(len);
  struct worker *worker = work && len >= 16 ? worker_of(number) : NULL;
  if (!worker) {
    free(work);
    fail(call, "it has no memory for a kernel or its thread");
    return;
  }
  work->next = NULL;
  work->kind = kind;
  work->call = call;
  work->len = len;
  pthread_mutex_lock(&worker->lock);
  *worker->last = work;
  worker->last = &work->next;
  pthread_cond_signal(&worker->come);
  pthread_mutex_unlock(&worker->lock);
}

/* One frame. What it says is done when all of it is known to be right; only bytes are written before. */
static void next(void) {
  unsigned char head[HEAD], words[24] = {0};
  receive(head, HEAD);
  odd_count = 0;
  uint64_t kind = get(head), call = get(head + 8), worker = get(head + 16), len = get(head + 24);
  if (mixed(MIXED, head, 32) != get(head + 32)) _exit(3);
  read_value = MIXED;
  uint64_t least = kind == WRITE ? 8 : kind == READ ? 16 : kind == FILL || kind == MOVE ? 24 : 0;
  if (len < least || len > ((uint64_t)1 << 31)) _exit(3);
  if (least) receive(words, least);
  uint64_t left = len - least;
  switch (kind) {
  case HELLO: hello(call, len); return;
  case FIND: find(call, len); return;
  case LAUNCH:
  case MAPPER: hand_over(kind, call, worker, len); return;
  case DONE:
  case FAILED: answer(kind, call, len); return;
  case WRITE:
    receive((void *)(uintptr_t)get(words), left);
    check(len);
    /* Parts that are not answered come before one that is. */
    if (call) send_frame(DONE, call, NULL, 0);
    return;
  case PING:
  case READ:
  case FILL:
  case MOVE:
    receive(NULL, left);
    check(len);
    break;
  default: _exit(3);
  }
  if (kind == FILL) memset((void *)(uintptr_t)get(words), (int)get(words + 8), get(words + 16));
  if (kind == MOVE) memmove((void *)(uintptr_t)get(words), (void *)(uintptr_t)get(words + 8), get(words + 16));
  if (kind == READ)
    send_frame(DONE, call, (void *)(uintptr_t)get(words), get(words + 8));
  else
    send_frame(DONE, call, NULL, 0);
}

/* What the threading runtime would say is true of the host. */
int __wrap_omp_is_initial_device(void) { return 0; }
int __wrap_omp_get_device_num(void) { return device_number; }
int __wrap_omp_get_num_devices(void) { return device_count; }
int __wrap_omp_get_initial_device(void) { return device_count; }
/* The current device, the default and any that is not the host: none of a maker. */
int __wrap_acc_on_device(int type) { return type == -1 || type == 1 || type == 4; }

/* The order of wide characters is that of the host's `wchar_t`, which may have a sign where that of this machine has
   none, or the other way round. */
static int wide_order(FERRY_WIDE a, FERRY_WIDE b) { return (a > b) - (a < b); }
int __wrap_wmemcmp(const FERRY_WIDE *a, const FERRY_WIDE *b, size_t count) {
  size_t at = 0;
  while (at < count && a[at] == b[at]) at++;
  return at < count ? wide_order(a[at], b[at]) : 0;
}
int __wrap_wcsncmp(const FERRY_WIDE *a, const FERRY_WIDE *b, size_t count) {
  size_t at = 0;
  while (at < count && a[at] && a[at] == b[at]) at++;
  return at < count ? wide_order(a[at], b[at]) : 0;
}
int __wrap_wcscmp(const FERRY_WIDE *a, const FERRY_WIDE *b) { return __wrap_wcsncmp(a, b, SIZE_MAX); }

int main(void) {
  unsigned char greeting[] = "\177ferry\r\n________________________________";
  int ends[2], none = open("/dev/null", O_RDONLY);
  in_link = dup(0);
  out_link = dup(1);
  if (pipe(ends) || in_link < 0 || out_link < 0) return 2;
  dup2(none, 0);
  dup2(ends[1], 1);
  close(ends[1]);
  printed = ends[0];
  int own[] = {in_link, out_link, printed};
  for (int i = 0; i < 3; i++) fcntl(own[i], F_SETFD, FD_CLOEXEC);
  fcntl(printed, F_SETFL, O_NONBLOCK);
#ifdef PR_SET_NO_NEW_PRIVS
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
  handlers();
  keep_a_stack();
  pthread_t thread;
  if (pthread_create(&thread, NULL, printer, NULL)) return 2;
  put(greeting + 8, FERRY_VERSION);
  put(greeting + 16, (uint64_t)sysconf(_SC_PAGESIZE));
  put(greeting + 24, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
  put(greeting + 32, mixed(MIXED, greeting + 8, 24));
  send_bytes(greeting, 40);
  is_reading = 1;
  for (;;) next();
}
