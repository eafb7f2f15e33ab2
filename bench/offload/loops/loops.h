/* One loop nest, compiled twice: LOOP is a region for a device with OFFLOADED, else the host's
   own parallel loop, which takes no maps. Both sides have the same text below it. */
#ifndef LOOPS_H
#define LOOPS_H

#include <stddef.h>

#define PRAGMA(text) _Pragma(#text)
#ifdef OFFLOADED
#define LOOP(...) PRAGMA(omp target teams distribute parallel for __VA_ARGS__)
#define DATA(...) PRAGMA(omp target data __VA_ARGS__)
#define RUN offloaded
#else
#define LOOP(...) PRAGMA(omp parallel for)
#define DATA(...)
#define RUN plain
#endif

/* Each file of loops defines these; the last two on the plain side only. */
void RUN(void *arrays);
void prepare(void *arrays);
extern const size_t bytes;

#endif
