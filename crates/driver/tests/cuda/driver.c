/* A driver without a GPU, for tests: memory of the device is the host's, and what is put into a stream is done
   when that is waited for, as late as may be. With SUMS a kernel with two arguments adds what the second
   leads to to what the first leads to; others do nothing, but where an image names a library that has the kernels for the
   host (`nvrtc.c` makes such). What is asked is written to the file that CALLS names, a line each. CRASH makes kernels crash, MEMORY is the number of bytes that it has, with UNIFIED it reaches the host's too, LATE says what takes
   long the first time: "wait" for a kernel, or "launch" of one; SMALL is for fewer blocks. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned long word;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static word left = 1ul << 40, sizes[4096], places[4096];
static int crashed;

/* Something to do: a copy, a fill, a sum, a kernel, or to do what another stream has to do up to some point. */
struct deed {
  enum { COPY, FILL, SUM, KERNEL, FOLLOW } what;
  char *to, *from;
  word bytes;
  struct stream *other;
  void (*run)(unsigned, unsigned, const word *);
  unsigned blocks, threads;
};
struct stream {
  struct deed *deeds;
  word done, count, room, kernels, busy;
};
struct event {
  struct stream *stream;
  word count;
};

static int say(const char *what, word number) {
  static FILE *file;
  pthread_mutex_lock(&lock);
  if (!file && getenv("CALLS")) file = fopen(getenv("CALLS"), "w");
  if (file) fprintf(file, "%s %lu\n", what, number), fflush(file);
  pthread_mutex_unlock(&lock);
  return 0;
}

/* What LATE names takes long, the first time. */
static void sleep_once(const char *what) {
  static int is_late;
  pthread_mutex_lock(&lock);
  int sleeps = getenv("LATE") && !strcmp(getenv("LATE"), what) && !is_late++;
  pthread_mutex_unlock(&lock);
  if (sleeps) usleep(100000);
}

static void put(struct stream *stream, struct deed deed) {
  pthread_mutex_lock(&lock);
  if (stream->count == stream->room)
    stream->deeds = realloc(stream->deeds, (stream->room = 2 * stream->room + 64) * sizeof deed);
  stream->deeds[stream->count++] = deed;
  pthread_mutex_unlock(&lock);
}
/* Kernels may ask the host for something while they run, whose threads want the driver then; one runs at a time. */
static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static void run_kernel(struct stream *stream, struct deed it) {
  stream->busy = 1;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&device);
  it.run(it.blocks, it.threads, (word *)it.from), free(it.from);
  pthread_mutex_unlock(&device);
  pthread_mutex_lock(&lock);
  stream->busy = 0, pthread_cond_broadcast(&idle);
}
static void run(struct stream *stream, word count) {
  for (;;) {
    while (stream->busy) pthread_cond_wait(&idle, &lock);
    if (stream->done >= count) return;
    struct deed it = stream->deeds[stream->done++];
    switch (it.what) {
    case COPY: memmove(it.to, it.from, it.bytes); break;
    case FILL: memset(it.to, (int)(word)it.from, it.bytes); break;
    case SUM: *(int *)it.to += *(int *)it.from; break;
    case KERNEL: run_kernel(stream, it); break;
    case FOLLOW: run(it.other, it.bytes); break;
    }
  }
}

int cuDriverGetVersion(int *version) { return *version = 12040, 0; }
int cuInit(unsigned flags) {
  if (getenv("MEMORY")) left = strtoul(getenv("MEMORY"), 0, 10);
  return flags;
}
int cuGetErrorName(int code, const char **name) { return *name = "A_NAME", code * 0; }
int cuGetErrorString(int code, const char **words) { return *words = "some words", code * 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceTotalMem_v2(word *bytes, int device) { return *bytes = left, device * 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  *value = which == 75 ? 8 : which == 76 ? 6 : which == 16 ? (getenv("SMALL") ? 2 : 10) : which == 88 ? getenv("UNIFIED") != 0 : 1;
  return device * 0;
}
static __thread void *current;
static char contexts[2];
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &contexts[device], 0; }
int cuCtxGetCurrent(void **context) { return *context = current, 0; }
int cuCtxSetCurrent(void *context) { return current = context, 0; }
int cuCtxSynchronize(void) { return crashed ? 700 : 0; }

int cuStreamCreate(struct stream **stream, unsigned flags) {
  return *stream = calloc(1, sizeof **stream), say("stream", flags);
}
int cuStreamSynchronize(struct stream *stream) {
  if (stream->kernels) sleep_once("wait");
  pthread_mutex_lock(&lock);
  run(stream, stream->count);
  pthread_mutex_unlock(&lock);
  return crashed ? 700 : say("wait", 0);
}
int cuStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
  pthread_mutex_lock(&lock);
  struct deed deed = { FOLLOW, 0, 0, event->count, event->stream };
  pthread_mutex_unlock(&lock);
  return put(stream, deed), say("follow", flags);
}
int cuEventCreate(struct event **event, unsigned flags) { return *event = calloc(1, sizeof **event), flags * 0; }
int cuEventRecord(struct event *event, struct stream *stream) {
  pthread_mutex_lock(&lock);
  *event = (struct event){ stream, stream->count };
  pthread_mutex_unlock(&lock);
  return say("mark", 0);
}
int cuEventQuery(struct event *event) {
  pthread_mutex_lock(&lock);
  int code = !event->stream || event->stream->done - event->stream->busy >= event->count ? 0 : 600;
  pthread_mutex_unlock(&lock);
  return code;
}
int cuEventSynchronize(struct event *event) {
  pthread_mutex_lock(&lock);
  if (event->stream) run(event->stream, event->count);
  pthread_mutex_unlock(&lock);
  return crashed ? 700 : 0;
}

/* The memory that the GPU reads by itself; the driver reads all other before it returns. */
static char *locked[256];
static word locked_bytes[256], locked_count;
static int is_locked(const char *at) {
  for (word i = 0; i < locked_count; i++)
    if (at >= locked[i] && at < locked[i] + locked_bytes[i]) return 1;
  return 0;
}
int cuPointerGetAttribute(unsigned *kind, int which, char *at) {
  pthread_mutex_lock(&lock);
  int code = is_locked(at) ? 0 : 1;
  pthread_mutex_unlock(&lock);
  return *kind = 1, code;
}
int cuMemHostAlloc(void **at, word bytes, unsigned flags) {
  pthread_mutex_lock(&lock);
  *at = locked[locked_count] = malloc(bytes), locked_bytes[locked_count++] = bytes;
  pthread_mutex_unlock(&lock);
  return flags * 0;
}
int cuMemHostRegister_v2(void *at, word bytes, unsigned flags) {
  pthread_mutex_lock(&lock);
  locked[locked_count] = at, locked_bytes[locked_count++] = bytes;
  pthread_mutex_unlock(&lock);
  mlock(at, bytes);
  return say("lock", bytes);
}
int cuMemHostUnregister(void *at) {
  pthread_mutex_lock(&lock);
  for (word i = 0; i < locked_count; i++)
    if (locked[i] == at) locked_bytes[i] = 0;
  pthread_mutex_unlock(&lock);
  return say("unlock", 0);
}
int cuMemFreeHost(void *at) { return free(at), 0; }
int cuMemAllocManaged(word *at, word bytes, unsigned flags) { return *at = (word)malloc(bytes), 0; }
int cuMemAlloc_v2(word *at, word bytes) {
  pthread_mutex_lock(&lock);
  int code = bytes <= left ? 0 : 2;
  if (!code) {
    *at = (word)aligned_alloc(256, (bytes + 255) / 256 * 256);
    for (int i = 0; i < 4096; i++)
      if (!places[i]) {
        places[i] = *at, sizes[i] = bytes;
        break;
      }
    left -= bytes;
  }
  pthread_mutex_unlock(&lock);
  return say(code ? "no memory" : "memory", bytes), code;
}
int cuMemFree_v2(word at) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 4096; i++)
    if (places[i] == at) left += sizes[i], places[i] = 0;
  pthread_mutex_unlock(&lock);
  return free((void *)at), say("back", 0);
}
static int copied(struct stream *stream, const char *name, void *to, const void *from, word bytes) {
  return put(stream, (struct deed){ COPY, to, (char *)from, bytes }), say(name, bytes);
}
int cuMemcpyHtoDAsync_v2(word to, const void *from, word bytes, struct stream *stream) {
  pthread_mutex_lock(&lock);
  int stays = is_locked(from);
  pthread_mutex_unlock(&lock);
  return copied(stream, "in", (void *)to, stays ? from : memcpy(malloc(bytes), from, bytes), bytes);
}
int cuMemcpyDtoHAsync_v2(void *to, word from, word bytes, struct stream *stream) {
  return copied(stream, "out", to, (void *)from, bytes);
}
int cuMemcpyDtoDAsync_v2(word to, word from, word bytes, struct stream *stream) {
  return copied(stream, "within", (void *)to, (void *)from, bytes);
}
int cuMemcpyPeerAsync(word to, void *there, word from, void *here, word bytes, struct stream *stream) {
  return copied(stream, there == here ? "no peer" : "peer", (void *)to, (void *)from, bytes);
}
int cuMemsetD8Async(word at, unsigned char byte, word bytes, struct stream *stream) {
  return put(stream, (struct deed){ FILL, (char *)at, (char *)(word)byte, bytes }), say("fill", bytes);
}

/* Images are what NVIDIA's compiler makes: names are found in the table of symbols, or in the text. */
struct module {
  word size;
  void *library;
  char text[];
};
/* What an image for the host begins with; the path of a library or an object follows. */
static const char mark[] = "// on the host: ";
/* A library with kernels for the host: each module has its variables for itself. */
static void *opened(const char *text) {
  if (strncmp(text, mark, sizeof mark - 1)) return 0;
  char path[4096], *end = path;
  for (const char *at = text + sizeof mark - 1; *at != '\n' && end < path + sizeof path - 1;) *end++ = *at++;
  *end = 0;
  char own[64], bytes[4096];
  int from = open(path, O_RDONLY), to = memfd_create("kernels", 0);
  for (long count; (count = read(from, bytes, sizeof bytes)) > 0;)
    if (write(to, bytes, count) != count) abort();
  close(from);
  snprintf(own, sizeof own, "/proc/self/fd/%d", to);
  void *library = dlopen(own, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s: %s\n", path, dlerror()), abort();
  return library;
}
static int loaded(struct module **module, const void *image, word size, int is_text) {
  *module = malloc(sizeof **module + size);
  **module = (struct module){ size, is_text ? opened(image) : 0 };
  memcpy((*module)->text, image, size);
  return 0;
}
int cuModuleLoadDataEx(struct module **module, const void *image, unsigned count, int *options, void **values) {
  const Elf64_Ehdr *head = image;
  int is_code = !memcmp(head, ELFMAG, SELFMAG);
  word size = is_code ? head->e_phoff + head->e_phnum * 56 : strlen(image) + 1;
  return loaded(module, image, size, !is_code), say(is_code ? "code" : "text", 0);
}
int cuModuleLoadData(struct module **module, const void *image) { return loaded(module, image, strlen(image) + 1, 1); }
/* A link joins all strings of what is linked: names are found in them; and objects for the host. */
struct link {
  char *text, objects[1 << 16];
  word size, parts;
};
int cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **link) {
  return *link = calloc(1, sizeof **link), 0;
}
int cuLinkAddData_v2(struct link *link, int kind, const char *data, word size, const char *name, unsigned count,
                     int *options, void **values) {
  if (size >= sizeof mark && !memcmp(data, mark, sizeof mark - 1)) {
    const char *path = data + sizeof mark - 1;
    char *end = link->objects + strlen(link->objects);
    *end++ = ' ', memcpy(end, path, strcspn(path, "\n"));
  }
  link->text = realloc(link->text, link->size + size + 1);
  for (word i = 0; i < size; i++) link->text[link->size++] = data[i] ? data[i] : ' ';
  link->text[link->size] = 0;
  link->parts++;
  return say("part", kind);
}
int cuLinkComplete(struct link *link, void **image, word *size) {
  if (*link->objects) {
    char path[] = "/tmp/kernels.XXXXXX", *line, *text;
    close(mkstemp(path));
    asprintf(&line, "g++ -shared -pthread -o %s%s", path, link->objects);
    if (system(line)) abort();
    asprintf(&text, "%s%s\n%s", mark, path, link->text);
    free(line), free(link->text), link->text = text, link->size = strlen(text) + 1;
  }
  return *image = link->text, *size = link->size, say("linked", link->parts);
}
int cuLinkDestroy(struct link *link) { return 0; }
int cuModuleUnload(struct module *module) { return say("unload", 0); }
static int has(struct module *module, const char *name) {
  return memmem(module->text, module->size, name, strlen(name)) ? 0 : 500;
}
struct kernel {
  void (*run)(unsigned, unsigned, const word *);
  int threads;
};
int cuModuleGetFunction(struct kernel **kernel, struct module *module, const char *name) {
  char own[300];
  *kernel = malloc(sizeof **kernel);
  **kernel = (struct kernel){ 0, 256 };
  if (!module->library) return has(module, name);
  snprintf(own, sizeof own, "run_%s", name);
  (*kernel)->run = dlsym(module->library, own);
  snprintf(own, sizeof own, "most_%s", name);
  int *most = dlsym(module->library, own);
  if (most) (*kernel)->threads = *most;
  return (*kernel)->run ? 0 : 500;
}
int cuModuleGetGlobal_v2(word *at, word *size, struct module *module, const char *name) {
  if (module->library) {
    Dl_info where;
    const Elf64_Sym *it;
    *at = (word)dlsym(module->library, name);
    if (!*at || !dladdr1((void *)*at, &where, (void **)&it, RTLD_DL_SYMENT)) return 500;
    return *size = it->st_size, 0;
  }
  *at = (word)calloc(1, 1 << 12), *size = 4;
  /* Who has sums has one. */
  if (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, "_sums")) *(int *)*at = 1;
  return has(module, name);
}
int cuMemcpyDtoH_v2(void *to, word from, word bytes) { return memcpy(to, (void *)from, bytes), 0; }
/* No memory of blocks. */
int cuFuncGetAttribute(int *value, int which, struct kernel *kernel) { return *value = which == 0 ? kernel->threads : 0, 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *kernel, int threads, word memory) {
  /* As if a thread had 96 registers. */
  *blocks = getenv("FEW_REGISTERS") ? 21 * 32 / threads : 2048 / threads;
  return kernel == 0 || memory != 0;
}
/* Graphs of kernels without an order: what is started is what the nodes say at that moment. */
struct node {
  unsigned is_off, blocks, threads;
  word count, arguments[512];
  struct kernel *kernel;
};
struct graph {
  struct node nodes[64];
  word count;
};
static void fill(struct node *node, const char *kernel) {
  void **extra = *(void ***)(kernel + 48);
  node->kernel = *(struct kernel **)kernel;
  node->blocks = *(unsigned *)(kernel + 8);
  node->threads = *(unsigned *)(kernel + 20);
  node->count = extra ? *(word *)extra[3] / 8 : 0;
  for (word i = 0; i < node->count && i < 512; i++) node->arguments[i] = ((word *)extra[1])[i];
}
int cuGraphCreate(struct graph **graph, unsigned flags) { return *graph = calloc(1, sizeof **graph), flags * 0; }
int cuGraphAddKernelNode_v2(struct node **node, struct graph *graph, void *before, word count, const char *kernel) {
  return fill(*node = &graph->nodes[graph->count++], kernel), 0;
}
int cuGraphInstantiateWithFlags(struct graph **ready, struct graph *graph, word flags) {
  return *ready = graph, say("graph", graph->count);
}
int cuGraphExecKernelNodeSetParams_v2(struct graph *graph, struct node *node, const char *kernel) {
  return fill(node, kernel), 0;
}
int cuGraphNodeSetEnabled(struct graph *graph, struct node *node, unsigned is_on) { return node->is_off = !is_on, 0; }
static int start(struct stream *stream, struct kernel *kernel, unsigned blocks, unsigned threads, word count, char **arguments) {
  if (count == 2 && getenv("SUMS")) put(stream, (struct deed){ SUM, arguments[0], arguments[1] });
  if (kernel->run) {
    char *words = malloc(8 * count + 8);
    memcpy(words, arguments, 8 * count);
    put(stream, (struct deed){ KERNEL, .from = words, .run = kernel->run, .blocks = blocks, .threads = threads });
  }
  stream->kernels++;
  crashed = getenv("CRASH") != 0;
  say("blocks", blocks);
  return say("kernel", count);
}
int cuGraphLaunch(struct graph *graph, struct stream *stream) {
  word started = 0;
  for (word i = 0; i < graph->count; i++) {
    struct node *it = &graph->nodes[i];
    if (!it->is_off) started++, start(stream, it->kernel, it->blocks, it->threads, it->count, (char **)it->arguments);
  }
  return say("together", started);
}
int cuLaunchKernel(struct kernel *kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                   unsigned shared, struct stream *stream, void **arguments, void **extra) {
  sleep_once("launch");
  return start(stream, kernel, x, a, extra ? *(word *)extra[3] / 8 : 0, extra ? extra[1] : 0);
}
