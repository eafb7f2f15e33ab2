/* Those of public.cu with a mesh, blocks of images and points. */
#pragma once
#include "kinds.cuh"

struct Flow {
  float density, mx, my, mz, energy;
};
static __device__ __forceinline__ float pressure_of(Flow f)
{
  const float square = (f.mx * f.mx + f.my * f.my + f.mz * f.mz) / (f.density * f.density);
  return (1.4f - 1.0f) * (f.energy - 0.5f * f.density * square);
}
static __device__ __forceinline__ Flow flux_of(Flow f, float pressure, float nx, float ny, float nz)
{
  const float vx = f.mx / f.density, vy = f.my / f.density, vz = f.mz / f.density;
  const float through = vx * nx + vy * ny + vz * nz;
  return Flow{ f.density * through, f.mx * through + pressure * nx, f.my * through + pressure * ny,
               f.mz * through + pressure * nz, (f.energy + pressure) * through };
}
__global__ void euler_naive(int cells, const int *__restrict__ near, const float *__restrict__ normals,
                            const float *__restrict__ variables, const float *__restrict__ far,
                            float *__restrict__ fluxes)
{
  const int i = this_thread();
  if (i >= cells)
    return;
  const Flow here{ variables[i], variables[i + cells], variables[i + 2 * cells], variables[i + 3 * cells],
                   variables[i + 4 * cells] };
  const float pressure = pressure_of(here), sound = sqrtf(1.4f * pressure / here.density);
  const float fast = sqrtf(here.mx * here.mx + here.my * here.my + here.mz * here.mz) / here.density + sound;
  Flow sum{};
  for (int j = 0; j < 4; j++) {
    const int other = near[i + j * cells];
    const float nx = normals[i + (3 * j + 0) * cells], ny = normals[i + (3 * j + 1) * cells];
    const float nz = normals[i + (3 * j + 2) * cells];
    if (other == -1) {
      sum.mx += nx * pressure;
      sum.my += ny * pressure;
      sum.mz += nz * pressure;
      continue;
    }
    Flow there;
    if (other >= 0)
      there = Flow{ variables[other], variables[other + cells], variables[other + 2 * cells],
                    variables[other + 3 * cells], variables[other + 4 * cells] };
    else
      there = Flow{ far[0], far[1], far[2], far[3], far[4] };
    const float p2 = pressure_of(there);
    const Flow mine = flux_of(here, pressure, nx, ny, nz), theirs = flux_of(there, p2, nx, ny, nz);
    const float size = sqrtf(nx * nx + ny * ny + nz * nz);
    const float damp = 0.5f * 0.2f * size
      * (fast + sqrtf(there.mx * there.mx + there.my * there.my + there.mz * there.mz) / there.density
         + sqrtf(1.4f * p2 / there.density));
    sum.density += 0.5f * (mine.density + theirs.density) + damp * (here.density - there.density);
    sum.energy += 0.5f * (mine.energy + theirs.energy) + damp * (here.energy - there.energy);
    sum.mx += 0.5f * (mine.mx + theirs.mx) + damp * (here.mx - there.mx);
    sum.my += 0.5f * (mine.my + theirs.my) + damp * (here.my - there.my);
    sum.mz += 0.5f * (mine.mz + theirs.mz) + damp * (here.mz - there.mz);
  }
  fluxes[i] = sum.density;
  fluxes[i + cells] = sum.mx;
  fluxes[i + 2 * cells] = sum.my;
  fluxes[i + 3 * cells] = sum.mz;
  fluxes[i + 4 * cells] = sum.energy;
}
/* What neighbours have is loaded before it is needed; one division for each, and roots at once. */
__global__ void __launch_bounds__(128)
  euler_tuned(int cells, const int *__restrict__ near, const float *__restrict__ normals,
              const float *__restrict__ variables, const float *__restrict__ far, float *__restrict__ fluxes)
{
  const int i = this_thread();
  if (i >= cells)
    return;
  int other[4];
  Flow there[4];
#pragma unroll
  for (int j = 0; j < 4; j++)
    other[j] = near[i + j * cells];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float *from = other[j] >= 0 ? variables + other[j] : far;
    const int step = other[j] >= 0 ? cells : 1;
    there[j] = Flow{ from[0], from[step], from[2 * step], from[3 * step], from[4 * step] };
  }
  const Flow here{ variables[i], variables[i + cells], variables[i + 2 * cells], variables[i + 3 * cells],
                   variables[i + 4 * cells] };
  const float one = __fdividef(1.f, here.density), square = here.mx * here.mx + here.my * here.my + here.mz * here.mz;
  const float pressure = 0.4f * (here.energy - 0.5f * one * square);
  const float fast = sqrtf(square) * one + sqrtf(1.4f * pressure * one);
  Flow sum{};
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float nx = normals[i + (3 * j + 0) * cells], ny = normals[i + (3 * j + 1) * cells];
    const float nz = normals[i + (3 * j + 2) * cells];
    if (other[j] == -1) {
      sum.mx += nx * pressure, sum.my += ny * pressure, sum.mz += nz * pressure;
      continue;
    }
    const Flow o = there[j];
    const float other_one = __fdividef(1.f, o.density), other_square = o.mx * o.mx + o.my * o.my + o.mz * o.mz;
    const float p2 = 0.4f * (o.energy - 0.5f * other_one * other_square);
    const float damp = 0.1f * sqrtf(nx * nx + ny * ny + nz * nz)
      * (fast + sqrtf(other_square) * other_one + sqrtf(1.4f * p2 * other_one));
    const float mine = 0.5f * one * (here.mx * nx + here.my * ny + here.mz * nz);
    const float theirs = 0.5f * other_one * (o.mx * nx + o.my * ny + o.mz * nz), push = 0.5f * (pressure + p2);
    sum.density += here.density * mine + o.density * theirs + damp * (here.density - o.density);
    sum.energy += (here.energy + pressure) * mine + (o.energy + p2) * theirs + damp * (here.energy - o.energy);
    sum.mx += here.mx * mine + o.mx * theirs + push * nx + damp * (here.mx - o.mx);
    sum.my += here.my * mine + o.my * theirs + push * ny + damp * (here.my - o.my);
    sum.mz += here.mz * mine + o.mz * theirs + push * nz + damp * (here.mz - o.mz);
  }
  fluxes[i] = sum.density;
  fluxes[i + cells] = sum.mx;
  fluxes[i + 2 * cells] = sum.my;
  fluxes[i + 3 * cells] = sum.mz;
  fluxes[i + 4 * cells] = sum.energy;
}
static int mesh_neighbour(int cells, int i, int j)
{
  const unsigned m = mixed(4 * i + j);
  if (m % 50 == 0)
    return m / 50 % 2 ? -1 : -2;
  const int at = m % 5 == 0 ? (int)(m % cells) : i - 1000 + (int)(m / 8 % 2001);
  return at < 0 ? 0 : at >= cells ? cells - 1 : at;
}
static void euler()
{
  if (!is_wanted("euler"))
    return;
  const int cells = SIZED(400000, 3000);
  Array<int> near(4 * cells);
  Array<float> normals(12 * cells), variables(5 * cells), fluxes(5 * cells), far(5);
  near.fill([&](long i) { return mesh_neighbour(cells, (int)i % cells, (int)i / cells); });
  normals.fill([](long i) { return 0.0625f * value(i); });
  variables.fill([&](long i) { return (i < cells ? 2 : i < 4 * cells ? 0 : 5) + 0.0625f * value(i + 3); });
  far.put({ 1.4f, 1.5f, 0.25f, 0, 4 });
  compare(
    "euler", ROUNDED,
    [&] { euler_naive<<<blocks(cells, 128), 128>>>(cells, near.at, normals.at, variables.at, far.at, fluxes.at); },
    [&] { euler_tuned<<<blocks(cells, 128), 128>>>(cells, near.at, normals.at, variables.at, far.at, fluxes.at); },
    [&] { return fluxes.sum(true); });
}

/* A block for each block of the image, a thread for each place. */
__global__ void motion_naive(const unsigned char *__restrict__ image, const unsigned char *__restrict__ last,
                             int *__restrict__ found, int w, int h, int size, int reach)
{
  __shared__ int all[256];
  const int bx = blockIdx.x, by = blockIdx.y, wide = 2 * reach + 1, t = threadIdx.x;
  int best = 1 << 30;
  for (int o = t; o < wide * wide; o += blockDim.x) {
    const int x0 = bx * size + o % wide - reach, y0 = by * size + o / wide - reach;
    if (x0 < 0 || y0 < 0 || x0 + size > w || y0 + size > h)
      continue;
    int sum = 0;
    for (int y = 0; y < size; y++)
      for (int x = 0; x < size; x++)
        sum += abs((int)image[(by * size + y) * w + bx * size + x] - (int)last[(y0 + y) * w + x0 + x]);
    best = min(best, sum * 1024 + o);
  }
  all[t] = best;
  for (int far = 128; far > 0; far /= 2) {
    __syncthreads();
    if (t < far)
      all[t] = min(all[t], all[t + far]);
  }
  if (t == 0)
    found[by * gridDim.x + bx] = all[0];
}
/* The block and what is around it in shared memory as words of four points. */
template <int REACH>
__global__ void __launch_bounds__(256)
  motion_tuned(const unsigned char *__restrict__ image, const unsigned char *__restrict__ last, int *__restrict__ found,
               int w, int h)
{
  constexpr int SIZE = 16, WIDE = 2 * REACH + 1, ROWS = SIZE + 2 * REACH, WORDS = (ROWS + 3) / 4 + 1;
  static_assert(WIDE * WIDE <= 256);
  __shared__ unsigned own[SIZE][SIZE / 4], near[ROWS][WORDS];
  __shared__ int warps[8];
  const int t = threadIdx.x, bx = blockIdx.x * SIZE, by = blockIdx.y * SIZE;
  ((unsigned char *)own)[t] = image[(by + t / SIZE) * w + bx + t % SIZE];
  for (int at = t; at < ROWS * WORDS * 4; at += 256) {
    const int y = min(max(by - REACH + at / (WORDS * 4), 0), h - 1);
    const int x = min(max(bx - REACH + at % (WORDS * 4), 0), w - 1);
    ((unsigned char *)near)[at] = last[y * w + x];
  }
  __syncthreads();
  const int dx = t % WIDE, dy = t / WIDE, x0 = bx + dx - REACH, y0 = by + dy - REACH;
  int best = 1 << 30;
  if (t < WIDE * WIDE && x0 >= 0 && y0 >= 0 && x0 + SIZE <= w && y0 + SIZE <= h) {
    unsigned sum = 0;
#pragma unroll
    for (int y = 0; y < SIZE; y++) {
      const unsigned *row = near[dy + y] + dx / 4;
      unsigned low = row[0];
#pragma unroll
      for (int x = 0; x < SIZE / 4; x++) {
        const unsigned high = row[x + 1];
        sum += __vsadu4(own[y][x], __funnelshift_r(low, high, dx % 4 * 8));
        low = high;
      }
    }
    best = (int)sum * 1024 + t;
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2)
    best = min(best, __shfl_xor_sync(~0u, best, far));
  if (t % 32 == 0)
    warps[t / 32] = best;
  __syncthreads();
  if (t == 0) {
    for (int k = 1; k < 8; k++)
      best = min(best, warps[k]);
    found[blockIdx.y * gridDim.x + blockIdx.x] = best;
  }
}
static void motion()
{
  if (!is_wanted("motion"))
    return;
  const int w = SIZED(1920, 70), h = SIZED(1080, 50), size = 16, reach = 7, n = w * h;
  const dim3 grid(w / size, h / size);
  Array<unsigned char> image(n), last(n);
  Array<int> found((w / size) * (h / size));
  last.fill([](long i) { return (unsigned char)(mixed((unsigned)(i / 2)) & 255); });
  image.fill([&](long i) {
    return (unsigned char)((mixed((unsigned)((i + 3 + 2 * w) / 2)) & 255) ^ (mixed((unsigned)(i + 77)) & 3));
  });
  compare(
    "motion", EXACT, [&] { motion_naive<<<grid, 256>>>(image.at, last.at, found.at, w, h, size, reach); },
    [&] { motion_tuned<7><<<grid, 256>>>(image.at, last.at, found.at, w, h); }, [&] { return found.sum(); });
}

struct Sample {
  float kx, ky, kz, size;
};
__global__ void mri_naive(int points, int samples, const float *__restrict__ x, const float *__restrict__ y,
                          const float *__restrict__ z, const Sample *__restrict__ k, float2 *__restrict__ q)
{
  const int i = this_thread();
  if (i >= points)
    return;
  float2 sum = make_float2(0, 0);
  for (int s = 0; s < samples; s++) {
    const float angle = 6.2831853f * (k[s].kx * x[i] + k[s].ky * y[i] + k[s].kz * z[i]);
    sum.x += k[s].size * cosf(angle);
    sum.y += k[s].size * sinf(angle);
  }
  q[i] = sum;
}
/* Samples come through shared memory; whole turns are taken away, then the fast sine is good enough. */
__global__ void __launch_bounds__(128)
  mri_tuned(int points, int samples, const float *__restrict__ x, const float *__restrict__ y,
            const float *__restrict__ z, const float4 *__restrict__ k, float2 *__restrict__ q)
{
  __shared__ float4 part[128];
  const int i = this_thread(), t = threadIdx.x;
  const float px = i < points ? x[i] : 0, py = i < points ? y[i] : 0, pz = i < points ? z[i] : 0;
  float re = 0, im = 0;
  for (int s0 = 0; s0 < samples; s0 += 128) {
    __syncthreads();
    part[t] = s0 + t < samples ? k[s0 + t] : make_float4(0, 0, 0, 0);
    __syncthreads();
    const int many = min(128, samples - s0);
#pragma unroll 8
    for (int s = 0; s < many; s++) {
      const float4 at = part[s];
      const float turns = at.x * px + at.y * py + at.z * pz;
      float sine, cosine;
      __sincosf(6.2831853f * (turns - rintf(turns)), &sine, &cosine);
      re += at.w * cosine;
      im += at.w * sine;
    }
  }
  if (i < points)
    q[i] = make_float2(re, im);
}
static void mri()
{
  if (!is_wanted("mri"))
    return;
  const int points = SIZED(60000, 700), samples = SIZED(2048, 90);
  Array<float> x(points), y(points), z(points);
  Array<Sample> k(samples);
  Array<float2> q(points);
  x.fill([](long i) { return 0.0625f * value(i); });
  y.fill([](long i) { return 0.0625f * value(i + 1); });
  z.fill([](long i) { return 0.0625f * value(i + 2); });
  k.fill([](long s) { return Sample{ 0.25f * value(s), 0.25f * value(s + 1), 0.125f * value(s + 2), 1.f + s % 5 }; });
  compare(
    "mri", ROUNDED, [&] { mri_naive<<<blocks(points, 128), 128>>>(points, samples, x.at, y.at, z.at, k.at, q.at); },
    [&] { mri_tuned<<<blocks(points, 128), 128>>>(points, samples, x.at, y.at, z.at, (float4 *)k.at, q.at); },
    [&] {
      double sum = 0;
      for (const float2 at : q.get())
        sum += std::fabs(at.x) + 2 * std::fabs(at.y);
      q.clear();
      return sum;
    });
}
