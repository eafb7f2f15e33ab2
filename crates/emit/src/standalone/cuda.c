/* Data and kernels of programs that `ferry emit` has written, on an NVIDIA GPU.
   Compile it once and link it with them: cc program.c ferry_host.c -I$CUDA/include -lcuda -lnvrtc */
#include <cuda.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ferry_host.h"

/* ---- The GPU: everything is done in one stream, and waited for when a call ends ---- */

static CUcontext context;
static CUstream stream;
static int device_units, generation;
#define DEVICE_THREADS 256

static void fail(const char *format, ...);

static void check(CUresult code, const char *what) {
  const char *words = "";
  if (code == CUDA_SUCCESS) return;
  cuGetErrorString(code, &words);
  fail("CUDA: %s: %s (%d)", what, words, code);
}

/* What a thread does first: each has a context of its own choice. */
static void use_device(void) { check(cuCtxSetCurrent(context), "using the GPU"); }

static void open_device(void) {
  CUdevice device;
  int major = 0, minor = 0;
  check(cuInit(0), "starting the driver");
  check(cuDeviceGet(&device, 0), "looking for a GPU");
  check(cuDevicePrimaryCtxRetain(&context, device), "opening the GPU");
  use_device();
  cuDeviceGetAttribute(&device_units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  generation = 10 * major + minor;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
}

/* Memory that was given back, for who next asks for as much: the driver takes long. */
struct spare {
  CUdeviceptr at;
  ferry_size bytes;
  int is_free;
};
static struct spare *spares;
static int spare_count, spare_room;
static void *grown(void *list, int count, int *room, ferry_size size);

static ferry_word device_alloc(ferry_size bytes) {
  CUdeviceptr at = 0;
  bytes = (bytes + 255) / 256 * 256;
  for (int i = 0; i < spare_count; i++)
    if (spares[i].is_free && spares[i].bytes == bytes) return spares[i].is_free = 0, spares[i].at;
  if (cuMemAlloc(&at, bytes) != CUDA_SUCCESS) {
    int kept = 0;
    for (int i = 0; i < spare_count; i++)
      if (spares[i].is_free) cuMemFree(spares[i].at);
      else spares[kept++] = spares[i];
    spare_count = kept;
    if (cuMemAlloc(&at, bytes) != CUDA_SUCCESS) return 0;
  }
  spares = grown(spares, spare_count, &spare_room, sizeof *spares);
  spares[spare_count++] = (struct spare){ at, bytes, 0 };
  return at;
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
  check(cuMemcpyHtoDAsync(to, from, bytes, stream), "copying to the GPU");
}

static void device_read(void *to, ferry_word from, ferry_size bytes) {
  check(cuMemcpyDtoHAsync(to, from, bytes, stream), "copying from the GPU");
}

static void device_clear(ferry_word at, ferry_size bytes) {
  check(cuMemsetD8Async(at, 0, bytes, stream), "clearing memory");
}

static void device_wait(void) { check(cuStreamSynchronize(stream), "running kernels"); }

/* ---- Kernels: a text that NVRTC compiles for this GPU, or what nvcc has made of it ---- */

static void load_module(struct ferry_module *module) {
  CUmodule handle;
  const char *image = module->text;
  char *code = 0, arch[64];
  if (!strncmp(module->text, "//", 2)) {
    nvrtcProgram program;
    /* A text that wants every operation rounded says so. */
    const char *each = strstr(module->text, "// compile with --fmad=false\n");
    const char *options[] = { "--std=c++20", "-w", "--device-int128", arch, "--fmad=false" };
    size_t bytes = 0, said = 0;
    sprintf(arch, "--gpu-architecture=sm_%d", generation);
    if (nvrtcCreateProgram(&program, module->text, "kernels.cu", 0, 0, 0)) fail("NVRTC: reading kernels");
    nvrtcResult done = nvrtcCompileProgram(program, each ? 5 : 4, options);
    if (done != NVRTC_SUCCESS) {
      nvrtcGetProgramLogSize(program, &said);
      char *log = calloc(said + 1, 1);
      if (log) nvrtcGetProgramLog(program, log);
      fail("NVRTC: compiling kernels: %s\n%s", nvrtcGetErrorString(done), log ? log : "");
    }
    nvrtcGetCUBINSize(program, &bytes);
    code = malloc(bytes + 1);
    if (!code || nvrtcGetCUBIN(program, code)) fail("NVRTC: compiling kernels");
    nvrtcDestroyProgram(&program);
    image = code;
  }
  check(cuModuleLoadDataEx(&handle, image, 0, 0, 0), "loading kernels");
  module->handle = handle;
  free(code);
}

static ferry_word variable_at(struct ferry_module *module, const char *name) {
  CUdeviceptr at = 0;
  size_t bytes = 0;
  check(cuModuleGetGlobal(&at, &bytes, module->handle, name), name);
  return at;
}

static void find_kernel(struct ferry_kernel *kernel) {
  CUfunction handle;
  int most = 1, memory = 0;
  check(cuModuleGetFunction(&handle, kernel->module->handle, kernel->name), kernel->name);
  cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle);
  cuFuncGetAttribute(&memory, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle);
  kernel->handle = handle, kernel->most = most, kernel->has_memory = memory > 0;
}

static void device_run(struct ferry_kernel *kernel, ferry_word *arguments, int count, unsigned blocks,
                       unsigned threads) {
  size_t bytes = count * sizeof *arguments;
  void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    CU_LAUNCH_PARAM_END };
  check(cuLaunchKernel(kernel->handle, blocks, 1, 1, threads, 1, 1, 0, stream, 0, count ? extra : 0),
        "running a kernel");
}

@TABLE@
