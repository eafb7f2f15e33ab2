/* Memory by kind: variables of `#pragma omp memkind`, and where memory lies. */
#ifndef FERRY_MEMORY_H
#define FERRY_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where memory lies, as the kernel tells it. */
typedef struct ferry_where {
  int node;         /* the node of most pages; -1 if none has come */
  int tier;         /* its memory tier; -1 if the kernel tells none */
  size_t present;   /* pages that have come ... */
  size_t pages;     /* ... of so many */
  size_t page_size; /* bytes of a page */
  size_t huge;      /* bytes of the mapping on huge pages */
  int is_locked;    /* whether the kernel keeps the pages in memory */
  int nodes;        /* how many nodes have pages */
} ferry_where;

/* Asks the kernel where memory lies. 0, or -1 with a message. */
extern int ferry_memkind_where(const void *at, size_t bytes, ferry_where *found);

/* The same for people, as snprintf does it: the length of the text, or -1 with a message. */
extern long ferry_memkind_describe(const void *at, size_t bytes, char *to, size_t room);

/* Defines memory kinds: "[scratch]\nnodes = [1]\n", as in a file that FERRY_MEMORY_KINDS names. 0, or -1 with a message. */
extern int ferry_memkind_define(const char *definition);

/* Makes data of persistent variables count as they are now, all of them or none. No thread may write them
   meanwhile. The end of the program does the same. 0, or -1 with a message. */
extern int ferry_memkind_commit(void);

#ifdef __cplusplus
}
#endif

#endif
