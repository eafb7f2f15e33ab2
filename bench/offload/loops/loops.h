/* One kernel, compiled for each side: LOOP is a parallel loop and ONE a statement on one thread. With
   SERIAL they are nothing, with PLAIN the host's own parallel loop, which takes no data clauses, else
   regions for a device, in OpenMP's words or in OpenACC's. All sides have the same text below them. */
#ifndef LOOPS_H
#define LOOPS_H

#include <stddef.h>

#define PRAGMA(text) _Pragma(#text)
#if defined SERIAL
#define LOOP(...)
#define ONE(...)
#define DATA(...)
#define RUN serial
#elif defined PLAIN
#define LOOP(...) PRAGMA(omp parallel for)
#define ONE(...)
#define DATA(...)
#define RUN plain
#elif defined OPENMP
#define LOOP(...) PRAGMA(omp target teams distribute parallel for __VA_ARGS__)
#define ONE(...) PRAGMA(omp target __VA_ARGS__)
#define DATA(...) PRAGMA(omp target data __VA_ARGS__)
#define IN(...) map(to : __VA_ARGS__)
#define OUT(...) map(from : __VA_ARGS__)
#define INOUT(...) map(tofrom : __VA_ARGS__)
#define LOCAL(...) map(alloc : __VA_ARGS__)
#define RUN openmp
#else
#define LOOP(...) PRAGMA(acc parallel loop __VA_ARGS__)
#define ONE(...) PRAGMA(acc serial __VA_ARGS__)
#define DATA(...) PRAGMA(acc data __VA_ARGS__)
#define IN(...) copyin(__VA_ARGS__)
#define OUT(...) copyout(__VA_ARGS__)
#define INOUT(...) copy(__VA_ARGS__)
#define LOCAL(...) create(__VA_ARGS__)
#define RUN openacc
#endif

/* Each kernel defines these; the last two on the serial side only. */
void RUN(void *arrays);
void prepare(void *arrays);
extern const size_t bytes;

#endif
