/* Those of public.cu with sparse matrices, graphs, meshes and lists. */
#pragma once
#include "kinds.cuh"

/* Where rows begin, and what columns elements have. */
struct Rows {
  std::vector<int> first, column;
  explicit Rows(int count) : first(count + 1)
  {
    column.resize(fill_rows(count, first.data()));
    fill_columns(count, first.data(), 0, column.data());
  }
};

/* A block for each row. */
__global__ void spmm_naive(const int *__restrict__ first, const int *__restrict__ column, const float *__restrict__ a,
                           const float *__restrict__ x, float *__restrict__ y, int wide)
{
  const int i = blockIdx.x;
  for (int c = threadIdx.x; c < wide; c += blockDim.x) {
    float sum = 0;
    for (int e = first[i]; e < first[i + 1]; e++)
      sum += a[e] * x[column[e] * wide + c];
    y[i * wide + c] = sum;
  }
}
/* A warp for each row; 32 elements are loaded together and go round. */
__global__ void __launch_bounds__(256)
  spmm_tuned(int rows, const int *__restrict__ first, const int *__restrict__ column, const float *__restrict__ a,
             const float2 *__restrict__ x, float2 *__restrict__ y)
{
  const int i = this_thread() / 32, lane = threadIdx.x % 32;
  if (i >= rows)
    return;
  const int begin = first[i], end = first[i + 1];
  float2 sum = make_float2(0, 0);
  for (int e0 = begin; e0 < end; e0 += 32) {
    const int mine = e0 + lane < end ? column[e0 + lane] : 0, many = min(32, end - e0);
    const float own = e0 + lane < end ? a[e0 + lane] : 0;
#pragma unroll 4
    for (int k = 0; k < many; k++) {
      const int row = __shfl_sync(~0u, mine, k);
      const float factor = __shfl_sync(~0u, own, k);
      const float2 v = x[row * 32 + lane];
      sum.x += factor * v.x, sum.y += factor * v.y;
    }
  }
  y[i * 32 + lane] = sum;
}
static void spmm()
{
  if (!is_wanted("spmm"))
    return;
  const int rows = SIZED(50000, 300), wide = 64, n = rows * wide;
  const Rows matrix(rows);
  const int all = (int)matrix.column.size();
  Array<int> first(rows + 1), column(all);
  Array<float> a(all), x(n), y(n);
  first.put(matrix.first), column.put(matrix.column), a.fill(), x.fill();
  compare(
    "spmm", EXACT, [&] { spmm_naive<<<rows, 64>>>(first.at, column.at, a.at, x.at, y.at, wide); },
    [&] {
      spmm_tuned<<<blocks(32L * rows, 256), 256>>>(rows, first.at, column.at, a.at, (float2 *)x.at, (float2 *)y.at);
    },
    [&] { return y.sum(); });
}

__global__ void bfs_begin(int nodes, int source, unsigned char *mask, unsigned char *next, unsigned char *visited,
                          int *cost)
{
  const int i = this_thread();
  if (i >= nodes)
    return;
  mask[i] = visited[i] = i == source;
  next[i] = 0;
  cost[i] = i == source ? 0 : -1;
}
__global__ void bfs_look(int nodes, const int *first, const int *edge, unsigned char *mask, unsigned char *next,
                         const unsigned char *visited, int *cost)
{
  const int i = this_thread();
  if (i >= nodes || !mask[i])
    return;
  mask[i] = 0;
  for (int e = first[i]; e < first[i + 1]; e++) {
    const int other = edge[e];
    if (!visited[other]) {
      cost[other] = cost[i] + 1;
      next[other] = 1;
    }
  }
}
__global__ void bfs_go(int nodes, unsigned char *mask, unsigned char *next, unsigned char *visited, int *again)
{
  const int i = this_thread();
  if (i >= nodes || !next[i])
    return;
  mask[i] = 1;
  visited[i] = 1;
  next[i] = 0;
  *again = 1;
}
__global__ void bfs_tuned_begin(int nodes, int source, int *cost, int *queue)
{
  const int i = this_thread();
  if (i < nodes)
    cost[i] = i == source ? 0 : -1;
  if (i == 0)
    queue[0] = source;
}
/* A warp for each node of the last level; who finds a node puts it in a list for the next. */
__global__ void __launch_bounds__(256)
  bfs_tuned(int many, int level, const int *__restrict__ first, const int *__restrict__ edge, int *cost,
            const int *__restrict__ queue, int *__restrict__ next, int *count)
{
  const int lane = threadIdx.x % 32;
  for (int at = this_thread() / 32; at < many; at += gridDim.x * blockDim.x / 32) {
    const int node = queue[at], begin = first[node], end = first[node + 1];
    for (int e0 = begin; e0 < end; e0 += 32) {
      const int other = e0 + lane < end ? edge[e0 + lane] : -1;
      const bool found = other >= 0 && cost[other] < 0 && atomicCAS(&cost[other], -1, level) < 0;
      const unsigned all = __ballot_sync(~0u, found);
      int place = 0;
      if (lane == 0 && all)
        place = atomicAdd(count, __popc(all));
      place = __shfl_sync(~0u, place, 0);
      if (found)
        next[place + __popc(all & ((1u << lane) - 1))] = other;
    }
  }
}
static void bfs()
{
  if (!is_wanted("bfs"))
    return;
  const int nodes = SIZED(1 << 18, 500);
  const Rows graph(nodes);
  Array<int> first(nodes + 1), edge((long)graph.column.size()), cost(nodes), again(1), queue(nodes), next_queue(nodes);
  Array<unsigned char> mask(nodes), next(nodes), visited(nodes);
  first.put(graph.first), edge.put(graph.column);
  const int all = blocks(nodes, 256);
  const auto naive = [&] {
    bfs_begin<<<all, 256>>>(nodes, 1, mask.at, next.at, visited.at, cost.at);
    do {
      again.clear();
      bfs_look<<<all, 256>>>(nodes, first.at, edge.at, mask.at, next.at, visited.at, cost.at);
      bfs_go<<<all, 256>>>(nodes, mask.at, next.at, visited.at, again.at);
    } while (fetched(again.at));
  };
  const auto tuned = [&] {
    int *now = queue.at, *later = next_queue.at;
    bfs_tuned_begin<<<all, 256>>>(nodes, 1, cost.at, now);
    for (int many = 1, level = 1; many > 0; level++) {
      failed(cudaMemsetAsync(again.at, 0, sizeof(int)));
      bfs_tuned<<<std::min(blocks(32L * many, 256), WIDE), 256>>>(many, level, first.at, edge.at, cost.at, now, later,
                                                                  again.at);
      many = fetched(again.at);
      std::swap(now, later);
    }
  };
  compare("bfs", EXACT, naive, tuned, [&] { return cost.sum(); });
}

__global__ void pagerank_gives(int pages, const int *__restrict__ names, const double *__restrict__ rank,
                               double *__restrict__ gives)
{
  const int i = this_thread();
  if (i < pages)
    gives[i] = names[i] > 0 ? rank[i] / names[i] : 0;
}
__global__ void pagerank_naive(int pages, const int *__restrict__ first, const int *__restrict__ from,
                               const double *__restrict__ rank, const double *__restrict__ gives,
                               double *__restrict__ next, double damping, double *delta)
{
  const int i = this_thread();
  double mine = 0;
  if (i < pages) {
    double sum = 0;
    for (int e = first[i]; e < first[i + 1]; e++)
      sum += gives[from[e]];
    sum = (1 - damping) / pages + damping * sum;
    next[i] = sum;
    mine = fabs(sum - rank[i]);
  }
  mine = tree_sum(mine);
  if (threadIdx.x == 0)
    atomicAdd(delta, mine);
}
/* Eight lanes for each page, which also leave what it gives in the next step. */
__global__ void __launch_bounds__(256)
  pagerank_tuned(int pages, const int *__restrict__ first, const int *__restrict__ from, const int *__restrict__ names,
                 const double *__restrict__ rank, const double *__restrict__ gives, double *__restrict__ next,
                 double *__restrict__ next_gives, double damping, double *delta)
{
  __shared__ double warps[8];
  const int i = this_thread() / 8, lane = threadIdx.x % 8;
  double sum = 0, change = 0;
  if (i < pages)
    for (int e = first[i] + lane; e < first[i + 1]; e += 8)
      sum += gives[from[e]];
  sum = warp_sum<8>(sum);
  if (i < pages && lane == 0) {
    sum = (1 - damping) / pages + damping * sum;
    change = fabs(sum - rank[i]);
    next[i] = sum;
    next_gives[i] = names[i] > 0 ? sum / names[i] : 0;
  }
  change = warp_sum(change);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = change;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++)
      change += warps[w];
    atomicAdd(delta, change);
  }
}
static void pagerank()
{
  if (!is_wanted("pagerank"))
    return;
  const int pages = SIZED(1 << 18, 700);
  const Rows graph(pages);
  std::vector<int> counts(pages);
  for (const int page : graph.column)
    counts[page]++;
  Array<int> first(pages + 1), from((long)graph.column.size()), names(pages);
  Array<double> start(pages), gives(pages), next_gives(pages), a(pages), b(pages), delta(1);
  first.put(graph.first), from.put(graph.column), names.put(counts);
  start.fill([&](long) { return 1.0 / pages; });
  double last = 0;
  const auto steps = [&](auto step) {
    double *old = start.at, *next = a.at, *other = b.at;
    for (int s = 0; s < 4; s++) {
      failed(cudaMemsetAsync(delta.at, 0, sizeof(double)));
      step(s, old, next);
      last = fetched(delta.at);
      old = next;
      next = other;
      other = old;
      if (last < 1e-9)
        break;
    }
  };
  const auto naive = [&](int, const double *old, double *next) {
    pagerank_gives<<<blocks(pages, 256), 256>>>(pages, names.at, old, gives.at);
    pagerank_naive<<<blocks(pages, 256), 256>>>(pages, first.at, from.at, old, gives.at, next, 0.85, delta.at);
  };
  const auto tuned = [&](int s, const double *old, double *next) {
    if (s == 0)
      pagerank_gives<<<blocks(pages, 256), 256>>>(pages, names.at, old, gives.at);
    double *now = s % 2 ? next_gives.at : gives.at, *later = s % 2 ? gives.at : next_gives.at;
    pagerank_tuned<<<blocks(8L * pages, 256), 256>>>(pages, first.at, from.at, names.at, old, now, next, later, 0.85,
                                                     delta.at);
  };
  compare(
    "pagerank", ROUNDED, [&] { steps(naive); }, [&] { steps(tuned); },
    [&] {
      a.clear();
      return b.sum() + last;
    });
}

static __device__ long rank_in(const unsigned *__restrict__ list, long count, unsigned key, bool equal_too)
{
  long low = 0, high = count;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (list[middle] < key || (equal_too && list[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
__global__ void merge_ranks_naive(const unsigned *__restrict__ a, long n, const unsigned *__restrict__ b, long m,
                                  bool equal_too, unsigned *__restrict__ out)
{
  const long i = this_thread();
  if (i < n)
    out[i + rank_in(b, m, a[i], equal_too)] = a[i];
}
/* How many of the first `d` of the merged list are from `a`. */
static __device__ int merge_split(const unsigned *a, int n, const unsigned *b, int m, int d)
{
  int low = max(0, d - m), high = min(d, n);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[d - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
/* A block has a part of the result: where it begins and ends in both lists is found first, then each thread merges
   some in shared memory. */
constexpr int EACH = 9, PART = 256 * EACH;
__global__ void merge_ranks_splits(const unsigned *__restrict__ a, int n, const unsigned *__restrict__ b, int m,
                                   int parts, int *__restrict__ split)
{
  const int p = this_thread();
  if (p <= parts)
    split[p] = merge_split(a, n, b, m, min(p * PART, n + m));
}
__global__ void __launch_bounds__(256)
  merge_ranks_tuned(const unsigned *__restrict__ a, int n, const unsigned *__restrict__ b, int m,
                    const int *__restrict__ split, unsigned *__restrict__ out)
{
  __shared__ unsigned list[PART];
  const int t = threadIdx.x, d0 = blockIdx.x * PART, many = min(PART, n + m - d0);
  const int a0 = split[blockIdx.x], from_a = split[blockIdx.x + 1] - a0, b0 = d0 - a0, from_b = many - from_a;
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const int at = t + 256 * q;
    if (at < many)
      list[at] = at < from_a ? a[a0 + at] : b[b0 + at - from_a];
  }
  __syncthreads();
  const int d = min(t * EACH, many);
  int x = merge_split(list, from_a, list + from_a, from_b, d), y = from_a + d - x;
  unsigned merged[EACH];
#pragma unroll
  for (int q = 0; q < EACH; q++)
    if (d + q < many) {
      const bool is_left = y >= many || (x < from_a && list[x] <= list[y]);
      merged[q] = list[is_left ? x++ : y++];
    }
  __syncthreads();
#pragma unroll
  for (int q = 0; q < EACH; q++)
    if (d + q < many)
      list[d + q] = merged[q];
  __syncthreads();
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const int at = t + 256 * q;
    if (at < many)
      out[d0 + at] = list[at];
  }
}
static void merge_ranks()
{
  if (!is_wanted("merge_ranks"))
    return;
  const int n = SIZED(4000003, 1500), m = SIZED(3000001, 2100), parts = blocks(n + m, PART);
  Array<unsigned> a(n), b(m), out(n + m);
  Array<int> split(parts + 1);
  a.fill([](long i) { return (unsigned)(3 * i + mixed((unsigned)i) % 3); });
  b.fill([](long i) { return (unsigned)(4 * i + mixed((unsigned)i + 9) % 4); });
  const auto naive = [&] {
    merge_ranks_naive<<<blocks(n, 256), 256>>>(a.at, n, b.at, m, false, out.at);
    merge_ranks_naive<<<blocks(m, 256), 256>>>(b.at, m, a.at, n, true, out.at);
  };
  const auto tuned = [&] {
    merge_ranks_splits<<<blocks(parts + 1, 128), 128>>>(a.at, n, b.at, m, parts, split.at);
    merge_ranks_tuned<<<parts, 256>>>(a.at, n, b.at, m, split.at, out.at);
  };
  compare("merge_ranks", EXACT, naive, tuned, [&] { return out.sum(); });
}

__global__ void walks_begin(int nodes, unsigned *seen)
{
  const int i = this_thread();
  if (i < nodes)
    seen[i] = 0;
}
__global__ void walks_naive(int walkers, int steps, int nodes, const int *__restrict__ first,
                            const int *__restrict__ edge, unsigned *seen, long long *__restrict__ ends)
{
  const int w = this_thread();
  if (w >= walkers)
    return;
  unsigned long long state = 88172645463325252ull + 977 * (unsigned long long)w;
  int at = w % nodes;
  for (int s = 0; s < steps; s++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const int begin = first[at];
    const unsigned many = first[at + 1] - begin;
    at = edge[begin + (unsigned)(state >> 33) % many];
    atomicAdd(&seen[at], 1u);
  }
  ends[w] = (long long)(state >> 40) + at;
}
static void walks()
{
  if (!is_wanted("walks"))
    return;
  const int nodes = SIZED(1 << 17, 400), walkers = SIZED(200000, 500), steps = SIZED(20, 7);
  const Rows graph(nodes);
  Array<int> first(nodes + 1), edge((long)graph.column.size());
  Array<unsigned> seen(nodes);
  Array<long long> ends(walkers);
  first.put(graph.first), edge.put(graph.column);
  const auto naive = [&] {
    walks_begin<<<blocks(nodes, 128), 128>>>(nodes, seen.at);
    walks_naive<<<blocks(walkers, 128), 128>>>(walkers, steps, nodes, first.at, edge.at, seen.at, ends.at);
  };
  only("walks", EXACT, naive, [&] {
    double sum = seen.sum();
    for (const long long end : ends.get())
      sum += end % 1000;
    return sum;
  });
}

__global__ void tally_naive(const float *__restrict__ values, long lo, long hi, float least, float width, int bins,
                            int *counts)
{
  const long i = lo + this_thread();
  if (i >= hi)
    return;
  const int b = (int)((values[i] - least) / width);
  if (b >= 0 && b < bins)
    atomicAdd(&counts[b], 1);
}
/* Each warp counts in shared memory. */
constexpr int BINS = 80;
__global__ void __launch_bounds__(256)
  tally_tuned(const float *__restrict__ values, long lo, long hi, float least, float width, int bins, int *counts)
{
  __shared__ int mine[8][BINS];
  const int t = threadIdx.x, step = gridDim.x * 256;
  for (int at = t; at < 8 * BINS; at += 256)
    mine[at / BINS][at % BINS] = 0;
  __syncthreads();
#pragma unroll 4
  for (long i = lo + this_thread(); i < hi; i += step) {
    const int b = (int)((values[i] - least) / width);
    if (b >= 0 && b < bins)
      atomicAdd(&mine[t / 32][b], 1);
  }
  __syncthreads();
  if (t < bins) {
    int sum = 0;
#pragma unroll
    for (int w = 0; w < 8; w++)
      sum += mine[w][t];
    atomicAdd(&counts[t], sum);
  }
}
static void tally()
{
  if (!is_wanted("tally"))
    return;
  const long n = SIZED(4000000, 5000), lo = 3, hi = n - 5;
  const int bins = 77;
  Array<float> values(n);
  Array<int> counts(BINS);
  std::vector<int> result;
  values.fill([&](long i) { return 0.125f * (mixed(i) % 1000 * (mixed(i + n) % 1000) / 1000); });
  const auto run = [&](auto kernel) {
    failed(cudaMemsetAsync(counts.at, 0, BINS * sizeof(int)));
    kernel();
    result = counts.get();
  };
  const auto naive = [&] { tally_naive<<<blocks(hi - lo, 256), 256>>>(values.at, lo, hi, 2, 1.5f, bins, counts.at); };
  const auto tuned = [&] { tally_tuned<<<WIDE, 256>>>(values.at, lo, hi, 2, 1.5f, bins, counts.at); };
  compare(
    "tally", EXACT, [&] { run(naive); }, [&] { run(tuned); },
    [&] {
      double sum = 0;
      for (int b = 0; b < bins; b++)
        sum += result[b] * (1. + b % 7);
      return sum;
    });
}
