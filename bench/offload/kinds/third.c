/* Kernels written from what suites of benchmarks do, without a look at what the compiler makes of them; third.cu has
   the same in CUDA. Lists, strings and graphs are in third_lists.h.
   ferry cc -O3 --device cuda:sm_90 third.c -o third -lm && FERRY_DEVICE=cuda ./third
   What it prints: kinds.h. */
#include "kinds.h"
#include "third_lists.h"
#include <complex.h>

/* The lower factor of a symmetric matrix, one column after the other. */
static void cholesky(void)
{
  if (!is_wanted("cholesky"))
    return;
  enum { N = SIZED(201, 30) };
  double(*a)[N] = malloc(sizeof *a * N), (*l)[N] = malloc(sizeof *l * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i == j ? 8 : 1.0 / (1 + abs(i - j));
#pragma omp target data map(to: a[0:N]) map(from: l[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          l[i][j] = j <= i ? a[i][j] : 0;
      for (int k = 0; k < N; k++) {
#pragma omp target teams distribute parallel for
        for (int i = k + 1; i < N; i++)
          l[i][k] /= sqrt(l[k][k]);
#pragma omp target teams distribute
        for (int i = k + 1; i < N; i++) {
#pragma omp parallel for
          for (int j = k + 1; j <= i; j++)
            l[i][j] -= l[i][k] * l[j][k];
        }
      }
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        l[i][i] = sqrt(l[i][i]);
    }
  }
  SUM_SIZES(&l[0][0], N * N);
  tell_rounded("cholesky", sum);
  free(a), free(l);
}

/* Many systems with three diagonals, an iteration for each. */
static void tridiagonal(void)
{
  if (!is_wanted("tridiagonal"))
    return;
  enum { ROWS = SIZED(127, 20), MANY = SIZED(100003, 60) };
  float(*a)[MANY] = malloc(sizeof *a * ROWS), (*b)[MANY] = malloc(sizeof *b * ROWS);
  float(*c)[MANY] = malloc(sizeof *c * ROWS), (*d)[MANY] = malloc(sizeof *d * ROWS);
  float(*ratio)[MANY] = malloc(sizeof *ratio * ROWS), (*x)[MANY] = malloc(sizeof *x * ROWS);
  for (long i = 0; i < (long)ROWS * MANY; i++) {
    (*a)[i] = 0.125f * value(i), (*c)[i] = 0.125f * value(i + 5);
    (*b)[i] = 4 + 0.0625f * value(i + 9), (*d)[i] = value(i + 2);
  }
#pragma acc data copyin(a[0:ROWS], b[0:ROWS], c[0:ROWS], d[0:ROWS]) create(ratio[0:ROWS]) copyout(x[0:ROWS])
  {
    MEASURE {
#pragma acc parallel loop gang vector
      for (int s = 0; s < MANY; s++) {
        ratio[0][s] = c[0][s] / b[0][s];
        x[0][s] = d[0][s] / b[0][s];
        for (int i = 1; i < ROWS; i++) {
          const float pivot = b[i][s] - a[i][s] * ratio[i - 1][s];
          ratio[i][s] = c[i][s] / pivot;
          x[i][s] = (d[i][s] - a[i][s] * x[i - 1][s]) / pivot;
        }
        for (int i = ROWS - 2; i >= 0; i--)
          x[i][s] -= ratio[i][s] * x[i + 1][s];
      }
    }
  }
  SUM_SIZES(x[0], (long)ROWS * MANY);
  tell_rounded("tridiagonal", sum);
  free(a), free(b), free(c), free(d), free(ratio), free(x);
}

/* A Fourier transform, by two in each pass. */
static void fourier(void)
{
  if (!is_wanted("fourier"))
    return;
  enum { LEVELS = SIZED(20, 8), N = 1 << LEVELS };
  float complex *in = malloc(sizeof *in * N), *turn = malloc(sizeof *turn * (N / 2));
  float complex *even = malloc(sizeof *even * N), *odd = malloc(sizeof *odd * N);
  for (int i = 0; i < N; i++)
    in[i] = value(i) + value(i + 3) * I;
  for (int i = 0; i < N / 2; i++)
    turn[i] = (float)cos(2 * 3.14159265358979 * i / N) - (float)sin(2 * 3.14159265358979 * i / N) * I;
#pragma omp target data map(to: in[0:N], turn[0:N / 2]) map(alloc: odd[0:N]) map(from: even[0:N])
  {
    MEASURE {
      const float complex *from = in;
      float complex *to = odd;
      for (int half = 1; half < N; half *= 2) {
#pragma omp target teams distribute parallel for
        for (int j = 0; j < N / 2; j++) {
          const int k = j & (half - 1);
          const float complex u = from[j], v = from[j + N / 2] * turn[k * (N / 2 / half)];
          to[2 * j - k] = u + v;
          to[2 * j - k + half] = u - v;
        }
        from = to;
        to = to == odd ? even : odd;
      }
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += (fabsf(crealf(even[i])) + 2 * fabsf(cimagf(even[i]))) * (1 + i % 7);
  tell_rounded("fourier", sum);
  free(in), free(turn), free(even), free(odd);
}

struct pivot {
  double size;
  int row;
};
#pragma omp declare reduction(largest : struct pivot : omp_out = omp_in.size > omp_out.size \
  || (omp_in.size == omp_out.size && omp_in.row < omp_out.row) ? omp_in : omp_out) \
  initializer(omp_priv = (struct pivot){ -1, 0 })

/* Elimination, each step after a search for its pivot. */
static void pivots(void)
{
  if (!is_wanted("pivots"))
    return;
  enum { N = SIZED(60, 20) };
  double a[N][N + 1], w[N][N + 1], x[N];
  for (int i = 0; i < N * (N + 1); i++)
    ((double *)a)[i] = (mixed(i) % 2001) / 1000.0 - 1;
#pragma omp target data map(to: a) map(alloc: w) map(from: x)
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N + 1; j++)
          w[i][j] = a[i][j];
      for (int k = 0; k < N - 1; k++) {
        struct pivot best = { -1, 0 };
#pragma omp target teams distribute parallel for reduction(largest: best) map(tofrom: best)
        for (int i = k; i < N; i++)
          if (fabs(w[i][k]) > best.size) {
            best.size = fabs(w[i][k]);
            best.row = i;
          }
        const int p = best.row;
#pragma omp target teams distribute parallel for
        for (int j = k; j < N + 1; j++) {
          const double t = w[k][j];
          w[k][j] = w[p][j];
          w[p][j] = t;
        }
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = k + 1; i < N; i++)
          for (int j = k + 1; j < N + 1; j++)
            w[i][j] -= w[i][k] / w[k][k] * w[k][j];
      }
      for (int k = N - 1; k >= 0; k--) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i <= k; i++) {
          const double found = w[k][N] / w[k][k];
          if (i == k)
            x[k] = found;
          else
            w[i][N] -= w[i][k] * found;
        }
      }
    }
  }
  SUM_SIZES(x, N);
  tell_rounded("pivots", sum);
}

static void layer_norm(void)
{
  if (!is_wanted("layer_norm"))
    return;
  enum { ROWS = SIZED(40000, 50), WIDE = SIZED(1000, 100) };
  float(*in)[WIDE] = malloc(sizeof *in * ROWS), (*out)[WIDE] = malloc(sizeof *out * ROWS), gain[WIDE], bias[WIDE];
  FILL(in[0], (long)ROWS * WIDE);
  for (int i = 0; i < WIDE; i++)
    gain[i] = 1 + 0.125f * value(i), bias[i] = 0.5f * value(i + 1);
#pragma acc data copyin(in[0:ROWS], gain, bias) copyout(out[0:ROWS])
  {
    MEASURE {
#pragma acc parallel loop gang
      for (int i = 0; i < ROWS; i++) {
        float mean = 0, spread = 0;
#pragma acc loop vector reduction(+: mean)
        for (int j = 0; j < WIDE; j++)
          mean += in[i][j];
        mean /= WIDE;
#pragma acc loop vector reduction(+: spread)
        for (int j = 0; j < WIDE; j++)
          spread += (in[i][j] - mean) * (in[i][j] - mean);
        const float scale = 1 / sqrtf(spread / WIDE + 1e-5f);
#pragma acc loop vector
        for (int j = 0; j < WIDE; j++)
          out[i][j] = (in[i][j] - mean) * scale * gain[j] + bias[j];
      }
    }
  }
  SUM_SIZES(out[0], (long)ROWS * WIDE);
  tell_rounded("layer_norm", sum);
  free(in), free(out);
}

struct rgb {
  unsigned char r, g, b;
};

/* A brightness for each point, two colours for each four. */
static void video(void)
{
  if (!is_wanted("video"))
    return;
  enum { W = SIZED(8000, 48), H = SIZED(6000, 20) };
  struct rgb *in = malloc(sizeof *in * W * H);
  unsigned char *y = malloc(W * H), *u = malloc(W * H / 4), *v = malloc(W * H / 4);
  for (int i = 0; i < W * H; i++) {
    const unsigned m = mixed(i);
    in[i] = (struct rgb){ m & 255, m >> 8 & 255, m >> 16 & 255 };
  }
#pragma acc data copyin(in[0:W * H]) copyout(y[0:W * H], u[0:W * H / 4], v[0:W * H / 4])
  {
    MEASURE {
#pragma acc parallel loop collapse(2)
      for (int i = 0; i < H / 2; i++)
        for (int j = 0; j < W / 2; j++) {
          int r = 0, g = 0, b = 0;
          for (int k = 0; k < 4; k++) {
            const int at = (2 * i + k / 2) * W + 2 * j + k % 2;
            const struct rgb p = in[at];
            y[at] = (66 * p.r + 129 * p.g + 25 * p.b + 128) / 256 + 16;
            r += p.r, g += p.g, b += p.b;
          }
          u[i * (W / 2) + j] = (-38 * r - 74 * g + 112 * b + 512) / 1024 + 128;
          v[i * (W / 2) + j] = (112 * r - 94 * g - 18 * b + 512) / 1024 + 128;
        }
    }
  }
  SUM(y, W * H);
  for (int i = 0; i < W * H / 4; i++)
    sum += u[i] + 2 * v[i];
  tell("video", sum);
  free(in), free(y), free(u), free(v);
}

static void median(void)
{
  if (!is_wanted("median"))
    return;
  enum { W = SIZED(6001, 70), H = SIZED(5003, 40) };
  short(*in)[W] = malloc(sizeof *in * H), (*out)[W] = calloc(H, sizeof *out);
  for (int i = 0; i < W * H; i++)
    in[0][i] = mixed(i) % 4096 - 1000;
#pragma omp target data map(to: in[0:H]) map(tofrom: out[0:H])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++) {
          short near[9];
          for (int k = 0; k < 9; k++)
            near[k] = in[y + k / 3 - 1][x + k % 3 - 1];
          for (int i = 0; i < 5; i++)
            for (int k = i + 1; k < 9; k++)
              if (near[k] < near[i]) {
                const short t = near[i];
                near[i] = near[k];
                near[k] = t;
              }
          out[y][x] = near[4];
        }
    }
  }
  SUM(out[0], W * H);
  tell("median", sum);
  free(in), free(out);
}

/* Two steps of a wave in three dimensions, of the fourth order in space. */
static void acoustics(void)
{
  if (!is_wanted("acoustics"))
    return;
  enum { N = SIZED(301, 20) };
  typedef float plane[N][N];
  plane *u[4], *speed = malloc(sizeof *speed * N);
  for (int s = 0; s < 4; s++)
    u[s] = calloc(N, sizeof *u[s]);
  FILL(&u[0][0][0][0], (long)N * N * N);
  FILL(&u[1][0][0][0], (long)N * N * N);
  for (long i = 0; i < (long)N * N * N; i++)
    (&speed[0][0][0])[i] = 0.0625f + 0.00390625f * value(i + 2);
  plane *const u0 = u[0], *const u1 = u[1], *const u2 = u[2], *const u3 = u[3];
#pragma omp target data map(to: u0[0:N], u1[0:N], speed[0:N]) map(tofrom: u2[0:N], u3[0:N])
  {
    MEASURE {
      for (int s = 0; s < 2; s++) {
        plane *const before = u[s], *const now = u[s + 1], *const next = u[s + 2];
#pragma omp target teams distribute parallel for collapse(3)
        for (int z = 2; z < N - 2; z++)
          for (int y = 2; y < N - 2; y++)
            for (int x = 2; x < N - 2; x++) {
              const float near = now[z - 1][y][x] + now[z + 1][y][x] + now[z][y - 1][x] + now[z][y + 1][x]
                + now[z][y][x - 1] + now[z][y][x + 1];
              const float far = now[z - 2][y][x] + now[z + 2][y][x] + now[z][y - 2][x] + now[z][y + 2][x]
                + now[z][y][x - 2] + now[z][y][x + 2];
              const float bend = -7.5f * now[z][y][x] + 4 / 3.f * near - 1 / 12.f * far;
              next[z][y][x] = 2 * now[z][y][x] - before[z][y][x] + speed[z][y][x] * bend;
            }
      }
    }
  }
  SUM_SIZES(&u3[0][0][0], (long)N * N * N);
  tell_rounded("acoustics", sum);
  free(u0), free(u1), free(u2), free(u3), free(speed);
}

#pragma omp declare target
static const int dx[19] = { 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0 };
static const int dy[19] = { 0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1 };
static const int dz[19] = { 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1 };
static double rest(int q) { return q == 0 ? 1. / 3 : q < 7 ? 1. / 18 : 1. / 36; }
#pragma omp end declare target

struct cell {
  double f[19];
};

/* Particles of a gas on a lattice, those of a place together. */
static void lattice_cells(void)
{
  if (!is_wanted("lattice_cells"))
    return;
  enum { N = SIZED(97, 12) };
  struct cell(*from)[N][N] = malloc(sizeof *from * N), (*to)[N][N] = malloc(sizeof *to * N);
  for (long i = 0; i < 19L * N * N * N; i++)
    ((double *)from)[i] = 0.1 + 0.001 * value(i);
#pragma omp target data map(to: from[0:N]) map(from: to[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
          for (int x = 0; x < N; x++) {
            struct cell here;
            double rho = 0, ux = 0, uy = 0, uz = 0;
            for (int q = 0; q < 19; q++) {
              here.f[q] = from[(z - dz[q] + N) % N][(y - dy[q] + N) % N][(x - dx[q] + N) % N].f[q];
              rho += here.f[q];
              ux += dx[q] * here.f[q];
              uy += dy[q] * here.f[q];
              uz += dz[q] * here.f[q];
            }
            ux /= rho, uy /= rho, uz /= rho;
            const double square = 1.5 * (ux * ux + uy * uy + uz * uz);
            for (int q = 0; q < 19; q++) {
              const double c = 3 * (dx[q] * ux + dy[q] * uy + dz[q] * uz);
              here.f[q] += 1.3 * (rest(q) * rho * (1 + c + 0.5 * c * c - square) - here.f[q]);
            }
            to[z][y][x] = here;
          }
    }
  }
  SUM_SIZES((double *)to, 19L * N * N * N);
  tell_rounded("lattice_cells", sum);
  free(from), free(to);
}

/* The same where each direction has an array, in single precision, between walls that throw back. */
static void lattice_planes(void)
{
  if (!is_wanted("lattice_planes"))
    return;
  enum { N = SIZED(150, 12) };
  float(*from)[N][N][N] = malloc(sizeof *from * 19), (*to)[N][N][N] = malloc(sizeof *to * 19);
  for (long i = 0; i < 19L * N * N * N; i++)
    (&from[0][0][0][0])[i] = 0.1f + 0.001f * value(i);
  const int ex[19] = { 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0 };
  const int ey[19] = { 0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1 };
  const int ez[19] = { 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1 };
#pragma acc data copyin(from[0:19], ex, ey, ez) copyout(to[0:19])
  {
    MEASURE {
#pragma acc parallel loop collapse(3) present(from, to, ex, ey, ez)
      for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
          for (int x = 0; x < N; x++) {
            float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
            for (int q = 0; q < 19; q++) {
              const int fx = x - ex[q], fy = y - ey[q], fz = z - ez[q];
              if (fx < 0 || fx >= N || fy < 0 || fy >= N || fz < 0 || fz >= N)
                f[q] = from[q == 0 ? 0 : q % 2 ? q + 1 : q - 1][z][y][x];
              else
                f[q] = from[q][fz][fy][fx];
              rho += f[q];
              ux += ex[q] * f[q];
              uy += ey[q] * f[q];
              uz += ez[q] * f[q];
            }
            ux /= rho, uy /= rho, uz /= rho;
            const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
            for (int q = 0; q < 19; q++) {
              const float c = 3 * (ex[q] * ux + ey[q] * uy + ez[q] * uz);
              const float rest = q == 0 ? 1.f / 3 : q < 7 ? 1.f / 18 : 1.f / 36;
              to[q][z][y][x] = f[q] + 1.3f * (rest * rho * (1 + c + 0.5f * c * c - square) - f[q]);
            }
          }
    }
  }
  SUM_SIZES(&to[0][0][0][0], 19L * N * N * N);
  tell_rounded("lattice_planes", sum);
  free(from), free(to);
}

/* Light on its way through fog, until it is out or too weak. */
static void rays(void)
{
  if (!is_wanted("rays"))
    return;
  enum { N = SIZED(256, 32), W = SIZED(999, 40), H = SIZED(701, 30) };
  unsigned char(*fog)[N][N] = malloc(sizeof *fog * N);
  float(*light)[W] = malloc(sizeof *light * H), clear[16];
  for (long i = 0; i < (long)N * N * N; i++)
    (&fog[0][0][0])[i] = mixed(i / 8) % 4 == 0 ? mixed(i) % 16 : 0;
  for (int i = 0; i < 16; i++)
    clear[i] = 1 - i / 64.f;
#pragma omp target data map(to: fog[0:N], clear) map(from: light[0:H])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128)
      for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
          float x = N / 4 + j % 64 * (N / 128.f), y = N / 4 + i % 64 * (N / 128.f), z = 0, left = 1;
          const float ax = (j - W / 2) / 2048.f, ay = (i - H / 2) / 1024.f, az = 0.5f;
          while (x >= 0 && x < N && y >= 0 && y < N && z < N) {
            left *= clear[fog[(int)z][(int)y][(int)x]];
            if (left < 0.01f)
              break;
            x += ax;
            y += ay;
            z += az;
          }
          light[i][j] = left;
        }
    }
  }
  SUM(light[0], W * H);
  tell_rounded("rays", sum);
  free(fog), free(light);
}

struct charged {
  double x, y, z, vx, vy, vz, weight;
};
#pragma omp declare target
static double electric(double x, double y) { return 0.01 * (x * (1 - x) - y * (1 - y)); }
static double inside(double x) { return x < 0 ? x + 1 : x >= 1 ? x - 1 : x; }
#pragma omp end declare target

/* Charged particles in an electric and a magnetic field. */
static void push(void)
{
  if (!is_wanted("push"))
    return;
  enum { N = SIZED(3000001, 1000) };
  struct charged *p = malloc(sizeof *p * N), *q = malloc(sizeof *q * N);
  for (int i = 0; i < N; i++)
    p[i] = (struct charged){ (8 + value(i)) / 16., (8 + value(i + 1)) / 16., (8 + value(i + 2)) / 16., 0.01 * value(i + 3),
                             0.01 * value(i + 4), 0.01 * value(i + 5), 1 + i % 3 };
  const double bx = 0.2, by = -0.1, bz = 0.4, scale = 2 / (1 + bx * bx + by * by + bz * bz);
#pragma omp target data map(to: p[0:N]) map(from: q[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        struct charged c = p[i];
        const double kick = electric(c.x, c.y) * c.weight;
        const double ux = c.vx + kick, uy = c.vy + kick, uz = c.vz - kick;
        const double tx = ux + uy * bz - uz * by, ty = uy + uz * bx - ux * bz, tz = uz + ux * by - uy * bx;
        c.vx = ux + scale * (ty * bz - tz * by) + kick;
        c.vy = uy + scale * (tz * bx - tx * bz) + kick;
        c.vz = uz + scale * (tx * by - ty * bx) - kick;
        c.x = inside(c.x + c.vx);
        c.y = inside(c.y + c.vy);
        c.z = inside(c.z + c.vz);
        q[i] = c;
      }
    }
  }
  SUM_SIZES((double *)q, 7L * N);
  tell_rounded("push", sum);
  free(p), free(q);
}

/* A matrix with one vector, and transposed with another. */
static void both_ways(void)
{
  if (!is_wanted("both_ways"))
    return;
  enum { N = SIZED(5003, 50), M = SIZED(4001, 70) };
  double(*a)[M] = malloc(sizeof *a * N), *p = malloc(sizeof *p * M), *r = malloc(sizeof *r * N);
  double *q = malloc(sizeof *q * N), *s = malloc(sizeof *s * M);
  FILL(a[0], (long)N * M);
  FILL(p, M);
  FILL(r, N);
#pragma acc data copyin(a[0:N], p[0:M], r[0:N]) copyout(q[0:N], s[0:M])
  {
    MEASURE {
#pragma acc kernels
      {
#pragma acc loop independent gang
        for (int i = 0; i < N; i++) {
          double dot = 0;
#pragma acc loop independent vector reduction(+: dot)
          for (int j = 0; j < M; j++)
            dot += a[i][j] * p[j];
          q[i] = dot;
        }
#pragma acc loop independent gang vector
        for (int j = 0; j < M; j++) {
          s[j] = 0;
          for (int i = 0; i < N; i++)
            s[j] += a[i][j] * r[i];
        }
      }
    }
  }
  SUM(q, N);
  for (int j = 0; j < M; j++)
    sum += s[j] * (1 + j % 5);
  tell("both_ways", sum);
  free(a), free(p), free(r), free(q), free(s);
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  cholesky();
  tridiagonal();
  fourier();
  pivots();
  layer_norm();
  video();
  median();
  acoustics();
  lattice_cells();
  lattice_planes();
  rays();
  push();
  both_ways();
  groups();
  sorting_step();
  triples();
  islands();
  tree();
  hashes();
  letters();
  queens();
  fingerprints();
  levels();
  alignments();
  return 0;
}
