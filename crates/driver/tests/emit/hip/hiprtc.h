/* As much of hipRTC as `ferry emit` uses, likewise. */
typedef enum { HIPRTC_SUCCESS } hiprtcResult;
typedef struct _hiprtcProgram *hiprtcProgram;
const char *hiprtcGetErrorString(hiprtcResult);
hiprtcResult hiprtcCreateProgram(hiprtcProgram *, const char *, const char *, int, const char **, const char **);
hiprtcResult hiprtcCompileProgram(hiprtcProgram, int, const char **), hiprtcDestroyProgram(hiprtcProgram *);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram, __SIZE_TYPE__ *), hiprtcGetProgramLog(hiprtcProgram, char *);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram, __SIZE_TYPE__ *), hiprtcGetCode(hiprtcProgram, char *);
