/* Data and kernels of programs that `ferry emit` has written, on a GPU of AMD.
   Compile it once and link it with them: cc -D__HIP_PLATFORM_AMD__ program.c ferry_host.c -lamdhip64 -lhiprtc */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ferry_host.h"

/* ---- The GPU: everything is done in one stream, and waited for when a call ends ---- */

static hipStream_t stream;
static int device_units;
#define DEVICE_THREADS 256

static void fail(const char *format, ...);

static void check(hipError_t code, const char *what) {
  if (code != hipSuccess) fail("HIP: %s: %s", what, hipGetErrorString(code));
}

/* What a thread does first: each has a GPU of its own choice. */
static void use_device(void) { check(hipSetDevice(0), "using the GPU"); }

static void open_device(void) {
  check(hipInit(0), "starting the driver");
  use_device();
  check(hipDeviceGetAttribute(&device_units, hipDeviceAttributeMultiprocessorCount, 0), "asking the GPU");
  check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "making a stream");
}

/* Memory that was given back, for who next asks for as much: the driver takes long. */
struct spare {
  ferry_word at;
  ferry_size bytes;
  int is_free;
};
static struct spare *spares;
static int spare_count, spare_room;
static void *grown(void *list, int count, int *room, ferry_size size);

static ferry_word device_alloc(ferry_size bytes) {
  void *at = 0;
  bytes = (bytes + 255) / 256 * 256;
  for (int i = 0; i < spare_count; i++)
    if (spares[i].is_free && spares[i].bytes == bytes) return spares[i].is_free = 0, spares[i].at;
  if (hipMalloc(&at, bytes) != hipSuccess) {
    int kept = 0;
    for (int i = 0; i < spare_count; i++)
      if (spares[i].is_free) hipFree((void *)spares[i].at);
      else spares[kept++] = spares[i];
    spare_count = kept;
    if (hipMalloc(&at, bytes) != hipSuccess) return 0;
  }
  spares = grown(spares, spare_count, &spare_room, sizeof *spares);
  spares[spare_count++] = (struct spare){ (ferry_word)at, bytes, 0 };
  return (ferry_word)at;
}

static void device_free(ferry_word at) {
  for (int i = 0; i < spare_count; i++)
    if (spares[i].at == at) spares[i].is_free = 1;
}

static int is_of_device(ferry_word at) {
  for (int i = 0; i < spare_count; i++)
    if (at - spares[i].at < spares[i].bytes) return 1;
  return 0;
}

static void device_write(ferry_word to, const void *from, ferry_size bytes) {
  check(hipMemcpyAsync((void *)to, from, bytes, hipMemcpyHostToDevice, stream), "copying to the GPU");
}

static void device_read(void *to, ferry_word from, ferry_size bytes) {
  check(hipMemcpyAsync(to, (void *)from, bytes, hipMemcpyDeviceToHost, stream), "copying from the GPU");
}

static void device_clear(ferry_word at, ferry_size bytes) {
  check(hipMemsetAsync((void *)at, 0, bytes, stream), "clearing memory");
}

static void device_wait(void) { check(hipStreamSynchronize(stream), "running kernels"); }

/* ---- Kernels: a text that hipRTC compiles for this GPU, or what hipcc has made of it ---- */

static void load_module(struct ferry_module *module) {
  hipModule_t handle;
  const char *image = module->text;
  char *code = 0;
  if (!strncmp(module->text, "//", 2)) {
    hiprtcProgram program;
    const char *options[] = { "-std=c++20", "-w" };
    size_t bytes = 0, said = 0;
    if (hiprtcCreateProgram(&program, module->text, "kernels.hip", 0, 0, 0)) fail("hipRTC: reading kernels");
    hiprtcResult done = hiprtcCompileProgram(program, 2, options);
    if (done != HIPRTC_SUCCESS) {
      hiprtcGetProgramLogSize(program, &said);
      char *log = calloc(said + 1, 1);
      if (log) hiprtcGetProgramLog(program, log);
      fail("hipRTC: compiling kernels: %s\n%s", hiprtcGetErrorString(done), log ? log : "");
    }
    hiprtcGetCodeSize(program, &bytes);
    code = malloc(bytes + 1);
    if (!code || hiprtcGetCode(program, code)) fail("hipRTC: compiling kernels");
    hiprtcDestroyProgram(&program);
    image = code;
  }
  check(hipModuleLoadData(&handle, image), "loading kernels");
  module->handle = handle;
  free(code);
}

static ferry_word variable_at(struct ferry_module *module, const char *name) {
  hipDeviceptr_t at = 0;
  size_t bytes = 0;
  check(hipModuleGetGlobal(&at, &bytes, module->handle, name), name);
  return (ferry_word)at;
}

static void find_kernel(struct ferry_kernel *kernel) {
  hipFunction_t handle;
  int most = 1, memory = 0;
  check(hipModuleGetFunction(&handle, kernel->module->handle, kernel->name), kernel->name);
  check(hipFuncGetAttribute(&most, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle), kernel->name);
  check(hipFuncGetAttribute(&memory, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle), kernel->name);
  kernel->handle = handle, kernel->most = most, kernel->has_memory = memory > 0;
}

static void device_run(struct ferry_kernel *kernel, ferry_word *arguments, int count, unsigned blocks,
                       unsigned threads) {
  size_t bytes = count * sizeof *arguments;
  void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    HIP_LAUNCH_PARAM_END };
  check(hipModuleLaunchKernel(kernel->handle, blocks, 1, 1, threads, 1, 1, 0, stream, 0, count ? extra : 0),
        "running a kernel");
}

@TABLE@
