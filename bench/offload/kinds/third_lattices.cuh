/* Those of third.cu in three dimensions, and with particles. */
#pragma once
#include "kinds.cuh"

__global__ void acoustics_naive(int n, const float *__restrict__ before, const float *__restrict__ now,
                                const float *__restrict__ speed, float *__restrict__ next)
{
  const int x = 2 + this_thread(), y = 2 + blockIdx.y * blockDim.y + threadIdx.y, z = 2 + blockIdx.z;
  if (x >= n - 2 || y >= n - 2)
    return;
#define AT(z, y, x) now[((z) * n + (y)) * n + (x)]
  const int at = (z * n + y) * n + x;
  const float near = AT(z - 1, y, x) + AT(z + 1, y, x) + AT(z, y - 1, x) + AT(z, y + 1, x) + AT(z, y, x - 1)
    + AT(z, y, x + 1);
  const float far = AT(z - 2, y, x) + AT(z + 2, y, x) + AT(z, y - 2, x) + AT(z, y + 2, x) + AT(z, y, x - 2)
    + AT(z, y, x + 2);
  next[at] = 2 * now[at] - before[at] + speed[at] * (-7.5f * now[at] + 4 / 3.f * near - 1 / 12.f * far);
#undef AT
}
/* Planes come by: five of each point in registers, the middle one of the block in shared memory. */
constexpr int DEEP = 33;
__global__ void __launch_bounds__(256)
  acoustics_tuned(int n, const float *__restrict__ before, const float *__restrict__ now,
                  const float *__restrict__ speed, float *__restrict__ next)
{
  __shared__ float plane[2][12][36];
  const int tx = threadIdx.x, ty = threadIdx.y, first = 2 + blockIdx.z * DEEP;
  const int x = 2 + blockIdx.x * 32 + tx, y = 2 + blockIdx.y * 8 + ty, area = n * n;
  const bool is_in = x < n - 2 && y < n - 2;
  /* Which element of the border each of the first threads brings. */
  const int t = ty * 32 + tx;
  int hy = -1, hx = 0;
  if (t < 128)
    hy = t / 32 < 2 ? t / 32 : t / 32 + 8, hx = 2 + t % 32;
  else if (t < 160)
    hy = 2 + (t - 128) / 4, hx = t % 4 < 2 ? t % 4 : t % 4 + 32;
  const int by = blockIdx.y * 8 + hy, bx = blockIdx.x * 32 + hx;
  const bool has_border = hy >= 0 && by < n && bx < n;
  const int middle = min(y, n - 1) * n + min(x, n - 1);
  float a = now[(first - 2) * area + middle], b = now[(first - 1) * area + middle], c = now[first * area + middle];
  float d = now[(first + 1) * area + middle];
  for (int z = first; z < min(first + DEEP, n - 2); z++) {
    float(*const p)[36] = plane[z & 1];
    p[ty + 2][tx + 2] = c;
    if (has_border)
      p[hy][hx] = now[z * area + by * n + bx];
    const float e = now[(z + 2) * area + middle];
    __syncthreads();
    if (is_in) {
      const int at = z * area + middle;
      const float near = b + d + p[ty + 1][tx + 2] + p[ty + 3][tx + 2] + p[ty + 2][tx + 1] + p[ty + 2][tx + 3];
      const float far = a + e + p[ty][tx + 2] + p[ty + 4][tx + 2] + p[ty + 2][tx] + p[ty + 2][tx + 4];
      next[at] = 2 * c - before[at] + speed[at] * (-7.5f * c + 4 / 3.f * near - 1 / 12.f * far);
    }
    a = b, b = c, c = d, d = e;
  }
}
static void acoustics()
{
  if (!is_wanted("acoustics"))
    return;
  const int n = SIZED(301, 20);
  const long all = (long)n * n * n;
  Array<float> u0(all), u1(all), u2(all), u3(all), speed(all);
  u0.fill(), u1.fill();
  speed.fill([](long i) { return 0.0625f + 0.00390625f * value(i + 2); });
  const int across = blocks(n - 4, 32), down = blocks(n - 4, 8);
  const dim3 each(across, down, n - 4), columns(across, down, blocks(n - 4, DEEP));
  const auto naive = [&] {
    acoustics_naive<<<each, dim3(32, 8)>>>(n, u0.at, u1.at, speed.at, u2.at);
    acoustics_naive<<<each, dim3(32, 8)>>>(n, u1.at, u2.at, speed.at, u3.at);
  };
  const auto tuned = [&] {
    acoustics_tuned<<<columns, dim3(32, 8)>>>(n, u0.at, u1.at, speed.at, u2.at);
    acoustics_tuned<<<columns, dim3(32, 8)>>>(n, u1.at, u2.at, speed.at, u3.at);
  };
  const auto sum = [&] {
    u2.clear();
    return u3.sum(true);
  };
  compare("acoustics", ROUNDED, naive, tuned, sum);
}

/* Where particles of each kind go, and how many there are at rest. */
#define DIRECTIONS \
  constexpr int dx[19] = { 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0 }; \
  constexpr int dy[19] = { 0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1 }; \
  constexpr int dz[19] = { 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1 }
__constant__ int way_x[19] = { 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0 };
__constant__ int way_y[19] = { 0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1 };
__constant__ int way_z[19] = { 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1 };
template <class T> __device__ __forceinline__ T at_rest(int q)
{
  return q == 0 ? T(1) / 3 : q < 7 ? T(1) / 18 : T(1) / 36;
}
struct Cell {
  double f[19];
};
__global__ void lattice_cells_naive(int n, const Cell *__restrict__ from, Cell *__restrict__ to)
{
  const int x = this_thread(), y = blockIdx.y, z = blockIdx.z;
  if (x >= n)
    return;
  Cell here;
  double rho = 0, ux = 0, uy = 0, uz = 0;
  for (int q = 0; q < 19; q++) {
    const int fx = (x - way_x[q] + n) % n, fy = (y - way_y[q] + n) % n, fz = (z - way_z[q] + n) % n;
    here.f[q] = from[(fz * n + fy) * n + fx].f[q];
    rho += here.f[q];
    ux += way_x[q] * here.f[q];
    uy += way_y[q] * here.f[q];
    uz += way_z[q] * here.f[q];
  }
  ux /= rho, uy /= rho, uz /= rho;
  const double square = 1.5 * (ux * ux + uy * uy + uz * uz);
  for (int q = 0; q < 19; q++) {
    const double c = 3 * (way_x[q] * ux + way_y[q] * uy + way_z[q] * uz);
    here.f[q] += 1.3 * (at_rest<double>(q) * rho * (1 + c + 0.5 * c * c - square) - here.f[q]);
  }
  to[(z * n + y) * n + x] = here;
}
/* What a place has after particles met there. */
template <class T> __device__ __forceinline__ void meet(T (&f)[19])
{
  DIRECTIONS;
  T rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int q = 0; q < 19; q++)
    rho += f[q], ux += dx[q] * f[q], uy += dy[q] * f[q], uz += dz[q] * f[q];
  const T inverse = 1 / rho;
  ux *= inverse, uy *= inverse, uz *= inverse;
  const T square = 1 - T(1.5) * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < 19; q++) {
    const T c = 3 * (dx[q] * ux + dy[q] * uy + dz[q] * uz);
    f[q] += T(1.3) * (at_rest<T>(q) * rho * (square + c + T(0.5) * c * c) - f[q]);
  }
}
/* No divisions for places, and the results of a block go out in order through shared memory. */
__global__ void __launch_bounds__(128) lattice_cells_tuned(int n, const Cell *__restrict__ from, double *__restrict__ to)
{
  DIRECTIONS;
  __shared__ double out[128 * 19];
  const int first = blockIdx.x * 128, at = first + threadIdx.x, all = n * n * n;
  if (at < all) {
    const int x = at % n, y = at / n % n, z = at / (n * n);
    double f[19];
#pragma unroll
    for (int q = 0; q < 19; q++) {
      const int fx = dx[q] > 0 && x == 0 ? n - 1 : dx[q] < 0 && x == n - 1 ? 0 : x - dx[q];
      const int fy = dy[q] > 0 && y == 0 ? n - 1 : dy[q] < 0 && y == n - 1 ? 0 : y - dy[q];
      const int fz = dz[q] > 0 && z == 0 ? n - 1 : dz[q] < 0 && z == n - 1 ? 0 : z - dz[q];
      f[q] = from[(fz * n + fy) * n + fx].f[q];
    }
    meet(f);
#pragma unroll
    for (int q = 0; q < 19; q++)
      out[threadIdx.x * 19 + q] = f[q];
  }
  __syncthreads();
  const int many = min(128, all - first) * 19;
  for (int k = threadIdx.x; k < many; k += 128)
    to[(long)first * 19 + k] = out[k];
}
static void lattice_cells()
{
  if (!is_wanted("lattice_cells"))
    return;
  const int n = SIZED(97, 12), all = n * n * n;
  Array<double> from(19L * all), to(19L * all);
  from.fill([](long i) { return 0.1 + 0.001 * value(i); });
  compare(
    "lattice_cells", ROUNDED,
    [&] { lattice_cells_naive<<<dim3(blocks(n, 128), n, n), 128>>>(n, (Cell *)from.at, (Cell *)to.at); },
    [&] { lattice_cells_tuned<<<blocks(all, 128), 128>>>(n, (Cell *)from.at, to.at); }, [&] { return to.sum(true); });
}

__global__ void lattice_planes_naive(int n, const float *__restrict__ from, float *__restrict__ to)
{
  const int x = this_thread(), y = blockIdx.y, z = blockIdx.z, all = n * n * n;
  if (x >= n)
    return;
  float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
  for (int q = 0; q < 19; q++) {
    const int fx = x - way_x[q], fy = y - way_y[q], fz = z - way_z[q];
    if (fx < 0 || fx >= n || fy < 0 || fy >= n || fz < 0 || fz >= n)
      f[q] = from[(q == 0 ? 0 : q % 2 ? q + 1 : q - 1) * all + (z * n + y) * n + x];
    else
      f[q] = from[q * all + (fz * n + fy) * n + fx];
    rho += f[q];
    ux += way_x[q] * f[q];
    uy += way_y[q] * f[q];
    uz += way_z[q] * f[q];
  }
  ux /= rho, uy /= rho, uz /= rho;
  const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
  for (int q = 0; q < 19; q++) {
    const float c = 3 * (way_x[q] * ux + way_y[q] * uy + way_z[q] * uz);
    to[q * all + (z * n + y) * n + x]
      = f[q] + 1.3f * (at_rest<float>(q) * rho * (1 + c + 0.5f * c * c - square) - f[q]);
  }
}
__global__ void __launch_bounds__(128) lattice_planes_tuned(int n, const float *__restrict__ from, float *__restrict__ to)
{
  DIRECTIONS;
  const int at = this_thread(), all = n * n * n;
  if (at >= all)
    return;
  const int x = at % n, y = at / n % n, z = at / (n * n);
  const bool is_inside = x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1;
  float f[19];
#pragma unroll
  for (int q = 0; q < 19; q++) {
    const int fx = x - dx[q], fy = y - dy[q], fz = z - dz[q], other = q == 0 ? 0 : q % 2 ? q + 1 : q - 1;
    const bool is_open = is_inside || (fx >= 0 && fx < n && fy >= 0 && fy < n && fz >= 0 && fz < n);
    f[q] = from[is_open ? q * all + at - (dz[q] * n + dy[q]) * n - dx[q] : other * all + at];
  }
  meet(f);
#pragma unroll
  for (int q = 0; q < 19; q++)
    to[q * all + at] = f[q];
}
static void lattice_planes()
{
  if (!is_wanted("lattice_planes"))
    return;
  const int n = SIZED(150, 12), all = n * n * n;
  Array<float> from(19L * all), to(19L * all);
  from.fill([](long i) { return 0.1f + 0.001f * value(i); });
  compare(
    "lattice_planes", ROUNDED,
    [&] { lattice_planes_naive<<<dim3(blocks(n, 128), n, n), 128>>>(n, from.at, to.at); },
    [&] { lattice_planes_tuned<<<blocks(all, 128), 128>>>(n, from.at, to.at); }, [&] { return to.sum(true); });
}

__global__ void rays_naive(int n, int w, int h, const unsigned char *__restrict__ fog, const float *__restrict__ clear,
                           float *__restrict__ light)
{
  const int j = this_thread(), i = blockIdx.y;
  if (j >= w)
    return;
  float x = n / 4 + j % 64 * (n / 128.f), y = n / 4 + i % 64 * (n / 128.f), z = 0, left = 1;
  const float ax = (j - w / 2) / 2048.f, ay = (i - h / 2) / 1024.f, az = 0.5f;
  while (x >= 0 && x < n && y >= 0 && y < n && z < n) {
    left *= clear[fog[((int)z * n + (int)y) * n + (int)x]];
    if (left < 0.01f)
      break;
    x += ax;
    y += ay;
    z += az;
  }
  light[i * w + j] = left;
}
/* Warps of 8 x 4 rays, which stay together for longer; how clear it is without a table; steps by four. */
__global__ void __launch_bounds__(128)
  rays_tuned(int n, int w, int h, const unsigned char *__restrict__ fog, float *__restrict__ light)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int j = blockIdx.x * 16 + warp % 2 * 8 + lane % 8, i = blockIdx.y * 8 + warp / 2 * 4 + lane / 8;
  if (j >= w || i >= h)
    return;
  float x = n / 4 + j % 64 * (n / 128.f), y = n / 4 + i % 64 * (n / 128.f), z = 0, left = 1;
  const float ax = (j - w / 2) / 2048.f, ay = (i - h / 2) / 1024.f, az = 0.5f;
  for (bool is_on = true; is_on;) {
    unsigned char found[4];
    bool is_in[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      is_in[k] = x >= 0 && x < n && y >= 0 && y < n && z < n;
      found[k] = is_in[k] ? fog[((int)z * n + (int)y) * n + (int)x] : 0;
      x += ax, y += ay, z += az;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      is_on = is_on && is_in[k];
      if (is_on)
        left *= 1 - found[k] * (1 / 64.f);
      is_on = is_on && left >= 0.01f;
    }
  }
  light[i * w + j] = left;
}
static void rays()
{
  if (!is_wanted("rays"))
    return;
  const int n = SIZED(256, 32), w = SIZED(999, 40), h = SIZED(701, 30);
  Array<unsigned char> fog((long)n * n * n);
  Array<float> clear(16), light(w * h);
  fog.fill([](long i) { return (unsigned char)(mixed(i / 8) % 4 == 0 ? mixed(i) % 16 : 0); });
  clear.fill([](long i) { return 1 - i / 64.f; });
  compare(
    "rays", ROUNDED, [&] { rays_naive<<<dim3(blocks(w, 128), h), 128>>>(n, w, h, fog.at, clear.at, light.at); },
    [&] { rays_tuned<<<dim3(blocks(w, 16), blocks(h, 8)), 128>>>(n, w, h, fog.at, light.at); },
    [&] { return light.sum(); });
}

struct Charged {
  double x, y, z, vx, vy, vz, weight;
};
__device__ double electric(double x, double y) { return 0.01 * (x * (1 - x) - y * (1 - y)); }
__device__ double inside(double x) { return x < 0 ? x + 1 : x >= 1 ? x - 1 : x; }
__device__ __forceinline__ Charged pushed(Charged c)
{
  const double bx = 0.2, by = -0.1, bz = 0.4, scale = 2 / (1 + bx * bx + by * by + bz * bz);
  const double kick = electric(c.x, c.y) * c.weight;
  const double ux = c.vx + kick, uy = c.vy + kick, uz = c.vz - kick;
  const double tx = ux + uy * bz - uz * by, ty = uy + uz * bx - ux * bz, tz = uz + ux * by - uy * bx;
  c.vx = ux + scale * (ty * bz - tz * by) + kick;
  c.vy = uy + scale * (tz * bx - tx * bz) + kick;
  c.vz = uz + scale * (tx * by - ty * bx) - kick;
  c.x = inside(c.x + c.vx);
  c.y = inside(c.y + c.vy);
  c.z = inside(c.z + c.vz);
  return c;
}
__global__ void push_naive(int n, const Charged *__restrict__ p, Charged *__restrict__ q)
{
  const int i = this_thread();
  if (i < n)
    q[i] = pushed(p[i]);
}
/* The particles of a block come and go in order through shared memory: seven is odd, so no banks are in conflict. */
__global__ void __launch_bounds__(256) push_tuned(int n, const double *__restrict__ p, double *__restrict__ q)
{
  __shared__ Charged all[256];
  const int first = blockIdx.x * 256, many = min(256, n - first) * 7, t = threadIdx.x;
#pragma unroll
  for (int r = 0; r < 7; r++)
    if (t + 256 * r < many)
      ((double *)all)[t + 256 * r] = p[(long)first * 7 + t + 256 * r];
  __syncthreads();
  if (first + t < n)
    all[t] = pushed(all[t]);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 7; r++)
    if (t + 256 * r < many)
      q[(long)first * 7 + t + 256 * r] = ((double *)all)[t + 256 * r];
}
static void push()
{
  if (!is_wanted("push"))
    return;
  const int n = SIZED(3000001, 1000);
  Array<double> p(7L * n), q(7L * n);
  p.fill([](long at) {
    const long i = at / 7, k = at % 7;
    return k < 3 ? (8 + value(i + k)) / 16. : k < 6 ? 0.01 * value(i + k) : 1. + i % 3;
  });
  compare(
    "push", ROUNDED, [&] { push_naive<<<blocks(n, 256), 256>>>(n, (Charged *)p.at, (Charged *)q.at); },
    [&] { push_tuned<<<blocks(n, 256), 256>>>(n, p.at, q.at); }, [&] { return q.sum(true); });
}
