/* As much of HIP as `ferry emit` uses, likewise. */
typedef enum { hipSuccess } hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef void *hipDeviceptr_t;
typedef enum { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 } hipMemcpyKind;
typedef enum { hipDeviceAttributeMultiprocessorCount = 63 } hipDeviceAttribute_t;
typedef enum {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
} hipFunction_attribute;
#define hipStreamNonBlocking 1
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)
const char *hipGetErrorString(hipError_t);
hipError_t hipInit(unsigned), hipSetDevice(int), hipDeviceGetAttribute(int *, hipDeviceAttribute_t, int);
hipError_t hipStreamCreateWithFlags(hipStream_t *, unsigned), hipStreamSynchronize(hipStream_t);
hipError_t hipMalloc(void **, __SIZE_TYPE__), hipFree(void *);
hipError_t hipMemcpyAsync(void *, const void *, __SIZE_TYPE__, hipMemcpyKind, hipStream_t);
hipError_t hipMemsetAsync(void *, int, __SIZE_TYPE__, hipStream_t), hipModuleLoadData(hipModule_t *, const void *);
hipError_t hipModuleGetGlobal(hipDeviceptr_t *, __SIZE_TYPE__ *, hipModule_t, const char *);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipFuncGetAttribute(int *, hipFunction_attribute, hipFunction_t);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 hipStream_t, void **, void **);
