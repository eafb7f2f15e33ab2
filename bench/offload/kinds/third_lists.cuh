/* Those of third.cu with lists, keys and graphs. */
#pragma once
#include "kinds.cuh"

constexpr int GROUPS = 13;
struct Sums {
  double total[GROUPS][4];
  int many[GROUPS];
};
__global__ void groups_clear(Sums *sums)
{
  const int k = threadIdx.x;
  if (k >= GROUPS)
    return;
  sums->many[k] = 0;
  for (int c = 0; c < 4; c++)
    sums->total[k][c] = 0;
}
__global__ void groups_naive(int n, const float *__restrict__ point, const float *__restrict__ centre, Sums *sums)
{
  const int i = this_thread();
  if (i >= n)
    return;
  int best = 0;
  float least = 1e30f;
  for (int k = 0; k < GROUPS; k++) {
    float d = 0;
    for (int c = 0; c < 4; c++)
      d += (point[i * 4 + c] - centre[k * 4 + c]) * (point[i * 4 + c] - centre[k * 4 + c]);
    if (d < least)
      least = d, best = k;
  }
  atomicAdd(&sums->many[best], 1);
  for (int c = 0; c < 4; c++)
    atomicAdd(&sums->total[best][c], (double)point[i * 4 + c]);
}
__global__ void groups_end(const float *__restrict__ centre, const Sums *__restrict__ sums, float *__restrict__ moved)
{
  const int at = threadIdx.x, k = at / 4, c = at % 4;
  if (k < GROUPS)
    moved[at] = sums->many[k] > 0 ? sums->total[k][c] / sums->many[k] : centre[at];
}
/* Sums of each thread in shared memory, then of the block. */
__global__ void __launch_bounds__(128)
  groups_tuned(int n, const float4 *__restrict__ point, const float4 *__restrict__ centre, Sums *sums)
{
  __shared__ float mine[GROUPS][5][128];
  __shared__ float4 centres[GROUPS];
  const int t = threadIdx.x;
  if (t < GROUPS)
    centres[t] = centre[t];
  for (int k = 0; k < GROUPS; k++)
#pragma unroll
    for (int c = 0; c < 5; c++)
      mine[k][c][t] = 0;
  __syncthreads();
  for (int i = this_thread(); i < n; i += gridDim.x * 128) {
    const float4 p = point[i];
    int best = 0;
    float least = 1e30f;
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
      const float x = p.x - centres[k].x, y = p.y - centres[k].y, z = p.z - centres[k].z, w = p.w - centres[k].w;
      const float d = x * x + y * y + z * z + w * w;
      best = d < least ? k : best;
      least = fminf(least, d);
    }
    mine[best][0][t] += p.x, mine[best][1][t] += p.y, mine[best][2][t] += p.z, mine[best][3][t] += p.w;
    mine[best][4][t] += 1;
  }
  __syncthreads();
  for (int at = t / 32; at < GROUPS * 5; at += 4) {
    const float *row = mine[at / 5][at % 5];
    double sum = 0;
#pragma unroll
    for (int q = 0; q < 4; q++)
      sum += row[t % 32 + 32 * q];
    sum = warp_sum(sum);
    if (t % 32 == 0) {
      if (at % 5 < 4)
        atomicAdd(&sums->total[at / 5][at % 5], sum);
      else
        atomicAdd(&sums->many[at / 5], (int)sum);
    }
  }
}
static void groups()
{
  if (!is_wanted("groups"))
    return;
  const int n = SIZED(1 << 19, 1000);
  Array<float> point(4 * n), centre(GROUPS * 4), moved(GROUPS * 4);
  Array<Sums> sums(1);
  point.fill();
  centre.fill([](long i) { return (float)((int)(mixed(i) % 16) - 8); });
  const auto naive = [&] {
    groups_clear<<<1, 32>>>(sums.at);
    groups_naive<<<blocks(n, 256), 256>>>(n, point.at, centre.at, sums.at);
    groups_end<<<1, 64>>>(centre.at, sums.at, moved.at);
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(sums.at, 0, sizeof(Sums)));
    groups_tuned<<<SIZED(660, 3), 128>>>(n, (float4 *)point.at, (float4 *)centre.at, sums.at);
    groups_end<<<1, 64>>>(centre.at, sums.at, moved.at);
  };
  compare("groups", ROUNDED, naive, tuned, [&] { return moved.sum(true); });
}

constexpr int DIGITS = 16, SHIFT = 8;
__device__ __forceinline__ int digit(unsigned key) { return key >> SHIFT & (DIGITS - 1); }
__global__ void sorting_count(int parts, int part, const unsigned *__restrict__ key, int *__restrict__ count)
{
  const int p = this_thread();
  if (p >= parts)
    return;
  int mine[DIGITS] = {};
  for (int i = p * part; i < (p + 1) * part; i++)
    mine[digit(key[i])]++;
  for (int d = 0; d < DIGITS; d++)
    count[d * parts + p] = mine[d];
}
__global__ void sorting_scatter(int parts, int part, const unsigned *__restrict__ key, const int *__restrict__ place,
                                unsigned *__restrict__ sorted)
{
  const int p = this_thread();
  if (p >= parts)
    return;
  int next[DIGITS];
  for (int d = 0; d < DIGITS; d++)
    next[d] = place[d * parts + p];
  for (int i = p * part; i < (p + 1) * part; i++)
    sorted[next[digit(key[i])]++] = key[i];
}
/* The sum of all before in the block of 1024; `all` gets that of the whole block. */
__device__ int before_in_block(int x, int &all)
{
  __shared__ int warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = x;
#pragma unroll
  for (int far = 1; far < 32; far *= 2) {
    const int other = __shfl_up_sync(~0u, x, far);
    x += lane >= far ? other : 0;
  }
  __syncthreads();
  if (lane == 31)
    warps[warp] = x;
  __syncthreads();
  if (warp == 0) {
    int sum = warps[lane];
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const int other = __shfl_up_sync(~0u, sum, far);
      sum += lane >= far ? other : 0;
    }
    warps[lane] = sum;
  }
  __syncthreads();
  all = warps[31];
  return x - own + (warp > 0 ? warps[warp - 1] : 0);
}
__global__ void __launch_bounds__(1024) sorting_sums(int n, const int *__restrict__ count, int *__restrict__ sums)
{
  const int i = this_thread();
  int all;
  before_in_block(i < n ? count[i] : 0, all);
  if (threadIdx.x == 0)
    sums[blockIdx.x] = all;
}
/* In one block; up to 1024 * `EACH` counts. */
template <int EACH> __global__ void __launch_bounds__(1024) sorting_scan(int n, const int *count, int *place)
{
  int x[EACH], sum = 0, all;
  const int first = threadIdx.x * EACH;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    x[k] = first + k < n ? count[first + k] : 0;
    sum += x[k];
  }
  int before = before_in_block(sum, all);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    if (first + k < n)
      place[first + k] = before;
    before += x[k];
  }
}
__global__ void __launch_bounds__(1024)
  sorting_places(int n, const int *__restrict__ count, const int *__restrict__ sums, int *__restrict__ place)
{
  const int i = this_thread();
  int all;
  const int before = before_in_block(i < n ? count[i] : 0, all);
  if (i < n)
    place[i] = before + sums[blockIdx.x];
}
/* Blocks of 4096 keys count in shared memory. */
constexpr int TILE = 4096;
__global__ void __launch_bounds__(256)
  sorting_count_tuned(int n, int tiles, const unsigned *__restrict__ key, int *__restrict__ count)
{
  __shared__ int mine[8][DIGITS];
  const int t = threadIdx.x;
  if (t < 8 * DIGITS)
    mine[t / DIGITS][t % DIGITS] = 0;
  __syncthreads();
#pragma unroll 4
  for (int k = 0; k < TILE / 256; k++) {
    const int i = blockIdx.x * TILE + k * 256 + t;
    if (i < n)
      atomicAdd(&mine[t / 32][digit(key[i])], 1);
  }
  __syncthreads();
  if (t < DIGITS) {
    int sum = 0;
#pragma unroll
    for (int w = 0; w < 8; w++)
      sum += mine[w][t];
    count[t * tiles + blockIdx.x] = sum;
  }
}
/* They are sorted there before they go out; each warp has 512 neighbours and finds equal digits by a vote. */
__global__ void __launch_bounds__(256)
  sorting_scatter_tuned(int n, int tiles, const unsigned *__restrict__ key, const int *__restrict__ place,
                        unsigned *__restrict__ sorted)
{
  __shared__ unsigned tile[TILE];
  __shared__ int next[8][DIGITS], begins[DIGITS];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * TILE;
  unsigned mine[16];
  int rank[16];
  if (lane < DIGITS)
    next[warp][lane] = 0;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    const int i = first + warp * 512 + k * 32 + lane;
    mine[k] = i < n ? key[i] : ~0u;
  }
#pragma unroll
  for (int k = 0; k < 16; k++) {
    const int d = first + warp * 512 + k * 32 + lane < n ? digit(mine[k]) : DIGITS;
    const unsigned same = __match_any_sync(~0u, d), earlier = same & ((1u << lane) - 1);
    const int had = d < DIGITS ? next[warp][d] : 0;
    __syncwarp();
    rank[k] = had + __popc(earlier);
    if (d < DIGITS && earlier == 0)
      next[warp][d] = had + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  if (t < DIGITS) {
    int sum = 0;
    for (int w = 0; w < 8; w++) {
      const int here = next[w][t];
      next[w][t] = sum;
      sum += here;
    }
    begins[t] = sum;
  }
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int d = 0; d < DIGITS; d++) {
      const int here = begins[d];
      begins[d] = sum;
      sum += here;
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; k++)
    if (first + warp * 512 + k * 32 + lane < n)
      tile[begins[digit(mine[k])] + next[warp][digit(mine[k])] + rank[k]] = mine[k];
  __syncthreads();
#pragma unroll 4
  for (int at = t; at < min(TILE, n - first); at += 256) {
    const unsigned one = tile[at];
    const int d = digit(one);
    sorted[place[d * tiles + blockIdx.x] + at - begins[d]] = one;
  }
}
static void sorting_step()
{
  if (!is_wanted("sorting_step"))
    return;
  const int part = 256, parts = SIZED(1 << 14, 40), n = part * parts, tiles = blocks(n, TILE);
  const int counts = DIGITS * parts, groups = blocks(counts, 1024);
  Array<unsigned> key(n), sorted(n);
  Array<int> count(counts), place(counts), sums(1024);
  key.fill([](long i) { return mixed(i) >> 8; });
  const auto naive = [&] {
    sorting_count<<<blocks(parts, 128), 128>>>(parts, part, key.at, count.at);
    sorting_sums<<<groups, 1024>>>(counts, count.at, sums.at);
    sorting_scan<1><<<1, 1024>>>(groups, sums.at, sums.at);
    sorting_places<<<groups, 1024>>>(counts, count.at, sums.at, place.at);
    sorting_scatter<<<blocks(parts, 128), 128>>>(parts, part, key.at, place.at, sorted.at);
  };
  const auto tuned = [&] {
    sorting_count_tuned<<<tiles, 256>>>(n, tiles, key.at, count.at);
    sorting_scan<16><<<1, 1024>>>(DIGITS * tiles, count.at, place.at);
    sorting_scatter_tuned<<<tiles, 256>>>(n, tiles, key.at, place.at, sorted.at);
  };
  compare("sorting_step", EXACT, naive, tuned, [&] { return sorted.sum(); });
}

__global__ void triples_naive(int all, const int *__restrict__ row, const int *__restrict__ column,
                              const double *__restrict__ a, const double *__restrict__ x, double *y)
{
  const int e = this_thread();
  if (e < all)
    atomicAdd(&y[row[e]], a[e] * x[column[e]]);
}
/* Sums of elements of a row that are neighbours, in a warp, before they go out. */
__global__ void __launch_bounds__(256)
  triples_tuned(int all, const int *__restrict__ row, const int *__restrict__ column, const double *__restrict__ a,
                const double *__restrict__ x, double *y)
{
  constexpr int EACH = 4;
  const int lane = threadIdx.x % 32, first = this_thread() / 32 * 32 * EACH + lane;
  int rows[EACH];
  double sums[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int e = first + 32 * k;
    rows[k] = e < all ? row[e] : -1;
    sums[k] = e < all ? a[e] * x[column[e]] : 0;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const double other = __shfl_down_sync(~0u, sums[k], far);
      const int whose = __shfl_down_sync(~0u, rows[k], far);
      if (lane + far < 32 && whose == rows[k])
        sums[k] += other;
    }
    const int last = __shfl_up_sync(~0u, rows[k], 1);
    if (rows[k] >= 0 && (lane == 0 || last != rows[k]))
      atomicAdd(&y[rows[k]], sums[k]);
  }
}
static void triples()
{
  if (!is_wanted("triples"))
    return;
  const int n = SIZED(1 << 18, 300);
  std::vector<int> first(n + 1);
  const int all = fill_rows(n, first.data());
  std::vector<int> rows(all), columns(all);
  for (int i = 0; i < n; i++)
    for (int e = first[i]; e < first[i + 1]; e++)
      rows[e] = i;
  fill_columns(n, first.data(), 1000, columns.data());
  Array<int> row(all), column(all);
  Array<double> a(all), x(n), y(n);
  row.put(rows), column.put(columns), a.fill(), x.fill();
  const auto naive = [&] {
    failed(cudaMemsetAsync(y.at, 0, sizeof(double) * n));
    triples_naive<<<blocks(all, 256), 256>>>(all, row.at, column.at, a.at, x.at, y.at);
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(y.at, 0, sizeof(double) * n));
    triples_tuned<<<blocks(all, 1024), 256>>>(all, row.at, column.at, a.at, x.at, y.at);
  };
  compare("triples", EXACT, naive, tuned, [&] { return y.sum(); });
}

__global__ void islands_begin(int n, int *least, int *last)
{
  const int i = this_thread();
  if (i < n)
    least[i] = last[i] = i;
}
__global__ void islands_edges(int edges, const int *__restrict__ from, const int *__restrict__ to,
                              const int *__restrict__ last, int *least)
{
  const int e = this_thread();
  if (e >= edges)
    return;
  const int a = last[from[e]], b = last[to[e]];
  if (a < b)
    atomicMin(&least[to[e]], a);
  else if (b < a)
    atomicMin(&least[from[e]], b);
}
__global__ void islands_jump(int n, const int *__restrict__ least, int *__restrict__ last, int *changed)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const int found = least[least[i]];
  if (found != last[i])
    *changed = 1;
  last[i] = found;
}
__global__ void islands_copy(int n, int *__restrict__ least, const int *__restrict__ last)
{
  const int i = this_thread();
  if (i < n)
    least[i] = last[i];
}
/* Trees of those that are together; roots are joined by an exchange. */
__device__ int root_of(volatile int *parent, int i)
{
  for (int up = parent[i]; up != i; up = parent[i]) {
    const int next = parent[up];
    if (next != up)
      parent[i] = next;
    i = up;
  }
  return i;
}
__global__ void islands_join(int edges, const int *__restrict__ from, const int *__restrict__ to, int *parent)
{
  const int e = this_thread();
  if (e >= edges)
    return;
  int a = root_of(parent, from[e]), b = root_of(parent, to[e]);
  while (a != b) {
    if (a < b) {
      const int t = a;
      a = b, b = t;
    }
    const int had = atomicCAS(&parent[a], a, b);
    if (had == a)
      break;
    a = root_of(parent, had), b = root_of(parent, b);
  }
}
__global__ void islands_flatten(int n, int *parent)
{
  const int i = this_thread();
  if (i >= n)
    return;
  int at = i;
  while (((volatile int *)parent)[at] != at)
    at = ((volatile int *)parent)[at];
  parent[i] = at;
}
static void islands()
{
  if (!is_wanted("islands"))
    return;
  const int n = SIZED(1 << 19, 500), edges = n;
  Array<int> from(edges), to(edges), least(n), last(n), changed(1);
  from.fill([&](long e) { return (int)(mixed(e) % n); });
  to.fill([&](long e) { return (int)(mixed(edges + e) % n); });
  const auto naive = [&] {
    islands_begin<<<blocks(n, 256), 256>>>(n, least.at, last.at);
    do {
      failed(cudaMemsetAsync(changed.at, 0, sizeof(int)));
      islands_edges<<<blocks(edges, 256), 256>>>(edges, from.at, to.at, last.at, least.at);
      islands_jump<<<blocks(n, 256), 256>>>(n, least.at, last.at, changed.at);
      islands_copy<<<blocks(n, 256), 256>>>(n, least.at, last.at);
    } while (fetched(changed.at));
  };
  const auto tuned = [&] {
    islands_begin<<<blocks(n, 256), 256>>>(n, least.at, last.at);
    islands_join<<<blocks(edges, 256), 256>>>(edges, from.at, to.at, least.at);
    islands_flatten<<<blocks(n, 256), 256>>>(n, least.at);
  };
  compare("islands", EXACT, naive, tuned, [&] { return least.sum(); });
}

struct Node {
  int key, value, left, right;
};
__global__ void tree_naive(int queries, int root, const Node *__restrict__ at, const int *__restrict__ query,
                           int *__restrict__ answer)
{
  const int i = this_thread();
  if (i >= queries)
    return;
  int found = -1;
  for (int n = root; n >= 0;) {
    const Node here = at[n];
    if (here.key == query[i]) {
      found = here.value;
      break;
    }
    if (here.key < query[i])
      found = here.value;
    n = here.key < query[i] ? here.right : here.left;
  }
  answer[i] = found;
}
/* The upper levels in shared memory, for many queries; two at a time go down. */
constexpr int TOP = SIZED(10, 4);
__global__ void __launch_bounds__(512)
  tree_tuned(int queries, int root, const int4 *__restrict__ at, const int *__restrict__ query,
             int *__restrict__ answer)
{
  __shared__ int4 top[1 << TOP];
  if (threadIdx.x == 0)
    top[1] = at[root];
  for (int level = 1; level < TOP; level++) {
    __syncthreads();
    for (int k = (1 << level) + threadIdx.x; k < 2 << level; k += 512)
      top[k] = at[k & 1 ? top[k / 2].w : top[k / 2].z];
  }
  __syncthreads();
  const int step = gridDim.x * 512;
  for (int first = this_thread(); first < queries; first += 2 * step) {
    int wanted[2], found[2], n[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      wanted[q] = first + q * step < queries ? query[first + q * step] : 0;
      found[q] = -1;
      int k = 1;
#pragma unroll
      for (int level = 0; level < TOP; level++) {
        const int4 here = top[k];
        const bool is_right = here.x <= wanted[q];
        found[q] = is_right ? here.y : found[q];
        n[q] = is_right ? here.w : here.z;
        k = 2 * k + is_right;
      }
    }
    while (n[0] >= 0 || n[1] >= 0)
#pragma unroll
      for (int q = 0; q < 2; q++)
        if (n[q] >= 0) {
          const int4 here = at[n[q]];
          const bool is_right = here.x <= wanted[q];
          found[q] = is_right ? here.y : found[q];
          n[q] = is_right ? here.w : here.z;
        }
#pragma unroll
    for (int q = 0; q < 2; q++)
      if (first + q * step < queries)
        answer[first + q * step] = found[q];
  }
}
static void tree()
{
  if (!is_wanted("tree"))
    return;
  const int levels = SIZED(20, 8), n = 1 << levels, queries = SIZED(1000003, 500);
  std::vector<Node> nodes(n);
  for (int level = 0, i = 1; level < levels; level++)
    for (; i < 2 << level; i++) {
      const int step = n >> level, key = (i - (1 << level)) * step + step / 2;
      const bool is_last = level == levels - 1;
      nodes[permuted(i, n)]
        = Node{ 3 * key, i % 1000, is_last ? -1 : (int)permuted(2 * i, n), is_last ? -1 : (int)permuted(2 * i + 1, n) };
    }
  const int root = permuted(1, n);
  Array<Node> at(n);
  Array<int> query(queries), answer(queries);
  at.put(nodes);
  query.fill([&](long i) { return (int)(mixed(i) % (3 * n)); });
  compare(
    "tree", EXACT, [&] { tree_naive<<<blocks(queries, 256), 256>>>(queries, root, at.at, query.at, answer.at); },
    [&] { tree_tuned<<<SIZED(528, 2), 512>>>(queries, root, (int4 *)at.at, query.at, answer.at); },
    [&] { return answer.sum(); });
}

__global__ void hashes_clear(int table, unsigned *slot, int *count)
{
  const int h = this_thread();
  if (h < table)
    slot[h] = 0, count[h] = 0;
}
__global__ void hashes_naive(int n, int table, const unsigned *__restrict__ key, unsigned *slot, int *count)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const unsigned k = key[i];
  unsigned h = k * 2654435761u % table;
  for (;;) {
    const unsigned old = atomicCAS(&slot[h], 0u, k);
    if (old == 0 || old == k)
      break;
    h = (h + 1) % table;
  }
  atomicAdd(&count[h], 1);
}
/* It looks before it exchanges. */
__global__ void hashes_tuned(int n, int table, const unsigned *__restrict__ key, unsigned *slot, int *count)
{
  const int i = this_thread();
  if (i >= n)
    return;
  const unsigned k = key[i];
  unsigned h = k * 2654435761u & (table - 1);
  for (;; h = (h + 1) & (table - 1)) {
    unsigned old = ((volatile unsigned *)slot)[h];
    if (old == 0)
      old = atomicCAS(&slot[h], 0u, k);
    if (old == 0 || old == k)
      break;
  }
  atomicAdd(&count[h], 1);
}
static void hashes()
{
  if (!is_wanted("hashes"))
    return;
  const int n = SIZED(1 << 20, 800), table = SIZED(1 << 20, 1024);
  Array<unsigned> key(n), slot(table);
  Array<int> count(table);
  key.fill([&](long i) { return 1 + mixed(i) % (n / 2); });
  const auto naive = [&] {
    hashes_clear<<<blocks(table, 256), 256>>>(table, slot.at, count.at);
    hashes_naive<<<blocks(n, 256), 256>>>(n, table, key.at, slot.at, count.at);
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(slot.at, 0, sizeof(unsigned) * table));
    failed(cudaMemsetAsync(count.at, 0, sizeof(int) * table));
    hashes_tuned<<<blocks(n, 256), 256>>>(n, table, key.at, slot.at, count.at);
  };
  const auto sum = [&] {
    const std::vector<unsigned> keys = slot.get();
    const std::vector<int> counts = count.get();
    slot.clear(), count.clear();
    double sum = 0;
    for (int h = 0; h < table; h++)
      sum += (double)counts[h] * (keys[h] % 1000) + (keys[h] > 0);
    return sum;
  };
  compare("hashes", EXACT, naive, tuned, sum);
}
