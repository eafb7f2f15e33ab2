// Times allocators: `allocators MODE THREADS`, MODE one of omp (omp_alloc), malloc, memkind (libmemkind.so.0).
// Prints nanoseconds of one allocation with its release, for pairs of one size, churn of many sizes, and blocks that
// another thread releases; then how much memory the process has for each byte that is in use after a long churn.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *(*kind_malloc)(void *, size_t);
static void (*kind_free)(void *, void *);
static void *kind;
static int mode;

static inline void *get(size_t n) {
  return mode == 0 ? omp_alloc(n, omp_default_mem_alloc) : mode == 1 ? malloc(n) : kind_malloc(kind, n);
}

static inline void put(void *p) {
  if (mode == 0)
    omp_free(p, omp_default_mem_alloc);
  else if (mode == 1)
    free(p);
  else
    kind_free(kind, p);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline unsigned next(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

enum { PAIRS = 2000000, SLOTS = 1000, CHURN = 2000000, RING = 1024, PASSED = 1000000 };

static double pairs(int threads, size_t size) {
  double begin = now();
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < PAIRS; i++) {
    volatile char *p = get(size);
    *p = 1;
    put((void *)p);
  }
  return (now() - begin) / PAIRS;
}

static double churn(int threads) {
  double begin = now();
#pragma omp parallel num_threads(threads)
  {
    static __thread void *slots[SLOTS];
    unsigned state = 17 + omp_get_thread_num();
    for (int i = 0; i < CHURN; i++) {
      unsigned at = next(&state) % SLOTS;
      if (slots[at])
        put(slots[at]);
      slots[at] = get(8 + next(&state) % 1016);
      *(char *)slots[at] = 1;
    }
    for (int i = 0; i < SLOTS; i++) {
      put(slots[i]);
      slots[i] = 0;
    }
  }
  return (now() - begin) / CHURN;
}

static void *_Atomic ring[32][RING];

// Even threads allocate, odd ones release what the one before has allocated.
static double passed(int threads) {
  if (threads % 2)
    return 0;
  double begin = now();
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    for (int i = 0; i < PASSED; i++) {
      void *_Atomic *slot = &ring[me / 2 % 32][i % RING];
      if (me % 2 == 0) {
        void *p = get(64);
        while (*slot)
          ;
        *slot = p;
      } else {
        void *p;
        while (!(p = *slot))
          ;
        *slot = 0;
        put(p);
      }
    }
  }
  return (now() - begin) / PASSED;
}

static long resident(void) {
  long size, pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
    pages = 0;
  if (f)
    fclose(f);
  return pages * 4096;
}

// Blocks of changing sizes, so that what is released does not fit what comes.
static double blow_up(int threads) {
  enum { BLOCKS = 100000, ROUNDS = 20 };
  long before = resident(), live = 0;
  void ***all = calloc(threads, sizeof *all);
#pragma omp parallel num_threads(threads) reduction(+ : live)
  {
    int me = omp_get_thread_num();
    void **mine = all[me] = calloc(BLOCKS, sizeof *mine);
    unsigned *sizes = calloc(BLOCKS, sizeof *sizes), state = 3 + me;
    for (int round = 0; round < ROUNDS; round++)
      for (int i = 0; i < BLOCKS; i++)
        if (!mine[i] || next(&state) % 2) {
          put(mine[i]);
          sizes[i] = 16 + next(&state) % (200 << round % 4);
          mine[i] = get(sizes[i]);
          memset(mine[i], 1, sizes[i]);
        }
    for (int i = 0; i < BLOCKS; i++)
      live += sizes[i];
    free(sizes);
  }
  double ratio = (double)(resident() - before) / live;
  for (int t = 0; t < threads; t++)
    for (int i = 0; i < BLOCKS; i++)
      put(all[t][i]);
  return ratio;
}

int main(int argc, char **argv) {
  int threads = argc > 2 ? atoi(argv[2]) : 1;
  const char *name = argc > 1 ? argv[1] : "omp";
  mode = !strcmp(name, "omp") ? 0 : !strcmp(name, "malloc") ? 1 : 2;
  if (mode == 2) {
    void *library = dlopen("libmemkind.so.0", RTLD_NOW);
    if (!library)
      return puts("no libmemkind"), 1;
    kind_malloc = (void *(*)(void *, size_t))dlsym(library, "memkind_malloc");
    kind_free = (void (*)(void *, void *))dlsym(library, "memkind_free");
    kind = *(void **)dlsym(library, "MEMKIND_DEFAULT");
  }
  double pair64 = 1e9, pair1k = 1e9, churned = 1e9, pass = 1e9;
  for (int i = 0; i < 5; i++) {
    double a = pairs(threads, 64), b = pairs(threads, 1024), c = churn(threads), d = passed(threads);
    pair64 = a < pair64 ? a : pair64, pair1k = b < pair1k ? b : pair1k;
    churned = c < churned ? c : churned, pass = d < pass ? d : pass;
  }
  printf("%.1f %.1f %.1f %.1f %.2f\n", pair64, pair1k, churned, pass, blow_up(threads));
  return 0;
}
