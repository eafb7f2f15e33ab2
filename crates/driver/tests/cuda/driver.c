/* A driver without a GPU, for tests: memory of the device is the host's, and what is put into a stream is done
   when that is waited for, as late as may be. With SUMS a kernel with two arguments adds what the second
   leads to to what the first leads to; others do nothing. What is asked is written to the file that CALLS names, a line
   each. CRASH makes kernels crash, MEMORY is the number of bytes that it has, with UNIFIED it reaches the host's too, LATE says what takes
   long the first time: "wait" for a kernel, or "launch" of one. */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long word;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static word left = 1ul << 40, sizes[4096], places[4096];
static int crashed;

/* Something to do: a copy, a fill, a sum, or to do what another stream has to do up to some point. */
struct deed {
  enum { COPY, FILL, SUM, FOLLOW } what;
  char *to, *from;
  word bytes;
  struct stream *other;
};
struct stream {
  struct deed *deeds;
  word done, count, room, kernels;
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
static void run(struct stream *stream, word count) {
  while (stream->done < count) {
    struct deed it = stream->deeds[stream->done++];
    switch (it.what) {
    case COPY: memmove(it.to, it.from, it.bytes); break;
    case FILL: memset(it.to, (int)(word)it.from, it.bytes); break;
    case SUM: *(int *)it.to += *(int *)it.from; break;
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
  *value = which == 75 ? 8 : which == 76 ? 6 : which == 16 ? 10 : which == 88 ? getenv("UNIFIED") != 0 : 1;
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
  int code = !event->stream || event->stream->done >= event->count ? 0 : 600;
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
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  const Elf64_Ehdr *head = image;
  int is_code = !memcmp(head, ELFMAG, SELFMAG);
  word size = is_code ? head->e_phoff + head->e_phnum * 56 : strlen(image) + 1;
  *module = malloc(size + sizeof size);
  memcpy(*module, &size, sizeof size);
  memcpy((char *)*module + sizeof size, image, size);
  return say(is_code ? "code" : "text", 0);
}
int cuModuleLoadData(void **module, const void *image) {
  word size = strlen(image) + 1;
  *module = malloc(size + sizeof size);
  memcpy(*module, &size, sizeof size);
  memcpy((char *)*module + sizeof size, image, size);
  return 0;
}
/* A link joins all strings of what is linked: names are found in them. */
struct link {
  char *text;
  word size, parts;
};
int cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **link) {
  return *link = calloc(1, sizeof **link), 0;
}
int cuLinkAddData_v2(struct link *link, int kind, const char *data, word size, const char *name, unsigned count,
                     int *options, void **values) {
  link->text = realloc(link->text, link->size + size + 1);
  for (word i = 0; i < size; i++) link->text[link->size++] = data[i] ? data[i] : ' ';
  link->text[link->size] = 0;
  link->parts++;
  return say("part", kind);
}
int cuLinkComplete(struct link *link, void **image, word *size) {
  return *image = link->text, *size = link->size, say("linked", link->parts);
}
int cuLinkDestroy(struct link *link) { return 0; }
int cuModuleUnload(void *module) { return say("unload", 0); }
static int has(void *module, const char *name) {
  word size = *(word *)module;
  return memmem((char *)module + sizeof size, size, name, strlen(name)) ? 0 : 500;
}
int cuModuleGetFunction(void **kernel, void *module, const char *name) {
  return *kernel = (void *)strdup(name), has(module, name);
}
int cuModuleGetGlobal_v2(word *at, word *size, void *module, const char *name) {
  *at = (word)calloc(1, 1 << 12), *size = 4;
  /* Who has sums has one. */
  if (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, "_sums")) *(int *)*at = 1;
  return has(module, name);
}
int cuMemcpyDtoH_v2(void *to, word from, word bytes) { return memcpy(to, (void *)from, bytes), 0; }
/* 256 threads in a block at most, and no memory of blocks. */
int cuFuncGetAttribute(int *value, int which, void *kernel) { return *value = which == 0 ? 256 : 0, 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *kernel, int threads, word memory) {
  /* As if a thread had 96 registers. */
  *blocks = getenv("FEW_REGISTERS") ? 21 * 32 / threads : 2048 / threads;
  return kernel == 0 || memory != 0;
}
/* Graphs of kernels without an order: what is started is what the nodes say at that moment. */
struct node {
  unsigned is_off, blocks;
  word count, arguments[2];
};
struct graph {
  struct node nodes[64];
  word count;
};
static void fill(struct node *node, const char *kernel) {
  void **extra = *(void ***)(kernel + 48);
  node->blocks = *(unsigned *)(kernel + 8);
  node->count = extra ? *(word *)extra[3] / 8 : 0;
  for (word i = 0; i < node->count && i < 2; i++) node->arguments[i] = ((word *)extra[1])[i];
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
static int start(struct stream *stream, unsigned blocks, word count, char **arguments) {
  if (count == 2 && getenv("SUMS")) put(stream, (struct deed){ SUM, arguments[0], arguments[1] });
  stream->kernels++;
  crashed = getenv("CRASH") != 0;
  say("blocks", blocks);
  return say("kernel", count);
}
int cuGraphLaunch(struct graph *graph, struct stream *stream) {
  word started = 0;
  for (word i = 0; i < graph->count; i++) {
    struct node *it = &graph->nodes[i];
    if (!it->is_off) started++, start(stream, it->blocks, it->count, (char **)it->arguments);
  }
  return say("together", started);
}
int cuLaunchKernel(void *kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                   unsigned shared, struct stream *stream, void **arguments, void **extra) {
  sleep_once("launch");
  return start(stream, x, extra ? *(word *)extra[3] / 8 : 0, extra ? extra[1] : 0);
}
