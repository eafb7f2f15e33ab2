/* Data and kernels of programs that `ferry emit` has written, on a device of OpenCL @VERSION@ or later.
   Compile it once and link it with them: cc program.c ferry_host.c -lOpenCL */
#define CL_TARGET_OPENCL_VERSION @TARGET@
#include <CL/cl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ferry_host.h"

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_uint device_units;
static int is_processor;
#define DEVICE_THREADS 128

static void fail(const char *format, ...);
static void *grown(void *list, int count, int *room, ferry_size size);

static void check(cl_int code, const char *what) {
  if (code != CL_SUCCESS) fail("OpenCL: %s: error %d", what, code);
}

@MEMORY@

/* ---- The device ---- */

/* The first device that is no processor, or else the first. */
static void open_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  cl_int code;
  /* PoCL 3.1 loses stores when it vectorises over the work-items of a group. */
  setenv("POCL_WORK_GROUP_METHOD", "workitemloops", 0);
  clGetPlatformIDs(16, platforms, &count);
  for (int round = 0; round < 2 && !device; round++)
    for (cl_uint i = 0; i < count && i < 16 && !device; i++)
      clGetDeviceIDs(platforms[i], round ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, 1,
                     &device, 0);
  if (!device) fail("there is no OpenCL device here");
  cl_device_type type = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, 0);
  clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof device_units, &device_units, 0);
  is_processor = (type & CL_DEVICE_TYPE_CPU) != 0;
  context = clCreateContext(0, 1, &device, 0, 0, &code);
  check(code, "making a context");
  open_memory();
}

/* What a thread does first. */
static void use_device(void) {}

static void device_wait(void) { check(clFinish(queue), "waiting"); }

/* ---- Kernels: the driver compiles their text ---- */

static void find_kernel(struct ferry_kernel *kernel) {
  size_t size[3] = { 0, 0, 0 }, most = 1;
  cl_int code;
  kernel->handle = clCreateKernel(kernel->module->handle, kernel->name, &code);
  if (code != CL_SUCCESS) fail("OpenCL: kernel `%s`: error %d", kernel->name, code);
  clGetKernelWorkGroupInfo(kernel->handle, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, 0);
  clGetKernelWorkGroupInfo(kernel->handle, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, 0);
  kernel->most = size[0] > 0 ? (int)size[0] : (int)most;
  kernel->is_fixed = size[0] > 0;
}

/* What a kernel found wrong with itself ends the program. */
static void check_fault(cl_ulong fault) {
  static const char *const why[] = { "it has no memory left for an array whose length is computed", "abort() was called",
                                     "an assertion failed", "an `error` directive was reached" };
  if (fault >= 3 && fault < 7) fail("the kernel crashed: %s", why[fault - 3]);
}

static void device_run(struct ferry_kernel *kernel, ferry_word *arguments, int count, unsigned blocks,
                       unsigned threads) {
  static ferry_word parts;
  static ferry_size parts_bytes;
  size_t all = (size_t)blocks * threads, group = threads;
  cl_uint wanted = 0;
  /* A thread of a processor is a group, and takes iterations that follow each other. */
  if (is_processor && threads > 1 && !kernel->is_fixed) {
    group = 1;
    if (all > (size_t)device_units * 16) all = (size_t)device_units * 16;
  }
  /* The place of the file's variables comes last. */
  if (kernel->module->memory) arguments[count++] = (ferry_word)kernel->module->memory;
  for (int i = 0; i < count; i++) {
    cl_ulong word = arguments[i];
    check(clSetKernelArg(kernel->handle, i, sizeof word, &word), "passing an argument");
  }
  /* Kernels with sums take more: for each a word that counts groups, 0 at first, and one for each group. */
  check(clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof wanted, &wanted, 0), "asking for arguments");
  wanted -= MEMORY_ARGUMENTS;
  ferry_size each = (all / group + 1) * 8, bytes = (int)wanted > count ? each * ((int)wanted - count) : 0;
  if (bytes > parts_bytes) {
    if (parts) device_free(parts);
    parts = device_alloc(bytes);
    if (!parts) fail("no memory on the device for sums");
    parts_bytes = bytes;
  }
  if (bytes > 0) device_clear(parts, bytes);
  for (int i = count; i < (int)wanted; i++) {
    cl_ulong word = parts + each * (i - count);
    check(clSetKernelArg(kernel->handle, i, sizeof word, &word), "passing an argument");
  }
  pass_memory(kernel, wanted, all);
  check(clEnqueueNDRangeKernel(queue, kernel->handle, 1, 0, &all, &group, 0, 0, 0), "running a kernel");
  device_wait();
  check_memory();
  if (kernel->module->fault) {
    cl_ulong fault = 0;
    device_read(&fault, kernel->module->fault, sizeof fault);
    check_fault(fault);
  }
}

/* A kernel that tells something of the variables of a file: two words. */
static ferry_word asked(struct ferry_module *module, const char *name) {
  struct ferry_kernel kernel = { module, name, 0, 0, 0, 0 };
  ferry_word arguments[2], answer[2] = { 0, 0 };
  find_kernel(&kernel);
  arguments[0] = device_alloc(sizeof answer);
  if (!arguments[0]) fail("no memory on the device");
  ferry_word at = arguments[0];
  device_run(&kernel, arguments, 1, 1, 1);
  device_read(answer, at, sizeof answer);
  device_free(at);
  clReleaseKernel(kernel.handle);
  return answer[0];
}

static ferry_word variable_at(struct ferry_module *module, const char *name) {
  char question[strlen(name) + sizeof "ferry_at_"];
  sprintf(question, "ferry_at_%s", name);
  return asked(module, question);
}

static void load_module(struct ferry_module *module) {
  size_t bytes = module->end - module->text, said = 0;
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &module->text, &bytes, &code);
  check(code, "reading kernels");
  const char *options = is_processor ? "-cl-std=CL@VERSION@ -w -D__FERRY_ONE_MEMORY" : "-cl-std=CL@VERSION@ -w";
  code = clBuildProgram(program, 1, &device, options, 0, 0);
  if (code != CL_SUCCESS) {
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, 0, &said);
    char *log = calloc(said + 1, 1);
    if (log) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, said, log, 0);
    fail("OpenCL: compiling kernels: error %d\n%s", code, log ? log : "");
  }
  module->handle = program;
  /* Variables lie in one block of memory, which every kernel is told of. */
  cl_kernel size = clCreateKernel(program, "ferry_vars_size", &code);
  if (code != CL_SUCCESS) return;
  clReleaseKernel(size);
  module->memory = (void *)1;
  module->memory = (void *)device_alloc(asked(module, "ferry_vars_size"));
  if (!module->memory) fail("no memory on the device for variables");
  struct ferry_kernel first = { module, "ferry_vars_init", 0, 0, 0, 0 };
  ferry_word arguments[2] = { 0, 0 };
  find_kernel(&first);
  device_run(&first, arguments, 1, 1, 1);
  cl_kernel fault = clCreateKernel(program, "ferry_at_ferry_fault", &code);
  if (code != CL_SUCCESS) return;
  clReleaseKernel(fault);
  module->fault = variable_at(module, "ferry_fault");
}

@TABLE@
