/* As much of NVRTC as `ferry emit` uses, likewise. */
typedef enum { NVRTC_SUCCESS } nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
const char *nvrtcGetErrorString(nvrtcResult);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *, const char *, const char *, int, const char *const *,
                               const char *const *);
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char *const *), nvrtcDestroyProgram(nvrtcProgram *);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, __SIZE_TYPE__ *), nvrtcGetProgramLog(nvrtcProgram, char *);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, __SIZE_TYPE__ *), nvrtcGetCUBIN(nvrtcProgram, char *);
