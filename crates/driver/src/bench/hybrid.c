/* Six programs with tasks: NBody, Series and Matmul of the HC-K2H paper, UTS, Cholesky and a 3-D stencil.
   hybrid NAME SCALE SIDE: SIDE is host (tasks begin there) or cores (one task for the accelerator begins all).
   Prints nanoseconds, a checksum, and what was done. */
#define _GNU_SOURCE
#include <ferry_tasks.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
static double number(unsigned *seed) { return ((*seed = *seed * 1664525u + 1013904223u) >> 8) / 16777216.0; }

/* What all programs get: buffers, their sizes, and a size of the problem. */
typedef struct {
  double *a, *b, *c;
  int n, steps, k;
} problem;

/* NBody: forces of all on each; a: positions and masses, b: accelerations, c: velocities; 4 numbers each. */
static void force(void *args, int i) {
  problem *p = args;
  double x = p->a[4 * i], y = p->a[4 * i + 1], z = p->a[4 * i + 2], ax = 0, ay = 0, az = 0;
  for (int j = 0; j < p->n; j++) {
    double dx = p->a[4 * j] - x, dy = p->a[4 * j + 1] - y, dz = p->a[4 * j + 2] - z;
    double square = dx * dx + dy * dy + dz * dz + 1e-3, f = p->a[4 * j + 3] / (square * sqrt(square));
    ax += f * dx, ay += f * dy, az += f * dz;
  }
  p->b[4 * i] = ax, p->b[4 * i + 1] = ay, p->b[4 * i + 2] = az;
}
static void move(void *args, int i) {
  problem *p = args;
  for (int d = 0; d < 3; d++) p->a[4 * i + d] += 1e-3 * (p->c[4 * i + d] += 1e-3 * p->b[4 * i + d]);
}
static void nbody(void *args) {
  problem *p = args;
  loop_domain_t fine = {0, p->n, 1, 32}, coarse = {0, p->n, 1, 512};
  ws_args_t a = {p->a, p->n * 32}, b = {p->b, p->n * 32}, c = {p->c, p->n * 32};
  for (int step = 0; step < p->steps; step++) {
    start_finish(1, &b);
    forasync(force, p, sizeof *p, 1, &fine, WS_RECURSION);
    end_finish();
    start_finish(2, &a, &c);
    forasync(move, p, sizeof *p, 1, &coarse, WS_RECURSION);
    end_finish();
  }
}

/* Series: the first n pairs of Fourier coefficients of (x+1)^x on [0, 2]. */
static double integral(int kind, double w) {
  const int points = 1000;
  double sum = 0, dx = 2.0 / points;
  for (int i = 0; i <= points; i++) {
    double x = i * dx, value = pow(x + 1, x);
    if (kind == 1) value *= cos(w * x);
    if (kind == 2) value *= sin(w * x);
    sum += i == 0 || i == points ? value / 2 : value;
  }
  return sum * dx;
}
static void coefficient(void *args, int i) {
  problem *p = args;
  p->a[2 * i] = integral(i ? 1 : 0, M_PI * i) / 2;
  p->a[2 * i + 1] = i ? integral(2, M_PI * i) : 0;
}
static void series(void *args) {
  problem *p = args;
  loop_domain_t loop = {0, p->n, 1, 8};
  ws_args_t a = {p->a, p->n * 16};
  start_finish(1, &a);
  forasync(coefficient, p, sizeof *p, 1, &loop, WS_RECURSION);
  end_finish();
}

/* Matmul: c += a b by quarters, with a scope for each half of the products. */
enum { LEAF = 64 };
typedef struct {
  problem p;
  int i, j, k, size;
} block;
static void multiply(void *args) {
  block *it = args;
  int n = it->p.n;
  if (it->size <= LEAF) {
    for (int i = it->i; i < it->i + it->size; i++)
      for (int k = it->k; k < it->k + it->size; k++) {
        double x = it->p.a[i * n + k], *restrict to = it->p.c + i * n;
        const double *from = it->p.b + k * n;
        for (int j = it->j; j < it->j + it->size; j++) to[j] += x * from[j];
      }
    return;
  }
  int half = it->size / 2;
  for (int k = 0; k < 2; k++) {
    start_finish(0);
    for (int q = 0; q < 4; q++) {
      block part = {it->p, it->i + q / 2 * half, it->j + q % 2 * half, it->k + k * half, half};
      async(multiply, &part, sizeof part);
    }
    end_finish();
  }
}
static void matmul(void *args) {
  problem *p = args;
  block all = {*p, 0, 0, 0, p->n};
  ws_args_t c = {p->c, (size_t)p->n * p->n * 8};
  for (int step = 0; step < p->steps; step++) {
    start_finish(1, &c);
    async(multiply, &all, sizeof all);
    end_finish();
  }
}

/* UTS: nodes of a tree whose branches nobody foresees; the upper levels are tasks. a: a line per upper node. */
static unsigned long hash(unsigned long x) {
  x += 0x9e3779b97f4a7c15ul, x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul, x = (x ^ x >> 27) * 0x94d049bb133111ebul;
  return x ^ x >> 31;
}
static long count(unsigned long state, int depth) {
  long sum = 1;
  int children = depth == 0 ? 0 : hash(state) % 100 < 38 ? 5 : hash(state) % 2;
  for (int i = 0; i < children; i++) sum += count(hash(state + i + 1), depth - 1);
  return sum;
}
typedef struct {
  problem p;
  unsigned long state;
  int index, level;
} subtree;
static void explore(void *args) {
  subtree *it = args;
  if (it->level == 0) {
    it->p.a[it->index * 16] = count(it->state, it->p.k);
    return;
  }
  for (int i = 0; i < 8; i++) {
    subtree next = {it->p, hash(it->state + i + 1), it->index * 8 + i, it->level - 1};
    async(explore, &next, sizeof next);
  }
}
static void uts(void *args) {
  problem *p = args;
  subtree root = {*p, 42, 0, 3};
  ws_args_t a = {p->a, 512 * 128};
  start_finish(1, &a);
  async(explore, &root, sizeof root);
  end_finish();
}

/* Cholesky by tiles of LEAF x LEAF, each in one piece. a: tiles row by row; k: tiles a side. */
static double *tile_of(problem *p, int i, int j) { return p->a + (size_t)(i * (p->n / LEAF) + j) * LEAF * LEAF; }
static void factor(double *t) {
  for (int j = 0; j < LEAF; j++) {
    for (int k = 0; k < j; k++)
      for (int i = j; i < LEAF; i++) t[i * LEAF + j] -= t[i * LEAF + k] * t[j * LEAF + k];
    double d = sqrt(t[j * LEAF + j]);
    for (int i = j; i < LEAF; i++) t[i * LEAF + j] /= d;
  }
}
static void solve(void *args, int i) {
  problem *p = args;
  double *t = tile_of(p, i, p->k), *d = tile_of(p, p->k, p->k);
  for (int r = 0; r < LEAF; r++)
    for (int j = 0; j < LEAF; j++) {
      double x = t[r * LEAF + j];
      for (int k = 0; k < j; k++) x -= t[r * LEAF + k] * d[j * LEAF + k];
      t[r * LEAF + j] = x / d[j * LEAF + j];
    }
}
static void update(void *args, int i, int j) {
  problem *p = args;
  if (j > i) return;
  double *restrict t = tile_of(p, i, j);
  const double *a = tile_of(p, i, p->k), *b = tile_of(p, j, p->k);
  for (int r = 0; r < LEAF; r++)
    for (int c = 0; c < LEAF; c++) {
      double x = 0;
      for (int k = 0; k < LEAF; k++) x += a[r * LEAF + k] * b[c * LEAF + k];
      t[r * LEAF + c] -= x;
    }
}
static void cholesky(void *args) {
  problem p = *(problem *)args;
  int tiles = p.n / LEAF;
  ws_args_t a = {p.a, (size_t)p.n * p.n * 8};
  for (p.k = 0; p.k < tiles; p.k++) {
    factor(tile_of(&p, p.k, p.k));
    loop_domain_t rows = {p.k + 1, tiles, 1, 1}, both[] = {rows, rows};
    start_finish(1, &a);
    forasync(solve, &p, sizeof p, 1, &rows, WS_RECURSION);
    end_finish();
    start_finish(1, &a);
    forasync(update, &p, sizeof p, 2, both, WS_RECURSION);
    end_finish();
  }
}

/* The stencil: seven points of a cube of n^3, a to b and back. */
static void average(void *args, int z, int y) {
  problem *p = args;
  int n = p->n;
  const double *from = p->k ? p->b : p->a;
  double *restrict to = p->k ? p->a : p->b;
  if (z == 0 || y == 0 || z == n - 1 || y == n - 1) return;
  for (int x = 1; x < n - 1; x++) {
    int at = (z * n + y) * n + x;
    to[at] = 0.4 * from[at] + 0.1 * (from[at - 1] + from[at + 1] + from[at - n] + from[at + n] + from[at - n * n] + from[at + n * n]);
  }
}
static void stencil(void *args) {
  problem p = *(problem *)args;
  size_t size = (size_t)p.n * p.n * p.n * 8;
  ws_args_t a = {p.a, size}, b = {p.b, size};
  loop_domain_t both[] = {{0, p.n, 1, 1}, {0, p.n, 1, p.n}};
  for (int step = 0; step < p.steps; step++) {
    p.k = step % 2;
    start_finish(2, &a, &b);
    forasync(average, &p, sizeof p, 2, both, WS_RECURSION);
    end_finish();
  }
}

typedef struct {
  const char *name;
  void (*run)(void *);
  int n, steps, k, a, b, c; /* numbers in a, b and c: this many times n^0..3 */
} program;

static size_t numbers(int kind, int n) {
  static const size_t fixed = 512 * 16;
  return kind == 0 ? 16 : kind == 4 ? 4 * (size_t)n : kind == 9 ? fixed : kind == 2 ? (size_t)n * n : (size_t)n * n * n;
}

int main(int words, char **word) {
  static const program programs[] = {
      {"nbody", nbody, 8192, 1, 0, 4, 4, 4},   {"series", series, 256, 0, 0, 4, 0, 0},
      {"matmul", matmul, 512, 8, 0, 2, 2, 2},  {"uts", uts, 0, 0, 10, 9, 0, 0},
      {"cholesky", cholesky, 8, 0, 0, 2, 0, 0}, {"stencil", stencil, 96, 32, 0, 3, 3, 0},
  };
  const program *it = NULL;
  for (unsigned i = 0; words > 3 && i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(word[1], programs[i].name)) it = &programs[i];
  if (!it) return 2;
  int scale = atoi(word[2]), n = it->n;
  /* Twice the scale is about twice the work; 8 is some tenths of a second. */
  if (!strcmp(it->name, "series")) n *= scale;
  if (!strcmp(it->name, "cholesky")) n = LEAF * (int)(n * cbrt(scale));
  problem p = {NULL, NULL, NULL, n, (it->steps * scale + 7) / 8, it->k};
  if (!strcmp(it->name, "uts"))
    for (int s = scale; s > 1; s /= 2) p.k++;
  size_t sizes[] = {numbers(it->a, n), numbers(it->b, n), numbers(it->c, n)};
  double **buffers[] = {&p.a, &p.b, &p.c};
  unsigned seed = 1;
  for (int i = 0; i < 3; i++) {
    double *buffer = *buffers[i] = ws_malloc(sizes[i] * sizeof(double));
    if (!buffer) return 3;
    for (size_t k = 0; k < sizes[i]; k++) buffer[k] = number(&seed);
    if (!strcmp(it->name, "cholesky") && i == 0)
      for (int t = 0; t < n / LEAF; t++)
        for (int d = 0; d < LEAF; d++) tile_of(&p, t, t)[d * LEAF + d] += n;
    ws_cacheWbInv(buffer, sizes[i] * sizeof(double));
  }
  /* Workers are there before the clock runs. */
  loop_domain_t first = {0, 1, 1, 1};
  start_finish(0);
  forasync(coefficient, &p, sizeof p, 1, &first, WS_RECURSION);
  end_finish();
  p.a[0] = p.a[1] = 0.5 + (!strcmp(it->name, "cholesky") ? n : 0);
  ws_cacheWbInv(p.a, 128);
  double begin = now();
  if (!strcmp(word[3], "cores")) {
    ws_args_t a = {p.a, sizes[0] * 8}, b = {p.b, sizes[1] * 8}, c = {p.c, sizes[2] * 8};
    start_finish(3, &a, &b, &c);
    asyncDSP(it->run, &p, sizeof p);
    end_finish();
  } else {
    it->run(&p);
  }
  double time = now() - begin, sum = 0;
  for (int i = 0; i < 3; i++)
    for (size_t k = 0; k < sizes[i]; k++) sum += (*buffers[i])[k] * (k % 7 + 1);
  ws_statistics_t s;
  ws_statistics(&s);
  printf("%.0f %.17g %lu %lu %lu %lu %lu %lu\n", time, sum, (unsigned long)s.host_tasks, (unsigned long)s.core_tasks,
         (unsigned long)(s.host_steals + s.core_steals), (unsigned long)(s.sent + s.taken), (unsigned long)s.host_flushes,
         (unsigned long)s.core_flushes);
  return 0;
}
