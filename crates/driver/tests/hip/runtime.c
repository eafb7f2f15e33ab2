/* AMD's runtime without a GPU, for tests: memory of the device is the host's, and what is put into a stream is done when
   that is waited for, as late as may be. Code objects are read: kernels and
   variables are those that their tables have, with what their notes say. If KERNELS names a library, kernels are its
   functions, which do on the host what the code object would do; else they do nothing. What is asked is written to the
   file that CALLS names, a line each. GPU is what the device is (gfx90a), CRASH makes kernels crash, MEMORY is the number
   of bytes that there are. */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long word;
enum { NO_MEMORY = 2, WRONG = 1, BAD_IMAGE = 200, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, TOO_MANY = 719 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int say(const char *what, word number) {
  static FILE *file;
  pthread_mutex_lock(&lock);
  if (!file && getenv("CALLS")) file = fopen(getenv("CALLS"), "w");
  if (file) fprintf(file, "%s %lu\n", what, number), fflush(file);
  pthread_mutex_unlock(&lock);
  return 0;
}

int hipInit(unsigned flags) { return flags; }
int hipRuntimeGetVersion(int *version) { return *version = getenv("OLD") ? 40321331 : 60240092, 0; }
const char *hipGetErrorString(int code) { return code == BAD_IMAGE ? "bad image" : "some words"; }
int hipGetDeviceCount(int *count) { return *count = 2, 0; }
static __thread int current;
int hipGetDevice(int *device) { return *device = current, 0; }
int hipSetDevice(int device) { return current = device, device < 0 || device > 1; }
int hipDeviceGetAttribute(int *value, int which, int device) { return *value = which == 63 ? getenv("SMALL") ? 1 : 2 : -1, device * 0; }
int hipDeviceTotalMem(word *bytes, int device) { return *bytes = 1ul << 40, device * 0; }
/* The structure of HIP 6. */
int hipGetDevicePropertiesR0600(char *properties, int device) {
  memset(properties, 0, 1472);
  strcpy(properties, "A GPU without a GPU");
  strcpy(properties + 1160, getenv("GPU") ? getenv("GPU") : "gfx90a:sramecc+:xnack-");
  return device * 0;
}

/* Memory that was handed out; copies must stay within one piece of it, of the current device. */
static struct { char *at; word bytes; int device; } blocks[4096];
static word used;
static int within(const char *at, word bytes) {
  pthread_mutex_lock(&lock);
  int is_within = 0;
  for (int i = 0; i < 4096; i++)
    is_within |= blocks[i].at && at >= blocks[i].at && at + bytes <= blocks[i].at + blocks[i].bytes
                 && blocks[i].device == current;
  pthread_mutex_unlock(&lock);
  return is_within;
}
static int taken(char *at, word bytes) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 4096; i++)
    if (!blocks[i].at) {
      blocks[i].at = at, blocks[i].bytes = bytes, blocks[i].device = current, used += bytes;
      break;
    }
  pthread_mutex_unlock(&lock);
  return 0;
}
int hipMalloc(char **at, word bytes) {
  if (getenv("MEMORY") && used + bytes > strtoul(getenv("MEMORY"), 0, 10)) return say("no memory", bytes), NO_MEMORY;
  *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(*at, 0xa5, bytes);
  return taken(*at, bytes), say("memory", bytes);
}
int hipMallocManaged(char **at, word bytes, unsigned flags) { return flags == 1 ? hipMalloc(at, bytes) : WRONG; }
int hipHostMalloc(char **at, word bytes, unsigned flags) {
  /* What Ferry passes small things through. */
  if (flags == 1) return *at = malloc(bytes), 0;
  return flags == 3 ? hipMalloc(at, bytes) : WRONG;
}
int hipFree(char *at) {
  pthread_mutex_lock(&lock);
  int code = WRONG;
  for (int i = 0; i < 4096; i++)
    if (blocks[i].at == at && blocks[i].device == current) used -= blocks[i].bytes, blocks[i].at = 0, code = 0;
  pthread_mutex_unlock(&lock);
  free(at);
  return code ? code : say("back", 0);
}
int hipHostFree(char *at) { return hipFree(at); }
int hipHostRegister(void *at, word bytes, unsigned flags) { return at && flags == 1 ? say("lock", bytes) : WRONG; }
int hipHostUnregister(void *at) { return at ? say("unlock", 0) : WRONG; }

/* Something to do: a copy, a fill, a kernel, or to do what another stream has to do up to some point. */
struct deed {
  enum { COPY, FILL, KERNEL, FOLLOW } what;
  char *to, *from;
  word bytes;
  struct stream *other;
  void (*run)(unsigned, unsigned, const word *);
  unsigned blocks, threads;
  const word *arguments;
};
struct stream {
  struct deed *deeds;
  word done, count, room;
};
struct event {
  struct stream *stream;
  word count;
};
static int crashed;
/* One after the other, as on a small GPU. */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static int put(struct stream *stream, struct deed deed) {
  pthread_mutex_lock(&busy);
  if (stream->count == stream->room)
    stream->deeds = realloc(stream->deeds, (stream->room = 2 * stream->room + 64) * sizeof deed);
  stream->deeds[stream->count++] = deed;
  pthread_mutex_unlock(&busy);
  return 0;
}
static void run(struct stream *stream, word count) {
  while (stream->done < count) {
    struct deed it = stream->deeds[stream->done++];
    switch (it.what) {
    case COPY: memmove(it.to, it.from, it.bytes); break;
    case FILL: memset(it.to, (int)(word)it.from, it.bytes); break;
    case KERNEL: if (it.run) it.run(it.blocks, it.threads, it.arguments); break;
    case FOLLOW: run(it.other, it.bytes); break;
    }
  }
}
int hipStreamCreateWithFlags(struct stream **stream, unsigned flags) {
  return *stream = calloc(1, sizeof **stream), flags == 1 ? say("stream", flags) : WRONG;
}
int hipEventCreateWithFlags(struct event **event, unsigned flags) {
  return *event = calloc(1, sizeof **event), flags == 2 ? 0 : WRONG;
}
int hipEventRecord(struct event *event, struct stream *stream) {
  pthread_mutex_lock(&busy);
  *event = (struct event){ stream, stream->count };
  pthread_mutex_unlock(&busy);
  return say("mark", 0);
}
int hipStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags) {
  return put(stream, (struct deed){ FOLLOW, 0, 0, event->count, event->stream }), say("follow", flags);
}
int hipStreamSynchronize(struct stream *stream) {
  if (!stream) return WRONG;
  pthread_mutex_lock(&busy);
  run(stream, stream->count);
  pthread_mutex_unlock(&busy);
  return crashed ? ILLEGAL_ADDRESS : say("wait", 0);
}
int hipDeviceSynchronize(void) { return crashed ? ILLEGAL_ADDRESS : 0; }

int hipMemcpyHtoDAsync(char *to, const char *from, word bytes, struct stream *stream) {
  if (!within(to, bytes) || !stream) return WRONG;
  return put(stream, (struct deed){ COPY, to, (char *)from, bytes }), say("in", bytes);
}
int hipMemcpyDtoHAsync(char *to, const char *from, word bytes, struct stream *stream) {
  if (!within(from, bytes) || !stream) return WRONG;
  return put(stream, (struct deed){ COPY, to, (char *)from, bytes }), say("out", bytes);
}
int hipMemcpyDtoDAsync(char *to, const char *from, word bytes, struct stream *stream) {
  int may = within(to, bytes) && within(from, bytes) && (to + bytes <= from || from + bytes <= to);
  if (!may || !stream) return WRONG;
  return put(stream, (struct deed){ COPY, to, (char *)from, bytes }), say("within", bytes);
}
int hipMemsetAsync(char *at, int byte, word bytes, struct stream *stream) {
  if (!within(at, bytes) || !stream) return WRONG;
  return put(stream, (struct deed){ FILL, at, (char *)(word)byte, bytes }), say("fill", bytes);
}

/* Code objects. */
struct module {
  const Elf64_Ehdr *head;
  word size;
};
struct kernel {
  char name[256];
  word threads, memory, arguments;
  void (*run)(unsigned, unsigned, const word *);
};
int hipModuleLoadData(struct module **module, const void *image) {
  const Elf64_Ehdr *head = image;
  if (memcmp(head, ELFMAG, SELFMAG) || head->e_machine != 224 || (word)image % 8) return BAD_IMAGE;
  *module = malloc(sizeof **module);
  **module = (struct module){ head, head->e_shoff + (word)head->e_shnum * head->e_shentsize };
  return say("load", head->e_flags & 0xff);
}
int hipModuleUnload(struct module *module) { return free(module), say("unload", 0); }

static const Elf64_Sym *symbol(struct module *module, const char *name) {
  const char *bytes = (const char *)module->head;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + module->head->e_shoff);
  for (int i = 0; i < module->head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const Elf64_Sym *all = (const Elf64_Sym *)(bytes + sections[i].sh_offset);
    const char *names = bytes + sections[sections[i].sh_link].sh_offset;
    for (word at = 0; at < sections[i].sh_size / sizeof *all; at++)
      if (!strcmp(names + all[at].st_name, name)) return &all[at];
  }
  return 0;
}

/* A number in MessagePack. */
static word number(const unsigned char *at) {
  return *at < 0x80 ? *at : *at == 0xcc ? at[1] : *at == 0xcd ? at[1] << 8 | at[2] : 0;
}
/* The last number of that name before a place. */
static word noted(const char *start, const char *end, const char *name) {
  word len = strlen(name), value = 0;
  for (const char *at = start; at + len < end; at++)
    if (!memcmp(at, name, len)) value = number((const unsigned char *)at + len);
  return value;
}

static void *of_host(const char *name) {
  static void *library;
  if (!library && getenv("KERNELS") && !(library = dlopen(getenv("KERNELS"), RTLD_NOW))) puts(dlerror()), abort();
  return library ? dlsym(library, name) : 0;
}
int hipModuleGetFunction(struct kernel **kernel, struct module *module, const char *name) {
  char text[300];
  snprintf(text, sizeof text, "%s.kd", name);
  if (!symbol(module, text)) return NOT_FOUND;
  struct kernel *it = *kernel = calloc(1, sizeof **kernel);
  strncpy(it->name, name, sizeof it->name - 1);
  /* In the notes keys are sorted, and this one comes after those that are asked for. */
  word len = strlen(name), head = len < 32 ? 1 : 2;
  char key[300] = ".name";
  if (head == 2) key[5] = (char)0xd9;
  key[4 + head] = head == 1 ? 0xa0 | len : len;
  memcpy(key + 5 + head, name, len);
  const char *start = (const char *)module->head, *note = memmem(start, module->size, key, 5 + head + len);
  if (!note) return BAD_IMAGE;
  it->threads = noted(start, note, ".max_flat_workgroup_size");
  it->memory = noted(start, note, ".group_segment_fixed_size");
  snprintf(text, sizeof text, "run_%s", name);
  it->run = of_host(text);
  return getenv("KERNELS") && !it->run ? NOT_FOUND : 0;
}
int hipModuleGetGlobal(char **at, word *size, struct module *module, const char *name) {
  const Elf64_Sym *found = symbol(module, name);
  if (!found) return NOT_FOUND;
  *size = found->st_size;
  *at = of_host(name);
  if (!*at) *at = calloc(1, *size);
  return taken(*at, *size);
}
int hipFuncGetAttribute(int *value, int which, struct kernel *kernel) {
  int threads = getenv("SMALL") && kernel->threads > 64 ? 64 : kernel->threads;
  return *value = which == 0 ? threads : which == 1 ? kernel->memory : -1, which > 1;
}
int hipModuleLaunchKernel(struct kernel *kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                          unsigned shared, struct stream *stream, void **arguments, void **extra) {
  if (y != 1 || z != 1 || b != 1 || c != 1 || shared || !stream || arguments || !x || !a) return WRONG;
  if (extra && (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3)) return WRONG;
  if (a > kernel->threads) return TOO_MANY;
  word count = extra ? *(word *)extra[3] / 8 : 0;
  say("gpu", current), say("blocks", x), say("threads", a), say("kernel", count);
  crashed = getenv("CRASH") != 0;
  word *words = memcpy(calloc(count + 1, 8), count ? extra[1] : "", 8 * count);
  return put(stream, (struct deed){ KERNEL, .run = kernel->run, .blocks = x, .threads = a, .arguments = words });
}
