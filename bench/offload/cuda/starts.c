/* What the driver takes to start 64 small kernels, in several ways; by hand, without Ferry.
   gcc -O2 -I/usr/local/cuda/include starts.c -o starts -lcuda && ./starts */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KERNELS = 64, NUMBERS = 1024, TIMES = 201 };

static const char *const assembly =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry one_more(.param .u64 at)\n{\n"
    "  .reg .b32 %r<6>;\n  .reg .b64 %d<4>;\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  ld.param.u64 %d1, [at];\n  cvta.to.global.u64 %d1, %d1;\n"
    "  mul.wide.s32 %d2, %r4, 4;\n  add.s64 %d3, %d1, %d2;\n"
    "  ld.global.u32 %r5, [%d3];\n  add.s32 %r5, %r5, 1;\n  st.global.u32 [%d3], %r5;\n  ret;\n}\n";

static CUfunction kernel;
static CUdeviceptr memory;
static CUstream streams[16];
static CUevent events[16];
static CUgraphExec graph;
static CUgraphNode nodes[KERNELS];

static void check(CUresult code, const char *what)
{
  const char *words = "";
  if (code == CUDA_SUCCESS) return;
  cuGetErrorString(code, &words);
  fprintf(stderr, "%s: %s\n", what, words);
  exit(1);
}
#define CHECK(call) check(call, #call)

static double microseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static CUDA_KERNEL_NODE_PARAMS node(void **arguments)
{
  CUDA_KERNEL_NODE_PARAMS it = { .func = kernel, .gridDimX = NUMBERS / 128, .gridDimY = 1, .gridDimZ = 1,
                                 .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1, .kernelParams = arguments };
  return it;
}

/* A graph of all kernels, of which so many may run at once. */
static void make_graph(int at_once)
{
  CUgraph made;
  CHECK(cuGraphCreate(&made, 0));
  for (int k = 0; k < KERNELS; k++) {
    CUdeviceptr at = memory + k * NUMBERS * 4;
    CUDA_KERNEL_NODE_PARAMS it = node((void *[]){ &at });
    const int is_behind = k >= at_once;
    CHECK(cuGraphAddKernelNode(&nodes[k], made, is_behind ? &nodes[k - at_once] : 0, is_behind, &it));
  }
  CHECK(cuGraphInstantiate(&graph, made, 0));
}

static void start_each(int count)
{
  for (int k = 0; k < KERNELS; k++) {
    CUdeviceptr at = memory + k * NUMBERS * 4;
    void *arguments[] = { &at };
    CHECK(cuLaunchKernel(kernel, NUMBERS / 128, 1, 1, 128, 1, 1, 0, streams[k % count], arguments, 0));
  }
  for (int i = 1; i < count; i++) {
    CHECK(cuEventRecord(events[i], streams[i]));
    CHECK(cuStreamWaitEvent(streams[0], events[i], 0));
  }
}

static void start_graph(int unused)
{
  (void)unused;
  for (int k = 0; k < KERNELS; k++) {
    CUdeviceptr at = memory + k * NUMBERS * 4;
    CUDA_KERNEL_NODE_PARAMS it = node((void *[]){ &at });
    CHECK(cuGraphExecKernelNodeSetParams(graph, nodes[k], &it));
  }
  CHECK(cuGraphLaunch(graph, streams[0]));
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *what, void (*start)(int), int count)
{
  double times[TIMES];
  for (int i = 0; i < TIMES; i++) {
    const double begin = microseconds();
    start(count);
    CHECK(cuStreamSynchronize(streams[0]));
    times[i] = microseconds() - begin;
  }
  qsort(times, TIMES, sizeof *times, compare);
  printf("%-24s %6.2f us for each kernel\n", what, times[TIMES / 2] / KERNELS);
}

int main(void)
{
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, assembly));
  CHECK(cuModuleGetFunction(&kernel, module, "one_more"));
  CHECK(cuMemAlloc(&memory, KERNELS * NUMBERS * 4));
  CHECK(cuMemsetD8(memory, 0, KERNELS * NUMBERS * 4));
  for (int i = 0; i < 16; i++) {
    CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
  }
  measure("one stream", start_each, 1);
  measure("four streams", start_each, 4);
  measure("sixteen streams", start_each, 16);
  const int at_once[] = { 1, 4, 16 };
  for (int i = 0; i < 3; i++) {
    char what[64];
    snprintf(what, sizeof what, "a graph, %d at once", at_once[i]);
    make_graph(at_once[i]);
    measure(what, start_graph, 0);
  }
  return 0;
}
