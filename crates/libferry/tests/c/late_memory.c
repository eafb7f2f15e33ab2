// Memory of allocators where the library is loaded late, `late_memory LIBRARY`, or at once (`-DAT_ONCE`). Threads that were
// there before it, threads that come later, and blocks that one makes and another one gives back.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 3000, ROUNDS = 40 };
static void *(*get)(size_t, uintptr_t);
static void (*put)(void *, uintptr_t);
static pthread_barrier_t loaded, turn;
static unsigned char *blocks[THREADS][BLOCKS];
static int wrong[THREADS];

static size_t bytes_of(int thread, int i) { return 1 + (thread * 7919 + i * 104729) % 2500; }

static void *work(void *number) {
  int me = (int)(intptr_t)number, next = (me + 1) % THREADS;
  pthread_barrier_wait(&loaded);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      blocks[me][i] = get(bytes_of(me, i), 1 + i % 3);
      if (!blocks[me][i])
        return wrong[me]++, NULL;
      memset(blocks[me][i], me * 50 + i % 50, bytes_of(me, i));
    }
    pthread_barrier_wait(&turn);
    for (int i = 0; i < BLOCKS; i++) {
      size_t last = bytes_of(next, i) - 1;
      wrong[me] += blocks[next][i][0] != next * 50 + i % 50 || blocks[next][i][last] != next * 50 + i % 50;
      put(blocks[next][i], i % 2 ? 0 : 1 + i % 3);
    }
    pthread_barrier_wait(&turn);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&loaded, NULL, THREADS + 1);
  pthread_barrier_init(&turn, NULL, THREADS);
  for (int i = 0; i < THREADS / 2; i++)
    pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
#ifdef AT_ONCE
  extern void *omp_alloc(size_t, uintptr_t);
  extern void omp_free(void *, uintptr_t);
  get = omp_alloc;
  put = omp_free;
#else
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library)
    return puts("no library"), 1;
  get = (void *(*)(size_t, uintptr_t))dlsym(library, "omp_alloc");
  put = (void (*)(void *, uintptr_t))dlsym(library, "omp_free");
#endif
  for (int i = THREADS / 2; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
  pthread_barrier_wait(&loaded);
  int all = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    all += wrong[i];
  }
  puts(all ? "failed" : "passed");
  return all != 0;
}
