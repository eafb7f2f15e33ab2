/* One loop in many spellings: sizes of teams, threads and chunks as they are tuned for GPUs. Prints a line
 * `NAME NANOSECONDS` for each run of each spelling; they take turns. Checks every result. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N (1 << 22)
#define SIDE 2048
#define RADIUS 2

static double a[N], b[N];

static double now(void) { return omp_get_wtime() * 1e9; }

static void check(const char *name, double factor)
{
  for (int i = 0; i < N; i++)
    if (a[i] != b[i] * factor + 1) {
      fprintf(stderr, "%s: wrong at %d\n", name, i);
      exit(1);
    }
}

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOP(name, ...)                                                                                                \
  static void name(double factor)                                                                                      \
  {                                                                                                                    \
    PRAGMA(omp target teams distribute parallel for __VA_ARGS__)                                                       \
    for (int i = 0; i < N; i++)                                                                                        \
      a[i] = b[i] * factor + 1;                                                                                        \
  }
#define STENCIL(name, ...)                                                                                             \
  static void name(double factor)                                                                                      \
  {                                                                                                                    \
    PRAGMA(omp target teams distribute parallel for collapse(2) __VA_ARGS__)                                           \
    for (int i = RADIUS; i < SIDE - RADIUS; i++)                                                                       \
      for (int j = RADIUS; j < SIDE - RADIUS; j++) {                                                                   \
        double sum = 0;                                                                                                \
        for (int k = -RADIUS; k <= RADIUS; k++)                                                                        \
          sum += b[i * SIDE + j + k] + b[(i + k) * SIDE + j];                                                          \
        a[i * SIDE + j] = sum * factor;                                                                                \
      }                                                                                                                \
  }

LOOP(plain, )
LOOP(teams, num_teams(1024) thread_limit(256))
LOOP(teams_in_turn, num_teams(216) thread_limit(256) schedule(static, 1))
LOOP(chunks, dist_schedule(static, 256) schedule(static, 1))
LOOP(threads, num_teams(1024) num_threads(128))
STENCIL(stencil, )
STENCIL(stencil_in_turn, schedule(static, 1))

static const struct {
  const char *name;
  void (*run)(double);
  int is_loop;
} spellings[] = {
    {"plain", plain, 1},
    {"teams", teams, 1},
    {"teams-in-turn", teams_in_turn, 1},
    {"chunks", chunks, 1},
    {"threads", threads, 1},
    {"stencil", stencil, 0},
    {"stencil-in-turn", stencil_in_turn, 0},
};

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 11;
  for (int i = 0; i < N; i++)
    b[i] = i % 1000;
#pragma omp target enter data map(to : a, b)
  for (int round = 0; round <= rounds; round++)
    for (unsigned at = 0; at < sizeof spellings / sizeof *spellings; at++) {
      double begin = now();
      spellings[at].run(round + 2);
      double end = now();
      /* The first round compiles kernels and wakes threads. */
      if (round)
        printf("%s %.0f\n", spellings[at].name, end - begin);
      else if (spellings[at].is_loop) {
#pragma omp target update from(a)
        check(spellings[at].name, round + 2);
      }
    }
  return 0;
}
