/* Those of first.cu that reduce, sort and count, and those with lists and particles. */
#pragma once
#include "kinds.cuh"

struct Place {
  float value;
  int at;
};
__device__ Place better(Place a, Place b)
{
  return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
}
/* The best of each block; once more for the best of those. */
__global__ void max_place_naive(int n, const float *__restrict__ a, const Place *__restrict__ places,
                                Place *__restrict__ out)
{
  __shared__ Place all[1024];
  const int i = this_thread(), t = threadIdx.x;
  Place mine = { -1, 0 };
  if (a) {
    if (i < n)
      mine = { a[i], i };
  } else
    for (int k = i; k < n; k += gridDim.x * blockDim.x)
      mine = better(mine, places[k]);
  all[t] = mine;
  for (int far = 512; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = better(all[t], all[t + far]);
  }
  if (t == 0)
    out[blockIdx.x] = all[0];
}
/* Values are not negative: the greatest of value and complement of place together is what is asked for. */
__global__ void max_place_tuned(int n, const float4 *__restrict__ a, unsigned long long *best)
{
  unsigned long long mine = 0;
  const auto take = [&mine](float x, int i) {
    mine = max(mine, (unsigned long long)__float_as_uint(x) << 32 | (unsigned)~i);
  };
  for (int i = this_thread(); i < n; i += gridDim.x * blockDim.x) {
    const float4 x = a[i];
    take(x.x, 4 * i), take(x.y, 4 * i + 1), take(x.z, 4 * i + 2), take(x.w, 4 * i + 3);
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    mine = max(mine, __shfl_xor_sync(~0u, mine, far));
  if (threadIdx.x % 32 == 0)
    atomicMax(best, mine);
}
static void max_place()
{
  if (!is_wanted("max_place"))
    return;
  const int n = SIZED(1 << 26, 10000), many = blocks(n, 1024);
  Array<float> a(n);
  Array<Place> out(many + 1);
  Array<unsigned long long> best(1);
  a.fill([](long i) { return (float)(mixed(i) >> 8); });
  double result;
  const auto naive = [&] {
    max_place_naive<<<many, 1024>>>(n, a.at, nullptr, out.at);
    max_place_naive<<<1, 1024>>>(many, nullptr, out.at, out.at + many);
    const Place place = fetched(out.at + many);
    result = (double)place.value + place.at;
  };
  const auto tuned = [&] {
    failed(cudaMemsetAsync(best.at, 0, 8));
    max_place_tuned<<<WIDE, 256>>>(n / 4, (float4 *)a.at, best.at);
    const unsigned long long place = fetched(best.at);
    const unsigned bits = place >> 32;
    float value;
    memcpy(&value, &bits, sizeof value);
    result = (double)value + (int)~(unsigned)place;
  };
  compare("max_place", EXACT, naive, tuned, [&] { return result; });
}

/* Prefix sums of blocks of 1024, and the sum of each. */
__global__ void prefix_block(int n, const int *__restrict__ a, int *__restrict__ b, int *__restrict__ sums)
{
  __shared__ int all[1024];
  const int i = this_thread(), t = threadIdx.x;
  all[t] = i < n ? a[i] : 0;
  __syncthreads();
  for (int far = 1; far < 1024; far *= 2) {
    const int before = t >= far ? all[t - far] : 0;
    __syncthreads();
    all[t] += before;
    __syncthreads();
  }
  if (i < n)
    b[i] = all[t];
  if (t == 1023)
    sums[blockIdx.x] = all[t];
}
__global__ void prefix_add(int n, int *__restrict__ b, const int *__restrict__ sums)
{
  const int i = this_thread();
  if (blockIdx.x > 0 && i < n)
    b[i] += sums[blockIdx.x - 1];
}
static void prefix_naive(int n, const int *a, int *b, int *sums)
{
  const int many = blocks(n, 1024);
  prefix_block<<<many, 1024>>>(n, a, b, sums);
  if (many > 1) {
    prefix_naive(many, sums, sums, sums + many);
    prefix_add<<<many, 1024>>>(n, b, sums);
  }
}
/* One pass: tiles of 4096 in the order in which blocks begin, each waits for the sums of those before it.
   A tile's state is 1 with its own sum below, or 2 with the sum up to its end. */
__global__ void __launch_bounds__(256)
  prefix_tuned(int n, const int4 *__restrict__ a, int4 *__restrict__ b, volatile unsigned long long *states,
               unsigned *ticket)
{
  __shared__ int tile, before, sums[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0)
    tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const int first = tile * 1024 + warp * 128 + lane;
  int4 x[4];
  int carry = 0;
#pragma unroll
  for (int r = 0; r < 4; r++)
    x[r] = first + r * 32 < n ? a[first + r * 32] : make_int4(0, 0, 0, 0);
#pragma unroll
  for (int r = 0; r < 4; r++) {
    x[r].y += x[r].x, x[r].z += x[r].y, x[r].w += x[r].z;
    int upto = x[r].w;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const int other = __shfl_up_sync(~0u, upto, far);
      upto += lane >= far ? other : 0;
    }
    const int add = carry + upto - x[r].w;
    x[r].x += add, x[r].y += add, x[r].z += add, x[r].w += add;
    carry += __shfl_sync(~0u, upto, 31);
  }
  if (lane == 0)
    sums[warp] = carry;
  __syncthreads();
  if (warp == 0) {
    const int total = warp_sum<8>(sums[lane % 8]);
    if (lane == 0)
      states[tile] = (tile ? 1ull : 2ull) << 32 | (unsigned)total;
    int sum = 0;
    for (int at = tile - 1; at >= 0; at -= 32) {
      unsigned long long state;
      do
        state = at >= lane ? states[at - lane] : 2ull << 32;
      while (__any_sync(~0u, state == 0));
      const unsigned complete = __ballot_sync(~0u, state >> 32 == 2);
      const int last = complete ? __ffs(complete) - 1 : 31;
      sum += warp_sum(lane <= last ? (int)(unsigned)state : 0);
      if (complete)
        break;
    }
    if (lane == 0) {
      before = sum;
      if (tile)
        states[tile] = 2ull << 32 | (unsigned)(sum + total);
    }
  }
  __syncthreads();
  int add = before;
  for (int w = 0; w < warp; w++)
    add += sums[w];
#pragma unroll
  for (int r = 0; r < 4; r++) {
    x[r].x += add, x[r].y += add, x[r].z += add, x[r].w += add;
    if (first + r * 32 < n)
      b[first + r * 32] = x[r];
  }
}
static void prefix()
{
  if (!is_wanted("prefix"))
    return;
  const int n = SIZED(1 << 24, 10000), tiles = blocks(n, 4096);
  Array<int> a(n), b(n), sums(blocks(n, 1024) * 2 + 2);
  Array<unsigned long long> states(tiles + 1);
  a.fill();
  const auto tuned = [&] {
    failed(cudaMemsetAsync(states.at, 0, 8 * (tiles + 1)));
    prefix_tuned<<<tiles, 256>>>(n / 4, (int4 *)a.at, (int4 *)b.at, states.at, (unsigned *)(states.at + tiles));
  };
  compare("prefix", EXACT, [&] { prefix_naive(n, a.at, b.at, sums.at); }, tuned, [&] { return b.sum(); });
}

__device__ void order(int &x, int &y, bool is_rising)
{
  if ((x > y) == is_rising) {
    const int old = x;
    x = y, y = old;
  }
}
__global__ void bitonic_step(int n, int *a, int size, int far)
{
  const int i = this_thread(), other = i ^ far;
  if (i < n && other > i)
    order(a[i], a[other], (i & size) == 0);
}
/* The steps over at most 1024, of this size or of all up to 2048, in shared memory. */
__global__ void __launch_bounds__(1024) bitonic_near(const int *in, int *out, int size)
{
  __shared__ int tile[2048];
  const int base = blockIdx.x * 2048, t = threadIdx.x;
  tile[t] = in[base + t];
  tile[t + 1024] = in[base + t + 1024];
  for (int s = size ? size : 2; s <= max(size, 2048); s *= 2)
    for (int far = min(s / 2, 1024); far > 0; far /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (far - 1));
      order(tile[i], tile[i + far], ((base + i) & s) == 0);
    }
  __syncthreads();
  out[base + t] = tile[t];
  out[base + t + 1024] = tile[t + 1024];
}
static void bitonic()
{
  if (!is_wanted("bitonic"))
    return;
  const int n = SIZED(1 << 18, 1 << 13);
  Array<int> keys(n), a(n);
  keys.fill([](long i) { return (int)(mixed(i) >> 12); });
  const auto naive = [&] {
    failed(cudaMemcpyAsync(a.at, keys.at, sizeof(int) * n, cudaMemcpyDeviceToDevice));
    for (int size = 2; size <= n; size *= 2)
      for (int far = size / 2; far > 0; far /= 2)
        bitonic_step<<<blocks(n, 256), 256>>>(n, a.at, size, far);
  };
  const auto tuned = [&] {
    bitonic_near<<<n / 2048, 1024>>>(keys.at, a.at, 0);
    for (int size = 4096; size <= n; size *= 2) {
      for (int far = size / 2; far > 1024; far /= 2)
        bitonic_step<<<blocks(n, 256), 256>>>(n, a.at, size, far);
      bitonic_near<<<n / 2048, 1024>>>(a.at, a.at, size);
    }
  };
  compare("bitonic", EXACT, naive, tuned, [&] { return a.sum(); });
}

__global__ void search_begin(int n, int *__restrict__ level, int *__restrict__ here)
{
  const int i = this_thread();
  if (i < n)
    level[i] = i ? -1 : 0;
  if (i == 0)
    here[0] = 0;
}
__global__ void search_naive(int many, const int *__restrict__ row, const int *__restrict__ column, int *level,
                             const int *__restrict__ here, int *__restrict__ later, int *found, int depth)
{
  const int i = this_thread();
  if (i >= many)
    return;
  const int from = here[i];
  for (int e = row[from]; e < row[from + 1]; e++) {
    const int to = column[e];
    if (level[to] < 0 && atomicExch(&level[to], depth) < 0)
      later[atomicAdd(found, 1)] = to;
  }
}
/* Eight lanes for each point, and one addition to the counter for each warp. */
__global__ void search_tuned(int many, const int *__restrict__ row, const int *__restrict__ column, int *level,
                             const int *__restrict__ here, int *__restrict__ later, int *found, int depth)
{
  const int i = this_thread() / 8, lane = threadIdx.x % 32;
  const int from = i < many ? here[i] : 0, end = i < many ? row[from + 1] : 0;
  for (int e = i < many ? row[from] + lane % 8 : 0; __any_sync(~0u, e < end); e += 8) {
    const int to = e < end ? column[e] : 0;
    const bool is_new = e < end && level[to] < 0 && atomicExch(&level[to], depth) < 0;
    const unsigned all = __ballot_sync(~0u, is_new);
    int first = 0;
    if (lane == 0 && all)
      first = atomicAdd(found, __popc(all));
    first = __shfl_sync(~0u, first, 0);
    if (is_new)
      later[first + __popc(all & ((1u << lane) - 1))] = to;
  }
}
static void search()
{
  if (!is_wanted("search"))
    return;
  const int n = SIZED(1 << 21, 3000);
  std::vector<int> rows(n + 1);
  std::vector<int> columns(fill_rows(n, rows.data()));
  fill_columns(n, rows.data(), 0, columns.data());
  Array<int> row(n + 1), column(columns.size()), level(n), here(n), later(n), found(1);
  row.put(rows), column.put(columns);
  const auto run = [&](bool is_tuned) {
    search_begin<<<blocks(n, 256), 256>>>(n, level.at, here.at);
    int many = 1;
    for (int depth = 1; many > 0; depth++) {
      failed(cudaMemsetAsync(found.at, 0, sizeof(int)));
      const int *from = here.at;
      int *const to = later.at;
      if (is_tuned)
        search_tuned<<<blocks(8L * many, 256), 256>>>(many, row.at, column.at, level.at, from, to, found.at, depth);
      else
        search_naive<<<blocks(many, 256), 256>>>(many, row.at, column.at, level.at, from, to, found.at, depth);
      many = fetched(found.at);
      std::swap(here.at, later.at);
    }
  };
  compare("search", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return level.sum(); });
}

struct Point {
  double x, y, z;
};
__device__ double nearest(double d, double box) { return d > box / 2 ? d - box : d < -box / 2 ? d + box : d; }
__device__ void add_force(Point &sum, Point a, Point b, double box, double cutoff)
{
  const double dx = nearest(a.x - b.x, box), dy = nearest(a.y - b.y, box), dz = nearest(a.z - b.z, box);
  const double square = dx * dx + dy * dy + dz * dz;
  if (square < cutoff) {
    const double inverse = 1 / square, sixth = inverse * inverse * inverse;
    const double force = 24 * sixth * (2 * sixth - 1) * inverse;
    sum.x += force * dx, sum.y += force * dy, sum.z += force * dz;
  }
}
__global__ void lennard_jones_naive(int n, int near, const Point *__restrict__ p, const int *__restrict__ list,
                                    Point *__restrict__ f, double box, double cutoff)
{
  const int i = this_thread();
  if (i >= n)
    return;
  Point sum = { 0, 0, 0 };
  for (int k = 0; k < near; k++)
    add_force(sum, p[i], p[list[i * near + k]], box, cutoff);
  f[i] = sum;
}
/* Sixteen lanes for each atom; there are no atoms left over. */
__global__ void lennard_jones_tuned(int near, const Point *__restrict__ p, const int *__restrict__ list,
                                    Point *__restrict__ f, double box, double cutoff)
{
  const int i = this_thread() / 16, lane = threadIdx.x % 16;
  const Point mine = p[i];
  Point sum = { 0, 0, 0 };
#pragma unroll 4
  for (int k = lane; k < near; k += 16)
    add_force(sum, mine, p[list[i * near + k]], box, cutoff);
  sum = { warp_sum<16>(sum.x), warp_sum<16>(sum.y), warp_sum<16>(sum.z) };
  if (lane == 0)
    f[i] = sum;
}
static void lennard_jones()
{
  if (!is_wanted("lennard_jones"))
    return;
  const int side = SIZED(64, 8), n = side * side * side, near = 63;
  Array<double> p(3 * n), f(3 * n);
  Array<int> list(n * near);
  p.fill([&](long i) { return lattice_place(side, i / 3, i % 3); });
  list.fill([&](long i) { return lattice_neighbour(side, i / near, i % near); });
  const double box = side, cutoff = 2.0 * 2.0;
  Point *const from = (Point *)p.at, *const to = (Point *)f.at;
  compare(
    "lennard_jones", ROUNDED,
    [&] { lennard_jones_naive<<<blocks(n, 128), 128>>>(n, near, from, list.at, to, box, cutoff); },
    [&] { lennard_jones_tuned<<<n / 8, 128>>>(near, from, list.at, to, box, cutoff); }, [&] { return f.sum(true); });
}

struct Particle {
  double x, y, z, vx, vy, vz;
};
__device__ void move(Particle &p, double dt)
{
  p.x += dt * p.vx;
  p.y += dt * p.vy;
  p.z += dt * p.vz;
  p.vz -= dt;
}
__global__ void particles_naive(int n, Particle *p, double dt)
{
  const int i = this_thread();
  if (i < n)
    move(p[i], dt);
}
/* Through shared memory, so that whole lines are read and written. */
__global__ void __launch_bounds__(256) particles_tuned(int n, double2 *p, double dt)
{
  __shared__ Particle all[256];
  double2 *const flat = (double2 *)all;
  const int first = blockIdx.x * 768 + threadIdx.x;
#pragma unroll
  for (int r = 0; r < 3; r++)
    if (first + r * 256 < 3 * n)
      flat[threadIdx.x + r * 256] = p[first + r * 256];
  __syncthreads();
  if (this_thread() < n)
    move(all[threadIdx.x], dt);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 3; r++)
    if (first + r * 256 < 3 * n)
      p[first + r * 256] = flat[threadIdx.x + r * 256];
}
static void particles()
{
  if (!is_wanted("particles"))
    return;
  const int n = SIZED(1 << 23, 1000);
  Array<double> p(6L * n);
  p.fill();
  const auto sum = [&] {
    const double sum = p.sum();
    p.fill();
    return sum;
  };
  compare(
    "particles", EXACT, [&] { particles_naive<<<blocks(n, 256), 256>>>(n, (Particle *)p.at, 0.5); },
    [&] { particles_tuned<<<blocks(n, 256), 256>>>(n, (double2 *)p.at, 0.5); }, sum);
}

__global__ void histogram_weights_naive(int n, const int *__restrict__ key, const double *__restrict__ w, double *bins)
{
  const int i = this_thread();
  if (i < n)
    atomicAdd(&bins[key[i]], w[i]);
}
/* Bins for each lane in shared memory: only warps meet. */
__global__ void __launch_bounds__(256)
  histogram_weights_tuned(int n, const int *__restrict__ key, const double *__restrict__ w, double *bins)
{
  __shared__ double mine[64][32];
  const int t = threadIdx.x, lane = t % 32;
  for (int q = t; q < 64 * 32; q += 256)
    mine[q / 32][q % 32] = 0;
  __syncthreads();
#pragma unroll 4
  for (int i = this_thread(); i < n; i += gridDim.x * 256)
    atomicAdd(&mine[key[i]][lane], w[i]);
  __syncthreads();
  for (int b = t / 32; b < 64; b += 8) {
    const double sum = warp_sum(mine[b][lane]);
    if (lane == 0)
      atomicAdd(&bins[b], sum);
  }
}
static void histogram_weights()
{
  if (!is_wanted("histogram_weights"))
    return;
  const int n = SIZED(1 << 23, 10000);
  Array<int> key(n);
  Array<double> w(n), bins(64);
  key.fill([](long i) { return (int)(mixed(i) % 64); });
  w.fill();
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(bins.at, 0, sizeof(double) * 64));
    if (is_tuned)
      histogram_weights_tuned<<<WIDE, 256>>>(n, key.at, w.at, bins.at);
    else
      histogram_weights_naive<<<blocks(n, 256), 256>>>(n, key.at, w.at, bins.at);
  };
  compare("histogram_weights", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return bins.sum(); });
}

__global__ void histogram_max_naive(int n, const int *__restrict__ key, const int *__restrict__ a, int *bins)
{
  const int i = this_thread();
  if (i < n)
    atomicMax(&bins[key[i]], a[i]);
}
/* Bins of the block in shared memory, which are soon too great for most. */
__global__ void __launch_bounds__(256) histogram_max_tuned(int n, const int4 *__restrict__ key,
                                                           const int4 *__restrict__ a, int *bins)
{
  __shared__ int mine[64];
  if (threadIdx.x < 64)
    mine[threadIdx.x] = 0;
  __syncthreads();
  const auto take = [](int key, int x) {
    if (mine[key] < x)
      atomicMax(&mine[key], x);
  };
  for (int i = this_thread(); i < n; i += gridDim.x * 256) {
    const int4 k = key[i], x = a[i];
    take(k.x, x.x), take(k.y, x.y), take(k.z, x.z), take(k.w, x.w);
  }
  __syncthreads();
  if (threadIdx.x < 64)
    atomicMax(&bins[threadIdx.x], mine[threadIdx.x]);
}
static void histogram_max()
{
  if (!is_wanted("histogram_max"))
    return;
  const int n = SIZED(1 << 24, 10000);
  Array<int> key(n), a(n), bins(64);
  key.fill([](long i) { return (int)(mixed(i) % 64); });
  a.fill([&](long i) { return (int)(mixed(n + i) >> 8); });
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(bins.at, 0, sizeof(int) * 64));
    if (is_tuned)
      histogram_max_tuned<<<WIDE, 256>>>(n / 4, (int4 *)key.at, (int4 *)a.at, bins.at);
    else
      histogram_max_naive<<<blocks(n, 256), 256>>>(n, key.at, a.at, bins.at);
  };
  compare("histogram_max", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return bins.sum(); });
}

__global__ void complex_dot_naive(int n, const double2 *__restrict__ a, const double2 *__restrict__ b, double *out)
{
  const int i = this_thread();
  double re = 0, im = 0;
  if (i < n) {
    re = a[i].x * b[i].x + a[i].y * b[i].y;
    im = a[i].x * b[i].y - a[i].y * b[i].x;
  }
  re = tree_sum(re);
  im = tree_sum(im);
  if (threadIdx.x == 0) {
    atomicAdd(&out[0], re);
    atomicAdd(&out[1], im);
  }
}
__global__ void __launch_bounds__(256)
  complex_dot_tuned(int n, const double2 *__restrict__ a, const double2 *__restrict__ b, double *out)
{
  __shared__ double sums[2][8];
  double re = 0, im = 0;
#pragma unroll 4
  for (int i = this_thread(); i < n; i += gridDim.x * 256) {
    const double2 x = a[i], y = b[i];
    re += x.x * y.x + x.y * y.y;
    im += x.x * y.y - x.y * y.x;
  }
  re = warp_sum(re), im = warp_sum(im);
  if (threadIdx.x % 32 == 0)
    sums[0][threadIdx.x / 32] = re, sums[1][threadIdx.x / 32] = im;
  __syncthreads();
  if (threadIdx.x < 32) {
    const double sum = warp_sum<8>(sums[threadIdx.x / 8 % 2][threadIdx.x % 8]);
    if (threadIdx.x == 0 || threadIdx.x == 8)
      atomicAdd(&out[threadIdx.x / 8], sum);
  }
}
static void complex_dot()
{
  if (!is_wanted("complex_dot"))
    return;
  const int n = SIZED(1 << 24, 10000);
  Array<double> a(2L * n), b(2L * n);
  Array<double2> out(1);
  a.fill();
  b.fill([](long i) { return (double)value(i + 5); });
  double2 result;
  const auto run = [&](bool is_tuned) {
    failed(cudaMemsetAsync(out.at, 0, sizeof(double2)));
    if (is_tuned)
      complex_dot_tuned<<<WIDE, 256>>>(n, (double2 *)a.at, (double2 *)b.at, (double *)out.at);
    else
      complex_dot_naive<<<blocks(n, 256), 256>>>(n, (double2 *)a.at, (double2 *)b.at, (double *)out.at);
    result = fetched(out.at);
  };
  compare("complex_dot", EXACT, [&] { run(false); }, [&] { run(true); }, [&] { return result.x + 2 * result.y; });
}

/* Each line is as far away as any other: naive is what one would write. */
__global__ void gather_naive(int n, const float *__restrict__ a, const int *__restrict__ from, float *__restrict__ b)
{
  const int i = this_thread();
  if (i < n)
    b[i] = a[from[i]];
}
static void gather()
{
  if (!is_wanted("gather"))
    return;
  const int n = SIZED(1 << 25, 1 << 13);
  Array<float> a(n), b(n);
  Array<int> from(n);
  a.fill();
  from.fill([&](long i) { return (int)permuted(i, n); });
  const auto run = [&] { gather_naive<<<blocks(n, 256), 256>>>(n, a.at, from.at, b.at); };
  only("gather", EXACT, run, [&] { return b.sum(); });
}

__global__ void sparse_naive(int n, const int *__restrict__ row, const int *__restrict__ column,
                             const double *__restrict__ a, const double *__restrict__ x, double *__restrict__ y)
{
  const int i = this_thread();
  if (i >= n)
    return;
  double s = 0;
  for (int e = row[i]; e < row[i + 1]; e++)
    s += a[e] * x[column[e]];
  y[i] = s;
}
/* Eight lanes for each row. */
__global__ void sparse_tuned(int n, const int *__restrict__ row, const int *__restrict__ column,
                             const double *__restrict__ a, const double *__restrict__ x, double *__restrict__ y)
{
  const int i = this_thread() / 8, lane = threadIdx.x % 8;
  double s = 0;
  if (i < n)
    for (int e = row[i] + lane; e < row[i + 1]; e += 8)
      s += a[e] * x[column[e]];
  s = warp_sum<8>(s);
  if (lane == 0 && i < n)
    y[i] = s;
}
static void sparse()
{
  if (!is_wanted("sparse"))
    return;
  const int n = SIZED(1 << 20, 1000), reach = SIZED(4096, 50);
  std::vector<int> rows(n + 1);
  std::vector<int> columns(fill_rows(n, rows.data()));
  fill_columns(n, rows.data(), reach, columns.data());
  Array<int> row(n + 1), column(columns.size());
  Array<double> a(columns.size()), x(n), y(n);
  row.put(rows), column.put(columns), a.fill(), x.fill();
  compare(
    "sparse", EXACT, [&] { sparse_naive<<<blocks(n, 256), 256>>>(n, row.at, column.at, a.at, x.at, y.at); },
    [&] { sparse_tuned<<<blocks(8L * n, 256), 256>>>(n, row.at, column.at, a.at, x.at, y.at); },
    [&] { return y.sum(); });
}

__global__ void bodies_naive(int n, const float4 *__restrict__ p, float *__restrict__ out)
{
  const int i = this_thread();
  if (i >= n)
    return;
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; j++) {
    const float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
    const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
    const float s = p[j].w * inverse * inverse * inverse;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  out[3 * i] = ax;
  out[3 * i + 1] = ay;
  out[3 * i + 2] = az;
}
/* 32 bodies for each block, whose warps share the others through shared memory. */
__global__ void __launch_bounds__(256) bodies_tuned(int n, const float4 *__restrict__ p, float *__restrict__ out)
{
  __shared__ float4 others[256];
  __shared__ float sums[8][3][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
  const float4 mine = p[min(i, n - 1)];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 256) {
    const int j = first + threadIdx.x;
    others[threadIdx.x] = j < n ? p[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) {
      const float4 other = others[warp * 32 + k];
      const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
      const float s = other.w * inverse * inverse * inverse;
      ax += s * dx, ay += s * dy, az += s * dz;
    }
    __syncthreads();
  }
  sums[warp][0][lane] = ax, sums[warp][1][lane] = ay, sums[warp][2][lane] = az;
  __syncthreads();
  if (warp < 3 && i < n) {
    float s = 0;
    for (int w = 0; w < 8; w++)
      s += sums[w][warp][lane];
    out[3 * i + warp] = s;
  }
}
static void bodies()
{
  if (!is_wanted("bodies"))
    return;
  const int n = SIZED(16384, 300);
  Array<float> p(4 * n), out(3 * n);
  p.fill([](long i) { return (i % 4 == 3 ? 1 : 0) + (mixed(i) >> 8) / 16777216.0f; });
  compare(
    "bodies", ROUNDED, [&] { bodies_naive<<<blocks(n, 128), 128>>>(n, (float4 *)p.at, out.at); },
    [&] { bodies_tuned<<<blocks(n, 32), 256>>>(n, (float4 *)p.at, out.at); }, [&] { return out.sum(true); });
}
