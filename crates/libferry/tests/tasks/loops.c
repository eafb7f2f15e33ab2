// Loops of one to three dimensions, with strides and odd tiles, by halves and by tiles: each iteration once.
// env: FERRY_TASKS_HOST=1
// env: FERRY_TASKS_HOST=3
// env: FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=2
// env: FERRY_TASKS_HOST=1 FERRY_TASKS_CORES=2 FERRY_TASKS_CROSS=always
// serial: yes
#include <ferry_tasks.h>
#include <stdio.h>
#include <string.h>

enum { N = 11, M = 7, L = 5 };

typedef struct {
  unsigned char *seen;
  int mark;
} where;

static void note(where *w, int at) { w->seen[at] += w->mark; }
static void one(void *w, int i) { note(w, i); }
static void two(void *w, int i, int j) { note(w, i * M + j); }
static void three(void *w, int i, int j, int k) { note(w, (i * M + j) * L + k); }

int main(void) {
  unsigned char *seen = ws_malloc(N * M * L);
  ws_args_t written = {seen, N * M * L};
  where w = {seen, 1};
  for (int mode = WS_RECURSION; mode <= WS_CHUNK; mode++)
    for (int stride = 1; stride <= 3; stride++)
      for (int tile = 0; tile <= 4; tile++)
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
          memset(seen, 0, N * M * L);
          loop_domain_t d[3] = {{1, N, stride, tile}, {0, M, 1, tile}, {2, L, stride, tile}};
          start_finish(1, &written);
          if (dimensions == 1) forasync(one, &w, sizeof w, 1, d, mode);
          if (dimensions == 2) forasync(two, &w, sizeof w, 2, d, mode);
          if (dimensions == 3) forasync(three, &w, sizeof w, 3, d, mode);
          end_finish();
          int expected[N * M * L] = {0};
          for (int i = 1; i < N; i += stride) {
            if (dimensions == 1) expected[i] = 1;
            for (int j = 0; j < M && dimensions > 1; j++) {
              if (dimensions == 2) expected[i * M + j] = 1;
              for (int k = 2; k < L && dimensions > 2; k += stride) expected[(i * M + j) * L + k] = 1;
            }
          }
          for (int at = 0; at < N * M * L; at++)
            if (seen[at] != expected[at])
              return printf("mode %d stride %d tile %d dimensions %d: %d at %d\n", mode, stride, tile, dimensions,
                            seen[at], at), 1;
        }
  /* An empty loop makes nothing. */
  loop_domain_t none = {5, 5, 1, 1};
  start_finish(0);
  forasync(one, &w, sizeof w, 1, &none, WS_RECURSION);
  end_finish();
  puts("passed");
  return 0;
}
