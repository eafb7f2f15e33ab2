/* Those of public.c with sparse matrices, graphs, meshes and lists. */
#ifndef PUBLIC_LISTS_H
#define PUBLIC_LISTS_H

#include "kinds.h"
#include <complex.h>

/* A sparse matrix with some dense columns. */
void spmm_run(int rows, int *first, int *column, float *a, float *x, float *y, int wide)
{
#pragma omp target teams distribute
  for (int i = 0; i < rows; i++) {
#pragma omp parallel for
    for (int c = 0; c < wide; c++) {
      float sum = 0;
      for (int e = first[i]; e < first[i + 1]; e++)
        sum += a[e] * x[column[e] * wide + c];
      y[i * wide + c] = sum;
    }
  }
}

static void spmm(void)
{
  if (!is_wanted("spmm"))
    return;
  const int rows = SIZED(50000, 300), wide = 64, n = rows * wide;
  int *first = malloc(sizeof(int) * (rows + 1));
  const int all = fill_rows(rows, first);
  int *column = malloc(sizeof(int) * all);
  float *a = malloc(sizeof(float) * all), *x = malloc(sizeof(float) * n), *y = malloc(sizeof(float) * n);
  fill_columns(rows, first, 0, column);
  FILL(a, all);
  FILL(x, n);
#pragma omp target data map(to: first[0:rows + 1], column[0:all], a[0:all], x[0:n]) map(from: y[0:n])
  {
    MEASURE {
      spmm_run(rows, first, column, a, x, y, wide);
    }
  }
  SUM(y, n);
  tell("spmm", sum);
  free(first), free(column), free(a), free(x), free(y);
}

/* How far each node of a graph is from one. */
void bfs_run(int nodes, int source, int *first, int *edge, unsigned char *mask, unsigned char *next,
             unsigned char *visited, int *cost)
{
#pragma omp target teams distribute parallel for
  for (int i = 0; i < nodes; i++) {
    mask[i] = visited[i] = i == source;
    next[i] = 0;
    cost[i] = i == source ? 0 : -1;
  }
  int again;
  do {
    again = 0;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < nodes; i++) {
      if (mask[i]) {
        mask[i] = 0;
        for (int e = first[i]; e < first[i + 1]; e++) {
          int other = edge[e];
          if (!visited[other]) {
            cost[other] = cost[i] + 1;
            next[other] = 1;
          }
        }
      }
    }
#pragma omp target teams distribute parallel for map(tofrom: again) reduction(|: again)
    for (int i = 0; i < nodes; i++) {
      if (next[i]) {
        mask[i] = 1;
        visited[i] = 1;
        next[i] = 0;
        again |= 1;
      }
    }
  } while (again);
}

static void bfs(void)
{
  if (!is_wanted("bfs"))
    return;
  const int nodes = SIZED(1 << 18, 500);
  int *first = malloc(sizeof(int) * (nodes + 1)), *cost = malloc(sizeof(int) * nodes);
  const int edges = fill_rows(nodes, first);
  int *edge = malloc(sizeof(int) * edges);
  unsigned char *mask = malloc(nodes), *next = malloc(nodes), *visited = malloc(nodes);
  fill_columns(nodes, first, 0, edge);
#pragma omp target data map(to: first[0:nodes + 1], edge[0:edges]) map(from: cost[0:nodes]) \
  map(alloc: mask[0:nodes], next[0:nodes], visited[0:nodes])
  {
    MEASURE {
      bfs_run(nodes, 1, first, edge, mask, next, visited, cost);
    }
  }
  SUM(cost, nodes);
  tell("bfs", sum);
  free(first), free(cost), free(edge), free(mask), free(next), free(visited);
}

/* How much pages count, by the pages that name them; says how much has changed. */
double pagerank_step(int pages, int *first, int *from, int *names, double *rank, double *gives, double *next,
                     double damping)
{
  double delta = 0;
#pragma acc kernels present(names, rank, gives)
  {
#pragma acc loop independent
    for (int i = 0; i < pages; i++)
      gives[i] = names[i] > 0 ? rank[i] / names[i] : 0;
  }
#pragma acc kernels present(first, from, rank, gives, next)
  {
#pragma acc loop independent reduction(+: delta)
    for (int i = 0; i < pages; i++) {
      double sum = 0;
      for (int e = first[i]; e < first[i + 1]; e++)
        sum += gives[from[e]];
      next[i] = (1 - damping) / pages + damping * sum;
      delta += fabs(next[i] - rank[i]);
    }
  }
  return delta;
}

static void pagerank(void)
{
  if (!is_wanted("pagerank"))
    return;
  const int pages = SIZED(1 << 18, 700);
  int *first = malloc(sizeof(int) * (pages + 1)), *names = calloc(pages, sizeof(int));
  const int all = fill_rows(pages, first);
  int *from = malloc(sizeof(int) * all);
  double *start = malloc(sizeof(double) * pages), *gives = malloc(sizeof(double) * pages);
  double *a = malloc(sizeof(double) * pages), *b = malloc(sizeof(double) * pages), delta = 0;
  fill_columns(pages, first, 0, from);
  for (int e = 0; e < all; e++)
    names[from[e]]++;
  for (int i = 0; i < pages; i++)
    start[i] = 1.0 / pages;
#pragma acc data copyin(first[0:pages + 1], from[0:all], names[0:pages], start[0:pages]) \
  create(gives[0:pages], a[0:pages]) copyout(b[0:pages])
  {
    MEASURE {
      double *old = start, *next = a, *other = b;
      for (int s = 0; s < 4; s++) {
        delta = pagerank_step(pages, first, from, names, old, gives, next, 0.85);
        old = next;
        next = other;
        other = old;
        if (delta < 1e-9)
          break;
      }
    }
  }
  SUM(b, pages);
  tell_rounded("pagerank", sum + delta);
  free(first), free(names), free(from), free(start), free(gives), free(a), free(b);
}

#pragma omp declare target
/* How many of a sorted list are less than `key`, or equal to it too. */
size_t rank_in(unsigned *list, size_t count, unsigned key, int equal_too)
{
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list[middle] < key || (equal_too && list[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
#pragma omp end declare target

/* Two sorted lists become one: each element finds its place. */
void merge_lists(unsigned *a, size_t n, unsigned *b, size_t m, unsigned *out)
{
#pragma omp target teams loop
  for (size_t i = 0; i < n; i++)
    out[i + rank_in(b, m, a[i], 0)] = a[i];
#pragma omp target teams loop
  for (size_t i = 0; i < m; i++)
    out[i + rank_in(a, n, b[i], 1)] = b[i];
}

static void merge_ranks(void)
{
  if (!is_wanted("merge_ranks"))
    return;
  const size_t n = SIZED(4000003, 1500), m = SIZED(3000001, 2100);
  unsigned *a = malloc(sizeof(unsigned) * n), *b = malloc(sizeof(unsigned) * m);
  unsigned *out = malloc(sizeof(unsigned) * (n + m));
  for (size_t i = 0; i < n; i++)
    a[i] = 3 * i + mixed(i) % 3;
  for (size_t i = 0; i < m; i++)
    b[i] = 4 * i + mixed(i + 9) % 4;
#pragma omp target data map(to: a[0:n], b[0:m]) map(from: out[0:n + m])
  {
    MEASURE {
      merge_lists(a, n, b, m, out);
    }
  }
  SUM(out, n + m);
  tell("merge_ranks", sum);
  free(a), free(b), free(out);
}

/* Each walker goes from node to node of a graph by chance; how often nodes are seen. */
void walk_all(int walkers, int steps, int nodes, int *first, int *edge, unsigned *seen, long long *ends)
{
#pragma omp target teams distribute parallel for
  for (int i = 0; i < nodes; i++)
    seen[i] = 0;
#pragma omp target teams distribute parallel for
  for (int w = 0; w < walkers; w++) {
    unsigned long long state = 88172645463325252ull + 977 * (unsigned long long)w;
    int at = w % nodes;
    for (int s = 0; s < steps; s++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      unsigned many = first[at + 1] - first[at];
      at = edge[first[at] + (unsigned)(state >> 33) % many];
#pragma omp atomic
      seen[at]++;
    }
    ends[w] = (long long)(state >> 40) + at;
  }
}

static void walks(void)
{
  if (!is_wanted("walks"))
    return;
  const int nodes = SIZED(1 << 17, 400), walkers = SIZED(200000, 500), steps = SIZED(20, 7);
  int *first = malloc(sizeof(int) * (nodes + 1));
  const int edges = fill_rows(nodes, first);
  int *edge = malloc(sizeof(int) * edges);
  unsigned *seen = malloc(sizeof(unsigned) * nodes);
  long long *ends = malloc(sizeof(long long) * walkers);
  fill_columns(nodes, first, 0, edge);
#pragma omp target data map(to: first[0:nodes + 1], edge[0:edges]) map(from: seen[0:nodes], ends[0:walkers])
  {
    MEASURE {
      walk_all(walkers, steps, nodes, first, edge, seen, ends);
    }
  }
  SUM(seen, nodes);
  for (int w = 0; w < walkers; w++)
    sum += ends[w] % 1000;
  tell("walks", sum);
  free(first), free(edge), free(seen), free(ends);
}

typedef struct {
  float x, y, z;
} vec3;

#define GAMMA 1.4f

#pragma acc routine seq
float pressure_of(float density, vec3 momentum, float energy)
{
  float square = (momentum.x * momentum.x + momentum.y * momentum.y + momentum.z * momentum.z) / (density * density);
  return (GAMMA - 1.0f) * (energy - 0.5f * density * square);
}

#pragma acc routine seq
float flux_of(float density, vec3 momentum, float energy, float pressure, vec3 normal, vec3 *along, float *of_energy)
{
  vec3 speed = { momentum.x / density, momentum.y / density, momentum.z / density };
  float through = speed.x * normal.x + speed.y * normal.y + speed.z * normal.z;
  along->x = momentum.x * through + pressure * normal.x;
  along->y = momentum.y * through + pressure * normal.y;
  along->z = momentum.z * through + pressure * normal.z;
  *of_energy = (energy + pressure) * through;
  return density * through;
}

/* What flows between cells of a mesh and their four neighbours; -1 is a wall, -2 what is far away. */
void euler_flux(int cells, int *near, float *normals, float *variables, float *far, float *fluxes)
{
#pragma acc parallel loop present(near, normals, variables, far, fluxes)
  for (int i = 0; i < cells; i++) {
    float density = variables[i], energy = variables[i + 4 * cells];
    vec3 momentum = { variables[i + cells], variables[i + 2 * cells], variables[i + 3 * cells] };
    float pressure = pressure_of(density, momentum, energy);
    float sound = sqrtf(GAMMA * pressure / density);
    float fast = sqrtf(momentum.x * momentum.x + momentum.y * momentum.y + momentum.z * momentum.z) / density + sound;
    float of_density = 0, of_energy = 0;
    vec3 of_momentum = { 0, 0, 0 };
    for (int j = 0; j < 4; j++) {
      int other = near[i + j * cells];
      vec3 normal = { normals[i + (3 * j + 0) * cells], normals[i + (3 * j + 1) * cells],
                      normals[i + (3 * j + 2) * cells] };
      if (other == -1) {
        of_momentum.x += normal.x * pressure;
        of_momentum.y += normal.y * pressure;
        of_momentum.z += normal.z * pressure;
        continue;
      }
      float d2 = other >= 0 ? variables[other] : far[0], e2 = other >= 0 ? variables[other + 4 * cells] : far[4];
      vec3 m2;
      if (other >= 0) {
        m2.x = variables[other + cells];
        m2.y = variables[other + 2 * cells];
        m2.z = variables[other + 3 * cells];
      } else {
        m2.x = far[1];
        m2.y = far[2];
        m2.z = far[3];
      }
      float p2 = pressure_of(d2, m2, e2);
      vec3 mine, theirs;
      float energy1, energy2;
      float density1 = flux_of(density, momentum, energy, pressure, normal, &mine, &energy1);
      float density2 = flux_of(d2, m2, e2, p2, normal, &theirs, &energy2);
      float size = sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
      float damp = 0.5f * 0.2f * size
        * (fast + sqrtf(m2.x * m2.x + m2.y * m2.y + m2.z * m2.z) / d2 + sqrtf(GAMMA * p2 / d2));
      of_density += 0.5f * (density1 + density2) + damp * (density - d2);
      of_energy += 0.5f * (energy1 + energy2) + damp * (energy - e2);
      of_momentum.x += 0.5f * (mine.x + theirs.x) + damp * (momentum.x - m2.x);
      of_momentum.y += 0.5f * (mine.y + theirs.y) + damp * (momentum.y - m2.y);
      of_momentum.z += 0.5f * (mine.z + theirs.z) + damp * (momentum.z - m2.z);
    }
    fluxes[i] = of_density;
    fluxes[i + cells] = of_momentum.x;
    fluxes[i + 2 * cells] = of_momentum.y;
    fluxes[i + 3 * cells] = of_momentum.z;
    fluxes[i + 4 * cells] = of_energy;
  }
}

/* The neighbour `j` of a cell: most are not far away. */
static inline int mesh_neighbour(int cells, int i, int j)
{
  const unsigned m = mixed(4 * i + j);
  if (m % 50 == 0)
    return m / 50 % 2 ? -1 : -2;
  const int at = m % 5 == 0 ? (int)(m % cells) : i - 1000 + (int)(m / 8 % 2001);
  return at < 0 ? 0 : at >= cells ? cells - 1 : at;
}

static void euler(void)
{
  if (!is_wanted("euler"))
    return;
  const int cells = SIZED(400000, 3000);
  int *near = malloc(sizeof(int) * 4 * cells);
  float *normals = malloc(sizeof(float) * 12 * cells), *variables = malloc(sizeof(float) * 5 * cells);
  float *fluxes = malloc(sizeof(float) * 5 * cells), far[5] = { 1.4f, 1.5f, 0.25f, 0, 4 };
  for (int i = 0; i < 4 * cells; i++)
    near[i] = mesh_neighbour(cells, i % cells, i / cells);
  for (int i = 0; i < 12 * cells; i++)
    normals[i] = 0.0625f * value(i);
  for (int i = 0; i < 5 * cells; i++)
    variables[i] = (i < cells ? 2 : i < 4 * cells ? 0 : 5) + 0.0625f * value(i + 3);
#pragma acc data copyin(near[0:4 * cells], normals[0:12 * cells], variables[0:5 * cells], far[0:5]) \
  copyout(fluxes[0:5 * cells])
  {
    MEASURE {
      euler_flux(cells, near, normals, variables, far, fluxes);
    }
  }
  SUM_SIZES(fluxes, 5 * cells);
  tell_rounded("euler", sum);
  free(near), free(normals), free(variables), free(fluxes);
}

/* Where each block of an image was in the last one: the least sum of differences. */
void motion_search(unsigned char *image, unsigned char *last, int *found, int w, int h, int size, int reach)
{
  int blocks_x = w / size, blocks_y = h / size, wide = 2 * reach + 1;
#pragma omp target teams distribute collapse(2)
  for (int by = 0; by < blocks_y; by++)
    for (int bx = 0; bx < blocks_x; bx++) {
      int best = 1 << 30;
#pragma omp parallel for reduction(min: best)
      for (int o = 0; o < wide * wide; o++) {
        int x0 = bx * size + o % wide - reach, y0 = by * size + o / wide - reach;
        if (x0 < 0 || y0 < 0 || x0 + size > w || y0 + size > h)
          continue;
        int sum = 0;
        for (int y = 0; y < size; y++)
          for (int x = 0; x < size; x++)
            sum += abs((int)image[(by * size + y) * w + bx * size + x] - (int)last[(y0 + y) * w + x0 + x]);
        int packed = sum * 1024 + o;
        if (packed < best)
          best = packed;
      }
      found[by * blocks_x + bx] = best;
    }
}

static void motion(void)
{
  if (!is_wanted("motion"))
    return;
  const int w = SIZED(1920, 70), h = SIZED(1080, 50), size = 16, reach = 7, n = w * h;
  const int all = (w / size) * (h / size);
  unsigned char *image = malloc(n), *last = malloc(n);
  int *found = malloc(sizeof(int) * all);
  for (int i = 0; i < n; i++) {
    last[i] = mixed(i / 2) & 255;
    image[i] = (mixed((i + 3 + 2 * w) / 2) & 255) ^ (mixed(i + 77) & 3);
  }
#pragma omp target data map(to: image[0:n], last[0:n]) map(from: found[0:all])
  {
    MEASURE {
      motion_search(image, last, found, w, h, size, reach);
    }
  }
  SUM(found, all);
  tell("motion", sum);
  free(image), free(last), free(found);
}

struct sample {
  float kx, ky, kz, size;
};

/* What a scanner has measured, at points of the body. */
void mri_gather(int points, int samples, float *x, float *y, float *z, struct sample *k, float complex *q)
{
#pragma omp target teams distribute parallel for
  for (int i = 0; i < points; i++) {
    float complex sum = 0;
    for (int s = 0; s < samples; s++) {
      float angle = 6.2831853f * (k[s].kx * x[i] + k[s].ky * y[i] + k[s].kz * z[i]);
      sum += k[s].size * (cosf(angle) + sinf(angle) * I);
    }
    q[i] = sum;
  }
}

static void mri(void)
{
  if (!is_wanted("mri"))
    return;
  const int points = SIZED(60000, 700), samples = SIZED(2048, 90);
  float *x = malloc(sizeof(float) * points), *y = malloc(sizeof(float) * points), *z = malloc(sizeof(float) * points);
  struct sample *k = malloc(sizeof(struct sample) * samples);
  float complex *q = malloc(sizeof(float complex) * points);
  for (int i = 0; i < points; i++)
    x[i] = 0.0625f * value(i), y[i] = 0.0625f * value(i + 1), z[i] = 0.0625f * value(i + 2);
  for (int s = 0; s < samples; s++)
    k[s] = (struct sample){ 0.25f * value(s), 0.25f * value(s + 1), 0.125f * value(s + 2), 1 + s % 5 };
#pragma omp target data map(to: x[0:points], y[0:points], z[0:points], k[0:samples]) map(from: q[0:points])
  {
    MEASURE {
      mri_gather(points, samples, x, y, z, k, q);
    }
  }
  double sum = 0;
  for (int i = 0; i < points; i++)
    sum += fabsf(crealf(q[i])) + 2 * fabsf(cimagf(q[i]));
  tell_rounded("mri", sum);
  free(x), free(y), free(z), free(k), free(q);
}

enum { BINS = 80 };

/* How many values between `lo` and `hi` are in each part; there are at most BINS. */
void tally_run(float *values, long lo, long hi, float least, float width, int bins, int *counts)
{
  for (int b = 0; b < BINS; b++)
    counts[b] = 0;
#pragma omp target teams distribute parallel for reduction(+: counts[0:BINS]) map(tofrom: counts[0:BINS])
  for (long i = lo; i < hi; i++) {
    int b = (int)((values[i] - least) / width);
    if (b >= 0 && b < bins)
      counts[b]++;
  }
}

static void tally(void)
{
  if (!is_wanted("tally"))
    return;
  const long n = SIZED(4000000, 5000);
  const int bins = 77;
  float *values = malloc(sizeof(float) * n);
  int *counts = malloc(sizeof(int) * BINS);
  for (long i = 0; i < n; i++)
    values[i] = 0.125f * (mixed(i) % 1000 * (mixed(i + n) % 1000) / 1000);
#pragma omp target data map(to: values[0:n])
  {
    MEASURE {
      tally_run(values, 3, n - 5, 2, 1.5f, bins, counts);
    }
  }
  SUM(counts, bins);
  tell("tally", sum);
  free(values), free(counts);
}

#endif
