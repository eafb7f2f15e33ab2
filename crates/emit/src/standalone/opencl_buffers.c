/* ---- Memory is a few buffers: every kernel is passed all of them, and an address is a place in one ---- */

#define MEMORIES 4
static struct { cl_mem handle; ferry_word base; ferry_size bytes; } memories[MEMORIES];
static int memory_count;
static cl_ulong memory_most;
/* Two words that kernels share: whether a buffer is elsewhere than it was, and their lock. */
static cl_mem shared_words;
/* What is handed out, in the order of addresses. */
static struct { ferry_word at; ferry_size bytes; } *blocks_used;
static int block_count, block_room;
/* Each buffer and its address, those words, and where the stacks of threads are. */
#define MEMORY_ARGUMENTS (2 * MEMORIES + 2)

static cl_mem new_buffer(ferry_size bytes, cl_int *code) {
  return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, 0, code);
}

static void open_memory(void) {
  cl_ulong zeros[2] = { 0, 0 };
  cl_int code;
  clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof memory_most, &memory_most, 0);
  queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "making a queue");
  shared_words = new_buffer(sizeof zeros, &code);
  check(code, "asking for memory");
  check(clEnqueueWriteBuffer(queue, shared_words, CL_TRUE, 0, sizeof zeros, zeros, 0, 0, 0), "clearing memory");
}

/* Where kernels see a buffer. */
static ferry_word address_of(cl_mem buffer) {
  const char *text = "__kernel void where(__global char *m, __global ulong *at) { *at = (ulong)m; }";
  size_t one = 1;
  cl_ulong at = 0;
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &text, 0, &code);
  check(code, "asking where memory is");
  check(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", 0, 0), "asking where memory is");
  cl_kernel kernel = clCreateKernel(program, "where", &code);
  check(code, "asking where memory is");
  cl_mem answer = new_buffer(sizeof at, &code);
  check(code, "asking for memory");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "passing an argument");
  check(clSetKernelArg(kernel, 1, sizeof answer, &answer), "passing an argument");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &one, &one, 0, 0, 0), "asking where memory is");
  check(clEnqueueReadBuffer(queue, answer, CL_TRUE, 0, sizeof at, &at, 0, 0, 0), "asking where memory is");
  clReleaseMemObject(answer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  return at;
}

/* One more buffer, of 256 MiB, 1 GiB, 4 GiB or as large as can be, with room for so much. */
static int add_memory(ferry_size bytes) {
  ferry_size size = memory_count + 1 < MEMORIES ? (ferry_size)1 << (28 + 2 * memory_count) : memory_most;
  cl_int code = CL_SUCCESS;
  if (memory_count == MEMORIES || bytes > memory_most) return 0;
  if (size > memory_most) size = memory_most;
  if (size < bytes) size = bytes;
  cl_mem handle = new_buffer(size, &code);
  while (code != CL_SUCCESS && size > bytes) {
    size = size / 2 < bytes ? bytes : size / 2;
    handle = new_buffer(size, &code);
  }
  if (code != CL_SUCCESS) return 0;
  memories[memory_count].handle = handle;
  memories[memory_count].base = address_of(handle);
  memories[memory_count++].bytes = size;
  return 1;
}

/* The first gap between blocks of a buffer that is large enough. */
static ferry_word device_alloc(ferry_size bytes) {
  bytes = (bytes + 255) / 256 * 256 + (bytes == 0 ? 256 : 0);
  for (int m = 0; m < memory_count || add_memory(bytes); m++) {
    ferry_word at = memories[m].base, end = at + memories[m].bytes;
    int i = 0;
    for (; i < block_count && blocks_used[i].at < end; i++) {
      if (blocks_used[i].at < at) continue;
      if (blocks_used[i].at - at >= bytes) break;
      at = blocks_used[i].at + blocks_used[i].bytes;
    }
    if (end - at < bytes) continue;
    blocks_used = grown(blocks_used, block_count, &block_room, sizeof *blocks_used);
    for (i = block_count++; i > 0 && blocks_used[i - 1].at > at; i--) blocks_used[i] = blocks_used[i - 1];
    blocks_used[i].at = at;
    blocks_used[i].bytes = bytes;
    return at;
  }
  return 0;
}

static void device_free(ferry_word at) {
  for (int i = 0; i < block_count; i++)
    if (blocks_used[i].at == at) {
      for (block_count--; i < block_count; i++) blocks_used[i] = blocks_used[i + 1];
      return;
    }
}

static int is_of_device(ferry_word at) {
  for (int i = 0; i < block_count; i++)
    if (at - blocks_used[i].at < blocks_used[i].bytes) return 1;
  return 0;
}

/* The buffer that an address is in, and where in it. */
static cl_mem memory_of(ferry_word at, size_t *offset) {
  for (int m = 0; m < memory_count; m++)
    if (at - memories[m].base < memories[m].bytes) {
      *offset = at - memories[m].base;
      return memories[m].handle;
    }
  fail("an address is not one of the device");
  return 0;
}

static void device_write(ferry_word to, const void *from, ferry_size bytes) {
  size_t at;
  cl_mem memory = memory_of(to, &at);
  check(clEnqueueWriteBuffer(queue, memory, CL_TRUE, at, bytes, from, 0, 0, 0), "copying to the device");
}

static void device_read(void *to, ferry_word from, ferry_size bytes) {
  size_t at;
  cl_mem memory = memory_of(from, &at);
  check(clEnqueueReadBuffer(queue, memory, CL_TRUE, at, bytes, to, 0, 0, 0), "copying from the device");
}

static void device_clear(ferry_word to, ferry_size bytes) {
  char zero = 0;
  size_t at;
  cl_mem memory = memory_of(to, &at);
  check(clEnqueueFillBuffer(queue, memory, &zero, 1, at, bytes, 0, 0, 0), "clearing memory");
}

/* Bytes of the stack of a thread, as the kernels say. */
static ferry_size stack_bytes(const struct ferry_module *module) {
  static const char word[] = "#define __FERRY_STACK ";
  const char *found = strstr(module->text, word);
  return found ? strtoul(found + sizeof word - 1, 0, 10) : 0;
}

static void pass_memory(struct ferry_kernel *kernel, cl_uint at, size_t threads) {
  static ferry_word stacks;
  static ferry_size stacks_bytes;
  ferry_size bytes = stack_bytes(kernel->module) * threads + 256;
  if (bytes > stacks_bytes) {
    if (stacks) device_free(stacks);
    stacks = device_alloc(bytes);
    if (!stacks) fail("no memory on the device for stacks");
    stacks_bytes = bytes;
  }
  for (int m = 0; m < MEMORIES; m++) {
    int one = m < memory_count ? m : 0;
    cl_ulong base = memories[one].base;
    check(clSetKernelArg(kernel->handle, at++, sizeof(cl_mem), &memories[one].handle), "passing memory");
    check(clSetKernelArg(kernel->handle, at++, sizeof base, &base), "passing memory");
  }
  cl_ulong word = stacks;
  check(clSetKernelArg(kernel->handle, at++, sizeof(cl_mem), &shared_words), "passing memory");
  check(clSetKernelArg(kernel->handle, at, sizeof word, &word), "passing memory");
}

static void check_fault(cl_ulong fault);
static void check_memory(void) {
  cl_ulong moved = 0;
  check(clEnqueueReadBuffer(queue, shared_words, CL_TRUE, 0, sizeof moved, &moved, 0, 0, 0), "looking at memory");
  check_fault(moved);
  if (moved) fail("OpenCL: the driver moves memory between kernels, so pointers in data lead nowhere");
}
