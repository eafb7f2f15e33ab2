/* Tasks on the simulated cluster `keystone2-incoherent`: cores that fetch work by themselves from hardware queues, without atomic instructions and
   without a counter that two of them write.

   Each core has a queue of its tasks, and one where tasks of its scopes come back. A task is a descriptor of one line: who makes it writes
   the line back and pushes it; who pops one of another core invalidates first, and writes back what the task has written before it pushes the descriptor to
   the core that waits. A task that runs elsewhere has a scope of its own for what it makes. Three more queues are for the
   host: work for cores, done by cores, done by the host. */

typedef unsigned u32;
#define REGISTER(at) (*(volatile u32 *)(at))
#define HEAD(manager, queue) REGISTER(0x10220000 + 0x20000 * (manager) + 16 * (queue))
#define TAIL(manager, queue) REGISTER(0x10220004 + 0x20000 * (manager) + 16 * (queue))
#define POP(manager, queue) REGISTER(0x10220008 + 0x20000 * (manager) + 16 * (queue))
#define EXIT REGISTER(0x10203000)
#define CORES REGISTER(0x10203004)
#define LINE 128
#define NEAR __attribute__((section(".l1")))

enum { TO_CORES = 64, DONE_BY_CORES = 65, DONE_BY_HOST = 66, HOST = 255, POOL = 64, MOST = 8, MEMORY = 0x14000000, BYTES = 0x600000 };
enum { WRITE_BACK = 1, INVALIDATE = 2 };

/* What one core knows of the tasks that it waits for; in the scratchpad, where nothing is cached. */
typedef struct scope { u32 open; int crossed; } scope;
typedef struct task {
  void (*run)(struct task *);
  scope *scope;
  u32 owner;
  int low, high, tile;
  void (*body)(int);
  long *sum;
  long value;
} task;
typedef union { task it; char line[LINE]; } __attribute__((aligned(LINE))) descriptor;

descriptor pool[MOST][POOL];
NEAR static struct { descriptor *free[POOL]; u32 count; scope *now; } cores[MOST];

void *memcpy(void *to, const void *from, __SIZE_TYPE__ bytes)
{
  for (__SIZE_TYPE__ i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int value, __SIZE_TYPE__ bytes)
{
  for (__SIZE_TYPE__ i = 0; i < bytes; i++) ((char *)to)[i] = value;
  return to;
}

static inline u32 self(void) { u32 id; __asm__("csrr %0, mhartid" : "=r"(id)); return id; }

static void cache(const void *at, u32 bytes, u32 work)
{
  REGISTER(0x10205000) = (u32)at;
  REGISTER(0x10205004) = bytes;
  REGISTER(0x10205008) = work;
}

static void cache_all(u32 work) { cache((void *)MEMORY, BYTES, work); }

static void end(u32, scope *);

static void one(u32 me, descriptor *from, int is_own)
{
  if (!is_own) cache_all(WRITE_BACK | INVALIDATE);
  task it = from->it;
  scope own = { 0, 0 }, *before = cores[me].now;
  cores[me].now = is_own ? it.scope : &own;
  it.run(&it);
  if (!is_own) end(me, &own);
  cores[me].now = before;
  if (is_own) {
    cores[me].free[cores[me].count++] = from;
    it.scope->open--;
    return;
  }
#ifndef MISSED_FLUSH
  cache_all(WRITE_BACK | INVALIDATE);
#endif
  if (it.owner == HOST) TAIL(0, DONE_BY_CORES) = (u32)from;
  else TAIL(1, it.owner) = (u32)from;
}

/* One of this core's own tasks, of the host's, or of another core. */
static void help(u32 me)
{
  descriptor *it = (descriptor *)POP(0, me);
  if (it) return one(me, it, 1);
  it = (descriptor *)POP(0, TO_CORES);
  u32 count = CORES;
  for (u32 i = 1; i < count && !it; i++) it = (descriptor *)POP(0, (me + i) % count);
  if (it) one(me, it, 0);
}

/* What the host has done goes to the core that waits for it. */
static void hand_on(void)
{
  descriptor *it = (descriptor *)POP(0, DONE_BY_HOST);
  if (!it) return;
  cache(it, sizeof *it, INVALIDATE);
  TAIL(1, it->it.owner) = (u32)it;
}

/* Waits until all tasks of a scope are done. */
static void end(u32 me, scope *it)
{
  while (it->open) {
    descriptor *back = (descriptor *)POP(1, me);
    if (!back) {
      hand_on();
      help(me);
      continue;
    }
    back->it.scope->open--;
    back->it.scope->crossed = 1;
    cores[me].free[cores[me].count++] = back;
  }
  if (it->crossed) cache_all(WRITE_BACK | INVALIDATE);
}

static void async(u32 me, const task *from)
{
  if (!cores[me].count) { task copy = *from; copy.run(&copy); return; }
  descriptor *it = cores[me].free[--cores[me].count];
  it->it = *from;
  it->it.scope = cores[me].now;
  it->it.owner = me;
  cores[me].now->open++;
  cache(it, sizeof *it, WRITE_BACK);
#ifdef FIFO
  HEAD(0, me) = (u32)it;
#else
  TAIL(0, me) = (u32)it;
#endif
}

void halve(task *it)
{
  u32 me = self();
  while (it->high - it->low > it->tile) {
    int half = (it->high - it->low) / 2 / it->tile * it->tile;
    task right = *it;
    right.low = it->low + (half ? half : it->tile);
    it->high = right.low;
    async(me, &right);
  }
  for (int i = it->low; i < it->high; i++) it->body(i);
}

/* Cycles of what is shared, and the checksum. */
NEAR u32 took;
NEAR double result;

static u32 cycle(void) { u32 it; __asm__ volatile("csrr %0, cycle" : "=r"(it)); return it; }

__attribute__((unused)) static void forasync(int low, int high, int tile, void (*body)(int))
{
  u32 began = cycle();
#ifdef SERIAL
  for (int i = low; i < high; i++) body(i);
#else
  u32 me = self();
  scope own = { 0, 0 }, *before = cores[me].now;
  cores[me].now = &own;
  cache_all(WRITE_BACK);
  task all = { halve, 0, 0, low, high, tile, body, 0, 0 };
  halve(&all);
  end(me, &own);
  cores[me].now = before;
#endif
  took += cycle() - began;
}

/* ---- programs: each writes whole lines in each task, and leaves a checksum. */
#ifdef SHARED_LINES
enum { FEW = 4 };
#else
enum { FEW = 16 };
#endif

#if PROGRAM == 0 /* nbody */
enum { N = 256 };
typedef struct { double x, y, z, mass; } body;
static body bodies[N] __attribute__((aligned(LINE)));
static double force[3][N] __attribute__((aligned(LINE)));
static void pull(int i)
{
  double x = 0, y = 0, z = 0;
  for (int j = 0; j < N; j++) {
    double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
    double square = dx * dx + dy * dy + dz * dz + 0.01;
    double scale = bodies[j].mass / (square * __builtin_sqrt(square));
    x += dx * scale; y += dy * scale; z += dz * scale;
  }
  force[0][i] = x; force[1][i] = y; force[2][i] = z;
}
static void program(double *sum)
{
  for (int i = 0; i < N; i++) bodies[i] = (body){ i % 7, i % 11, i % 13, 1 + i % 3 };
  forasync(0, N, FEW, pull);
  for (int i = 0; i < N; i++) *sum += force[0][i] + 2 * force[1][i] + 3 * force[2][i];
}
#elif PROGRAM == 1 /* series: sums over an interval, with a recurrence in place of a cosine */
enum { N = 128, STEPS = 400 };
static double coefficients[N] __attribute__((aligned(LINE)));
static void coefficient(int i)
{
  double step = 2.0 / STEPS, c = 1 - i * step * i * step / 2, one = 1, two = c, total = 0;
  for (int k = 0; k < STEPS; k++) {
    double x = k * step;
    total += x * x * one * step;
    double next = 2 * c * two - one;
    one = two; two = next > 1 ? 1 : next < -1 ? -1 : next;
  }
  coefficients[i] = total;
}
static void program(double *sum)
{
  forasync(0, N, FEW, coefficient);
  for (int i = 0; i < N; i++) *sum += coefficients[i];
}
#elif PROGRAM == 2 /* matmul */
enum { N = 64 };
static double a[N][N] __attribute__((aligned(LINE))), b[N][N] __attribute__((aligned(LINE))), c[N][N] __attribute__((aligned(LINE)));
static void row(int i)
{
  for (int j = 0; j < N; j++) {
    double total = 0;
    for (int k = 0; k < N; k++) total += a[i][k] * b[k][j];
    c[i][j] = total;
  }
}
static void program(double *sum)
{
  for (int i = 0; i < N * N; i++) a[i / N][i % N] = i % 5, b[i / N][i % N] = i % 7;
  forasync(0, N, 2, row);
  for (int i = 0; i < N * N; i++) *sum += c[i / N][i % N] * (i % 3);
}
#elif PROGRAM == 3 /* uts: an unbalanced tree; sums go to the scratchpad of who waits */
static u32 next(u32 it) { it ^= it << 13; it ^= it >> 17; it ^= it << 5; return it; }
static u32 branches(u32 node, int depth) { return depth > 12 ? 3 : depth ? next(node) % 4 : 0; }
static long count(u32 node, int depth)
{
  long all = 1;
  u32 children = branches(node, depth);
  for (u32 i = 0; i < children; i++) all += count(next(node + 77 * i + 1), depth - 1);
  return all;
}
static void subtree(task *it);
static long grow(u32 node, int depth)
{
#ifndef SERIAL
  u32 children = branches(node, depth), me = self();
  if (depth > 7 && children) {
    long sums[4] = { 0 }, all = 1;
    scope own = { 0, 0 }, *before = cores[me].now;
    cores[me].now = &own;
    for (u32 i = 1; i < children; i++) {
      task child = { subtree, 0, 0, depth - 1, 0, 0, 0, &sums[i], next(node + 77 * i + 1) };
      async(me, &child);
    }
    sums[0] = grow(next(node + 1), depth - 1);
    end(me, &own);
    cores[me].now = before;
    for (u32 i = 0; i < children; i++) all += sums[i];
    return all;
  }
#endif
  return count(node, depth);
}
static void subtree(task *it) { *it->sum = grow(it->value, it->low); }
static void program(double *sum)
{
  u32 began = cycle();
  *sum = grow(0x9e3779b9u, 16);
  took = cycle() - began;
}
#elif PROGRAM == 5 /* for tests: each iteration counts in a line of its own; the host sends the second half, and takes what it finds */
enum { N = 512 };
u32 marks[N][LINE / 4] __attribute__((aligned(LINE)));
descriptor of_host[8];
NEAR volatile u32 host_is_done;
void mark(int i) { for (int k = 0; k < 20; k++) marks[i][1] = k; marks[i][0]++; }
static void program(double *sum)
{
  forasync(0, N / 2, 1, mark);
  while (!host_is_done) help(0);
  cache_all(WRITE_BACK | INVALIDATE);
  for (int i = 0; i < N; i++) *sum += marks[i][0] == 1;
}
#elif PROGRAM == 6 /* cholesky: of a matrix in tiles, whose rows are whole lines */
enum { LEAF = 16, TILES = 8 };
typedef double tile[LEAF][LEAF];
static tile all[TILES][TILES] __attribute__((aligned(LINE)));
NEAR static int now;
static void factor(double (*a)[LEAF])
{
  for (int j = 0; j < LEAF; j++) {
    for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = __builtin_sqrt(a[j][j]);
    for (int i = j + 1; i < LEAF; i++) {
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
}
static void solve(int row)
{
  double (*a)[LEAF] = all[row][now], (*d)[LEAF] = all[now][now];
  for (int i = 0; i < LEAF; i++)
    for (int j = 0; j < LEAF; j++) {
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * d[j][k];
      a[i][j] /= d[j][j];
    }
}
static void update(int both)
{
  int row = both / TILES, column = both % TILES;
  if (column <= now || column > row) return;
  double (*a)[LEAF] = all[row][column], (*b)[LEAF] = all[row][now], (*c)[LEAF] = all[column][now];
  for (int i = 0; i < LEAF; i++)
    for (int j = 0; j < LEAF; j++)
      for (int k = 0; k < LEAF; k++) a[i][j] -= b[i][k] * c[j][k];
}
static void program(double *sum)
{
  for (int t = 0; t < TILES * TILES; t++)
    for (int i = 0; i < LEAF * LEAF; i++) {
      int is_diagonal = t % (TILES + 1) == 0 && i % (LEAF + 1) == 0;
      all[t / TILES][t % TILES][i / LEAF][i % LEAF] = is_diagonal ? TILES * LEAF : 1.0 / (1 + (i + t) % 7);
    }
  u32 began = cycle();
  for (int k = 0; k < TILES; k++) {
    now = k;
    factor(all[k][k]);
    forasync(k + 1, TILES, 1, solve);
    forasync((k + 1) * TILES, TILES * TILES, 1, update);
  }
  took = cycle() - began;
  for (int t = 0; t < TILES; t++)
    for (int u = 0; u <= t; u++)
      for (int i = 0; i < LEAF * LEAF; i++) *sum += all[t][u][i / LEAF][i % LEAF] * (i % 3 + 1);
}
#else /* stencil: seven points in three dimensions, twice */
enum { N = 24, ROW = 32 };
static double grid[2][N][N][ROW] __attribute__((aligned(LINE)));
NEAR static int now;
static void plane(int i)
{
  double (*from)[N][ROW] = grid[now], (*to)[N][ROW] = grid[!now];
  for (int j = 1; j < N - 1; j++)
    for (int k = 1; k < N - 1; k++)
      to[i][j][k] = from[i][j][k] + 0.1 * (from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] + from[i][j + 1][k]
                                          + from[i][j][k - 1] + from[i][j][k + 1] - 6 * from[i][j][k]);
}
static void program(double *sum)
{
  for (int i = 0; i < N * N * ROW; i++) (&grid[0][0][0][0])[i] = (&grid[1][0][0][0])[i] = i % 17;
  for (int step = 0; step < 2; step++) {
    now = step & 1;
    forasync(1, N - 1, 1, plane);
  }
  for (int i = 0; i < N * N * ROW; i++) *sum += (&grid[0][0][0][0])[i] * (i % 3);
}
#endif

void begin(void)
{
  u32 me = self();
  for (int i = 0; i < POOL; i++) cores[me].free[cores[me].count++] = &pool[me][i];
  while (me) help(me);
  double sum = 0;
  program(&sum);
  result = sum;
  EXIT = 0;
}

__asm__(".section .text.start, \"ax\", @progbits\n"
        ".globl _start\n"
        "_start: csrr a0, mhartid\n"
        "  lui sp, %hi(__stack_top)\n"
        "  addi sp, sp, %lo(__stack_top)\n"
        "  slli t0, a0, 14\n"
        "  sub sp, sp, t0\n"
        "  call begin\n"
        "1: j 1b\n");
