/* As much of CUDA's driver API as `ferry emit` uses, for tests on machines without its headers. */
typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
enum { CUDA_SUCCESS = 0, CU_STREAM_NON_BLOCKING = 1 };
typedef enum {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
} CUdevice_attribute;
typedef enum {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
} CUfunction_attribute;
typedef enum { CU_JIT_MAX_REGISTERS } CUjit_option;
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
CUresult cuInit(unsigned), cuGetErrorString(CUresult, const char **), cuDeviceGet(CUdevice *, int);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuCtxSetCurrent(CUcontext);
CUresult cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamSynchronize(CUstream);
CUresult cuMemAlloc(CUdeviceptr *, __SIZE_TYPE__), cuMemFree(CUdeviceptr);
CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void *, __SIZE_TYPE__, CUstream);
CUresult cuMemcpyDtoHAsync(void *, CUdeviceptr, __SIZE_TYPE__, CUstream);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, __SIZE_TYPE__, CUstream);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, CUjit_option *, void **);
CUresult cuModuleGetGlobal(CUdeviceptr *, __SIZE_TYPE__ *, CUmodule, const char *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncGetAttribute(int *, CUfunction_attribute, CUfunction);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
