/* Those of third.cu with strings, bits, boards and levels. */
#pragma once
#include "kinds.cuh"

struct Word {
  char at[8];
};
__global__ void letters_naive(long n, const char *__restrict__ text, Word word, unsigned long long *found)
{
  const long i = this_thread();
  int wrong = 0;
  if (i < n)
    for (int k = 0; k < 8 && wrong <= 2; k++)
      if (text[i + k] != word.at[k])
        wrong++;
  const int all = tree_sum(i < n && wrong <= 2 ? 1 : 0);
  if (threadIdx.x == 0)
    atomicAdd(found, (unsigned long long)all);
}
/* A bit for each byte that is not 0; letters have no highest bit. */
__device__ __forceinline__ unsigned differing(unsigned x) { return (x + 0x7f7f7f7fu) & 0x80808080u; }
/* Sixteen places for each thread, four letters compared at a time. */
__global__ void __launch_bounds__(256)
  letters_tuned(int n, const uint4 *__restrict__ text, unsigned low, unsigned high, unsigned long long *found)
{
  int mine = 0;
  for (int i = this_thread(); i < n; i += gridDim.x * 256) {
    const uint4 here = text[i];
    const uint2 next = *(const uint2 *)&text[i + 1];
    const unsigned words[6] = { here.x, here.y, here.z, here.w, next.x, next.y };
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const unsigned a = __funnelshift_r(words[k / 4], words[k / 4 + 1], k % 4 * 8);
      const unsigned b = k < 12 ? __funnelshift_r(words[k / 4 + 1], words[k / 4 + 2], k % 4 * 8)
                                : k % 4 ? __funnelshift_r(words[4], words[5], k % 4 * 8) : words[4];
      mine += __popc(differing(a ^ low) | differing(b ^ high) >> 1) <= 2;
    }
  }
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0)
    atomicAdd(found, (unsigned long long)mine);
}
static void letters()
{
  if (!is_wanted("letters"))
    return;
  const int n = SIZED(1 << 25, 5000);
  Array<char> text(n + 16);
  Array<unsigned long long> found(1);
  text.fill([](long i) { return "ACGT"[mixed(i) >> 9 & 3]; });
  Word word;
  memcpy(word.at, "GATTACAG", 8);
  unsigned low, high;
  memcpy(&low, word.at, 4), memcpy(&high, word.at + 4, 4);
  double result;
  const auto naive = [&] {
    failed(cudaMemsetAsync(found.at, 0, 8));
    letters_naive<<<blocks(n, 256), 256>>>(n, text.at, word, found.at);
    result = fetched(found.at);
  };
  /* What is left of the last sixteen goes with the others' last. */
  const auto tuned = [&] {
    failed(cudaMemsetAsync(found.at, 0, 8));
    letters_tuned<<<WIDE, 256>>>(n / 16, (uint4 *)text.at, low, high, found.at);
    if (n % 16)
      letters_naive<<<1, 256>>>(n % 16, text.at + n / 16 * 16, word, found.at);
    result = fetched(found.at);
  };
  compare("letters", EXACT, naive, tuned, [&] { return result; });
}

template <int N> __global__ void queens_naive(int begins, unsigned long long *ways)
{
  const int begin = this_thread();
  int mine = 0;
  if (begin < begins) {
    unsigned column[N + 1], left[N + 1], right[N + 1], open[N + 1];
    column[0] = left[0] = right[0] = 0;
    int row = 0;
    bool valid = true;
    for (int rest = begin; row < 4; row++, rest /= N) {
      const unsigned bit = 1u << rest % N;
      if (bit & (column[row] | left[row] | right[row])) {
        valid = false;
        break;
      }
      column[row + 1] = column[row] | bit;
      left[row + 1] = (left[row] | bit) << 1;
      right[row + 1] = (right[row] | bit) >> 1;
    }
    const unsigned full = (1u << N) - 1;
    open[row] = full & ~(column[row] | left[row] | right[row]);
    while (valid && row >= 4) {
      if (open[row] == 0) {
        row--;
        continue;
      }
      const unsigned bit = open[row] & -open[row];
      open[row] ^= bit;
      if (row == N - 1) {
        mine++;
        continue;
      }
      column[row + 1] = column[row] | bit;
      left[row + 1] = (left[row] | bit) << 1;
      right[row + 1] = (right[row] | bit) >> 1;
      row++;
      open[row] = full & ~(column[row] | left[row] | right[row]);
    }
  }
  const int all = tree_sum(mine);
  if (threadIdx.x == 0)
    atomicAdd(ways, (unsigned long long)all);
}
/* A beginning that stands, for those of the next kernel. */
struct Board {
  unsigned column, left, right;
};
template <int N, int ROWS> __global__ void queens_begin(int begins, Board *boards, int *many)
{
  const int begin = this_thread();
  Board b{ 0, 0, 0 };
  bool valid = begin < begins;
#pragma unroll
  for (int row = 0, rest = begin; row < ROWS; row++, rest /= N) {
    const unsigned bit = 1u << rest % N;
    valid = valid && !(bit & (b.column | b.left | b.right));
    b = Board{ b.column | bit, (b.left | bit) << 1, (b.right | bit) >> 1 };
  }
  const unsigned those = __ballot_sync(~0u, valid);
  const int lane = threadIdx.x % 32;
  int first = 0;
  if (lane == 0 && those)
    first = atomicAdd(many, __popc(those));
  first = __shfl_sync(~0u, first, 0);
  if (valid)
    boards[first + __popc(those & ((1u << lane) - 1))] = b;
}
/* All that stand, the stack in shared memory. */
template <int N, int ROWS>
__global__ void __launch_bounds__(128)
  queens_tuned(const Board *__restrict__ boards, const int *__restrict__ many, unsigned long long *ways)
{
  __shared__ uint4 stack[N - ROWS][128];
  const int t = threadIdx.x;
  const unsigned full = (1u << N) - 1;
  int mine = 0;
  for (int i = this_thread(); i < *many; i += gridDim.x * 128) {
    const Board b = boards[i];
    unsigned column = b.column, left = b.left, right = b.right, open = full & ~(column | left | right);
    int depth = 0;
    for (;;) {
      if (open == 0) {
        if (depth == 0)
          break;
        const uint4 had = stack[--depth][t];
        column = had.x, left = had.y, right = had.z, open = had.w;
        continue;
      }
      const unsigned bit = open & -open;
      open ^= bit;
      if (depth == N - ROWS - 1) {
        mine++;
        continue;
      }
      stack[depth++][t] = make_uint4(column, left, right, open);
      column |= bit, left = (left | bit) << 1, right = (right | bit) >> 1;
      open = full & ~(column | left | right);
    }
  }
  mine = warp_sum(mine);
  if (t % 32 == 0)
    atomicAdd(ways, (unsigned long long)mine);
}
static void queens()
{
  if (!is_wanted("queens"))
    return;
  constexpr int n = SIZED(13, 7), rows = SIZED(5, 3);
  int begins = 1;
  for (int row = 0; row < rows; row++)
    begins *= n;
  Array<unsigned long long> ways(1);
  Array<Board> boards(begins);
  Array<int> many(1);
  double result;
  const auto naive = [&] {
    failed(cudaMemsetAsync(ways.at, 0, 8));
    queens_naive<n><<<blocks(n * n * n * n, 256), 256>>>(n * n * n * n, ways.at);
    result = fetched(ways.at);
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(ways.at, 0, 8));
    failed(cudaMemsetAsync(many.at, 0, sizeof(int)));
    queens_begin<n, rows><<<blocks(begins, 256), 256>>>(begins, boards.at, many.at);
    queens_tuned<n, rows><<<SIZED(1320, 2), 128>>>(boards.at, many.at, ways.at);
    result = fetched(ways.at);
  };
  compare("queens", EXACT, naive, tuned, [&] { return result; });
}

constexpr int WORDS = 32;
/* A block for each of the first, as teams are there. */
__global__ void fingerprints_naive(int many, const unsigned *__restrict__ a, const unsigned *__restrict__ b,
                                   int *__restrict__ like)
{
  const int i = blockIdx.x;
  int mine = 0;
  for (int j = threadIdx.x; j < many; j += 256) {
    int both = 0, any = 0;
    for (int k = 0; k < WORDS; k++) {
      both += __popc(a[i * WORDS + k] & b[j * WORDS + k]);
      any += __popc(a[i * WORDS + k] | b[j * WORDS + k]);
    }
    if (100 * both >= 62 * any)
      mine++;
  }
  mine = tree_sum(mine);
  if (threadIdx.x == 0)
    like[i] = mine;
}
/* Tiles of 64 x 64 in shared memory, 4 x 4 for each thread; what any has follows from the sums of both. */
__global__ void __launch_bounds__(256)
  fingerprints_tuned(int n, int many, const unsigned *__restrict__ a, const unsigned *__restrict__ b, int *like)
{
  __shared__ unsigned as[WORDS][65], bs[WORDS][65];
  __shared__ int bits[2][64], counts[64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, top = blockIdx.y * 64, left = blockIdx.x * 64;
  const int lane = t % 32;
#pragma unroll
  for (int q = t / 32; q < 64; q += 8) {
    const unsigned x = top + q < n ? a[(top + q) * WORDS + lane] : 0;
    const unsigned y = left + q < many ? b[(left + q) * WORDS + lane] : 0;
    as[lane][q] = x, bs[lane][q] = y;
    const int xs = warp_sum(__popc(x)), ys = warp_sum(__popc(y));
    if (lane == 0)
      bits[0][q] = xs, bits[1][q] = ys;
  }
  if (t < 64)
    counts[t] = 0;
  __syncthreads();
  int both[4][4] = {};
#pragma unroll 8
  for (int k = 0; k < WORDS; k++) {
    unsigned x[4], y[4];
#pragma unroll
    for (int r = 0; r < 4; r++)
      x[r] = as[k][ty + 16 * r], y[r] = bs[k][tx + 16 * r];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
      for (int c = 0; c < 4; c++)
        both[r][c] += __popc(x[r] & y[c]);
  }
#pragma unroll
  for (int r = 0; r < 4; r++) {
    int mine = 0;
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int any = bits[0][ty + 16 * r] + bits[1][tx + 16 * c] - both[r][c];
      mine += left + tx + 16 * c < many && 100 * both[r][c] >= 62 * any;
    }
    mine = warp_sum<16>(mine);
    if (tx == 0)
      counts[ty + 16 * r] = mine;
  }
  __syncthreads();
  if (t < 64 && top + t < n && counts[t])
    atomicAdd(&like[top + t], counts[t]);
}
static void fingerprints()
{
  if (!is_wanted("fingerprints"))
    return;
  const int n = SIZED(3001, 20), many = SIZED(5003, 70);
  Array<unsigned> a(n * WORDS), b(many * WORDS);
  Array<int> like(n);
  a.fill([](long i) { return mixed(i) | mixed(i / WORDS % 50); });
  b.fill([](long i) { return mixed(i + 12345) | mixed(i / WORDS % 70); });
  const auto tuned = [&] {
    failed(cudaMemsetAsync(like.at, 0, sizeof(int) * n));
    fingerprints_tuned<<<dim3(blocks(many, 64), blocks(n, 64)), 256>>>(n, many, a.at, b.at, like.at);
  };
  compare(
    "fingerprints", EXACT, [&] { fingerprints_naive<<<n, 256>>>(many, a.at, b.at, like.at); }, tuned,
    [&] { return like.sum(); });
}

__device__ __forceinline__ void solve_row(int i, const int *__restrict__ first, const int *__restrict__ column,
                                          const double *__restrict__ a, const double *__restrict__ diagonal,
                                          const double *__restrict__ b, double *x)
{
  double s = b[i];
  for (int e = first[i]; e < first[i + 1]; e++)
    s -= a[e] * x[column[e]];
  x[i] = s / diagonal[i];
}
__global__ void levels_naive(int from, int to, const int *__restrict__ order, const int *__restrict__ first,
                             const int *__restrict__ column, const double *__restrict__ a,
                             const double *__restrict__ diagonal, const double *__restrict__ b, double *x)
{
  const int k = from + this_thread();
  if (k < to)
    solve_row(order[k], first, column, a, diagonal, b, x);
}
/* All levels in one block. */
__global__ void __launch_bounds__(256)
  levels_tuned(int levels, const int *__restrict__ begin, const int *__restrict__ order, const int *__restrict__ first,
               const int *__restrict__ column, const double *__restrict__ a, const double *__restrict__ diagonal,
               const double *__restrict__ b, double *x)
{
  for (int level = 0; level < levels; level++) {
    const int to = begin[level + 1];
    for (int k = begin[level] + threadIdx.x; k < to; k += 256)
      solve_row(order[k], first, column, a, diagonal, b, x);
    __syncthreads();
  }
}
static void levels()
{
  if (!is_wanted("levels"))
    return;
  const int g = SIZED(191, 20), n = g * g, count = 2 * g - 1;
  std::vector<int> firsts(n + 1), columns, begins(count + 1), places;
  for (int i = 0; i < n; i++) {
    firsts[i] = (int)columns.size();
    if (i >= g)
      columns.push_back(i - g);
    if (i % g > 0)
      columns.push_back(i - 1);
  }
  firsts[n] = (int)columns.size();
  for (int level = 0; level < count; level++) {
    begins[level] = (int)places.size();
    for (int i = level < g ? 0 : level - g + 1; i <= level && i < g; i++)
      places.push_back(i * g + level - i);
  }
  begins[count] = n;
  Array<int> first(n + 1), column(columns.size()), begin(count + 1), order(n);
  Array<double> a(columns.size()), diagonal(n), b(n), x(n);
  first.put(firsts), column.put(columns), begin.put(begins), order.put(places);
  a.fill([](long e) { return 0.0625 * value(e); });
  diagonal.fill([](long i) { return 9. + value(i); });
  b.fill([](long i) { return (double)value(i + 3); });
  const auto naive = [&] {
    for (int level = 0; level < count; level++)
      levels_naive<<<blocks(begins[level + 1] - begins[level], 128), 128>>>(
        begins[level], begins[level + 1], order.at, first.at, column.at, a.at, diagonal.at, b.at, x.at);
  };
  const auto tuned = [&] {
    levels_tuned<<<1, 256>>>(count, begin.at, order.at, first.at, column.at, a.at, diagonal.at, b.at, x.at);
  };
  compare("levels", ROUNDED, naive, tuned, [&] { return x.sum(true); });
}

constexpr int QUERY = 64;
__global__ void alignments_naive(int many, const int *__restrict__ first, const unsigned char *__restrict__ target,
                                 const unsigned char *__restrict__ query, int *__restrict__ best)
{
  const int t = this_thread();
  if (t >= many)
    return;
  short row[QUERY + 1] = {};
  int most = 0;
  for (int i = first[t]; i < first[t + 1]; i++) {
    short corner = 0;
    for (int j = 1; j <= QUERY; j++) {
      int score = corner + (target[i] == query[j - 1] ? 5 : -4);
      corner = row[j];
      if (row[j] - 7 > score)
        score = row[j] - 7;
      if (row[j - 1] - 7 > score)
        score = row[j - 1] - 7;
      if (score < 0)
        score = 0;
      row[j] = score;
      if (score > most)
        most = score;
    }
  }
  best[t] = most;
}
/* A warp for each, two columns for each lane; a row goes from lane to lane. */
__global__ void __launch_bounds__(256)
  alignments_tuned(int many, const int *__restrict__ first, const unsigned char *__restrict__ target,
                   const unsigned char *__restrict__ query, int *__restrict__ best)
{
  const int t = this_thread() / 32, lane = threadIdx.x % 32;
  if (t >= many)
    return;
  const int from = first[t], rows = first[t + 1] - from, p = query[2 * lane], q = query[2 * lane + 1];
  int a = 0, b = 0, corner = 0, most = 0, letter = 0, ahead = 0;
  for (int step = 0; step < rows + 31; step++) {
    if (step % 32 == 0)
      ahead = step + lane < rows ? target[from + step + lane] : 0;
    const int next = __shfl_sync(~0u, ahead, step % 32), passed = __shfl_up_sync(~0u, letter, 1);
    const int other = __shfl_up_sync(~0u, b, 1), left = lane > 0 ? other : 0;
    letter = lane > 0 ? passed : next;
    const int row = step - lane;
    if (row >= 0 && row < rows) {
      const int above = a;
      a = max(max(corner + (letter == p ? 5 : -4), 0), max(a, left) - 7);
      b = max(max(above + (letter == q ? 5 : -4), 0), max(b, a) - 7);
      corner = left;
      most = max(most, max(a, b));
    }
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    most = max(most, __shfl_xor_sync(~0u, most, far));
  if (lane == 0)
    best[t] = most;
}
static void alignments()
{
  if (!is_wanted("alignments"))
    return;
  const int many = SIZED(20001, 60);
  std::vector<int> begins(many + 1);
  for (int t = 0; t < many; t++)
    begins[t + 1] = begins[t] + 40 + (int)(mixed(t) % 64);
  Array<int> first(many + 1), best(many);
  Array<unsigned char> target(begins[many]), query(QUERY);
  first.put(begins);
  target.fill([](long i) { return (unsigned char)(mixed(i) % 4); });
  query.fill([](long i) { return (unsigned char)(mixed(i + 77) % 4); });
  compare(
    "alignments", EXACT,
    [&] { alignments_naive<<<blocks(many, 128), 128>>>(many, first.at, target.at, query.at, best.at); },
    [&] { alignments_tuned<<<blocks(32L * many, 256), 256>>>(many, first.at, target.at, query.at, best.at); },
    [&] { return best.sum(); });
}
