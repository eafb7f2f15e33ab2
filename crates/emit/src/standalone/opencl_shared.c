/* ---- Memory is shared virtual memory, so that pointers in data can be followed ---- */

/* What kernels may reach through pointers in data. */
static void **blocks_used;
static ferry_size *block_sizes;
static int block_count, block_room, size_room;
#define MEMORY_ARGUMENTS 0

static void open_memory(void) {
  cl_device_svm_capabilities memory = 0;
  cl_int code;
  clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof memory, &memory, 0);
  if (!(memory & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
    fail("the OpenCL device has no shared virtual memory: write the program with `--dialect opencl:1.2`");
  queue = clCreateCommandQueueWithProperties(context, device, 0, &code);
  check(code, "making a queue");
}

static ferry_word device_alloc(ferry_size bytes) {
  void *at = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  if (!at) return 0;
  blocks_used = grown(blocks_used, block_count, &block_room, sizeof *blocks_used);
  block_sizes = grown(block_sizes, block_count, &size_room, sizeof *block_sizes);
  blocks_used[block_count] = at;
  block_sizes[block_count++] = bytes;
  return (ferry_word)at;
}

static void device_free(ferry_word at) {
  for (int i = 0; i < block_count; i++)
    if ((ferry_word)blocks_used[i] == at) {
      blocks_used[i] = blocks_used[--block_count];
      block_sizes[i] = block_sizes[block_count];
      clSVMFree(context, (void *)at);
      return;
    }
}

static int is_of_device(ferry_word at) {
  for (int i = 0; i < block_count; i++)
    if (at - (ferry_word)blocks_used[i] < block_sizes[i]) return 1;
  return 0;
}

static void device_write(ferry_word to, const void *from, ferry_size bytes) {
  check(clEnqueueSVMMemcpy(queue, CL_TRUE, (void *)to, from, bytes, 0, 0, 0), "copying to the device");
}

static void device_read(void *to, ferry_word from, ferry_size bytes) {
  check(clEnqueueSVMMemcpy(queue, CL_TRUE, to, (void *)from, bytes, 0, 0, 0), "copying from the device");
}

static void device_clear(ferry_word at, ferry_size bytes) {
  char zero = 0;
  check(clEnqueueSVMMemFill(queue, (void *)at, &zero, 1, bytes, 0, 0, 0), "clearing memory");
}

static void pass_memory(struct ferry_kernel *kernel, cl_uint at, size_t threads) {
  (void)at, (void)threads;
  if (block_count > 0)
    check(clSetKernelExecInfo(kernel->handle, CL_KERNEL_EXEC_INFO_SVM_PTRS, block_count * sizeof *blocks_used,
                              blocks_used), "naming memory");
}

static void check_memory(void) {}
