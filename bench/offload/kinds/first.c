/* More kernels, as scientific programs have them; first.cu has the same in CUDA, and held.c others in the same spirit.
   ferry cc -O3 --device cuda:sm_90 first.c -o first -lm && FERRY_DEVICE=cuda ./first
   What it prints: kinds.h. */
#include "kinds.h"

static void saxpy(void)
{
  if (!is_wanted("saxpy"))
    return;
  enum { N = SIZED(1 << 25, 5000) };
  float *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N);
  FILL(x, N);
  FILL(y, N);
#pragma acc data copyin(x[0:N]) copy(y[0:N])
  {
    MEASURE {
#pragma acc parallel loop
      for (int i = 0; i < N; i++)
        y[i] = 2 * x[i] + y[i];
    }
  }
  SUM(y, N);
  tell("saxpy", sum);
  free(x), free(y);
}

static void jacobi(void)
{
  if (!is_wanted("jacobi"))
    return;
  enum { N = SIZED(6144, 100) };
  double(*a)[N] = malloc(sizeof *a * N), (*b)[N] = calloc(N, sizeof *b);
  FILL(&a[0][0], (long)N * N);
#pragma omp target data map(to: a[0:N]) map(tofrom: b[0:N])
  {
    MEASURE {
#pragma omp target teams distribute
      for (int i = 1; i < N - 1; i++) {
#pragma omp parallel for
        for (int j = 1; j < N - 1; j++)
          b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
      }
    }
  }
  SUM(&b[0][0], (long)N * N);
  tell("jacobi", sum);
  free(a), free(b);
}

static void heat27(void)
{
  if (!is_wanted("heat27"))
    return;
  enum { N = SIZED(320, 20) };
  double(*a)[N][N] = malloc(sizeof *a * N), (*b)[N][N] = calloc(N, sizeof *b);
  FILL(&a[0][0][0], (long)N * N * N);
#pragma omp target data map(to: a[0:N]) map(tofrom: b[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int z = 1; z < N - 1; z++)
        for (int y = 1; y < N - 1; y++)
          for (int x = 1; x < N - 1; x++) {
            double face = a[z - 1][y][x] + a[z + 1][y][x] + a[z][y - 1][x] + a[z][y + 1][x];
            face += a[z][y][x - 1] + a[z][y][x + 1];
            double edge = 0, corner = 0;
            for (int i = -1; i <= 1; i += 2)
              for (int j = -1; j <= 1; j += 2) {
                edge += a[z + i][y + j][x] + a[z + i][y][x + j] + a[z][y + i][x + j];
                corner += a[z + i][y + j][x - 1] + a[z + i][y + j][x + 1];
              }
            b[z][y][x] = 8 * a[z][y][x] + 4 * face + 2 * edge + corner;
          }
    }
  }
  SUM(&b[0][0][0], (long)N * N * N);
  tell("heat27", sum);
  free(a), free(b);
}

static void triangle(void)
{
  if (!is_wanted("triangle"))
    return;
  enum { N = SIZED(10000, 70) };
  float *a = malloc(sizeof *a * N * N), *b = calloc((size_t)N * N, sizeof *b), *x = malloc(sizeof *x * N);
  FILL(a, (long)N * N);
  FILL(x, N);
#pragma omp target data map(to: a[0:N * N], x[0:N]) map(tofrom: b[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
          b[i * N + j] = a[i * N + j] + x[i] * x[j];
    }
  }
  SUM(b, (long)N * N);
  tell("triangle", sum);
  free(a), free(b), free(x);
}

static void syrk(void)
{
  if (!is_wanted("syrk"))
    return;
  enum { N = SIZED(2048, 100), K = SIZED(1024, 50) };
  double(*a)[K] = malloc(sizeof *a * N), (*c)[N] = calloc(N, sizeof *c);
  FILL(&a[0][0], N * K);
#pragma omp target data map(to: a[0:N]) map(tofrom: c[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
          double s = 0;
          for (int k = 0; k < K; k++)
            s += a[i][k] * a[j][k];
          c[i][j] = s;
        }
    }
  }
  SUM(&c[0][0], (long)N * N);
  tell("syrk", sum);
  free(a), free(c);
}

struct matrix4 {
  float at[4][4];
};
struct vector4 {
  float at[4];
};

static void matrices4(void)
{
  if (!is_wanted("matrices4"))
    return;
  enum { N = SIZED(1 << 22, 1000) };
  struct matrix4 *m = malloc(sizeof *m * N);
  struct vector4 *v = malloc(sizeof *v * N), *w = malloc(sizeof *w * N);
  FILL(&m[0].at[0][0], 16L * N);
  FILL(&v[0].at[0], 4L * N);
#pragma omp target data map(to: m[0:N], v[0:N]) map(from: w[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int t = 0; t < N; t++)
        for (int i = 0; i < 4; i++) {
          float s = 0;
          for (int j = 0; j < 4; j++)
            s += m[t].at[i][j] * v[t].at[j];
          w[t].at[i] = s;
        }
    }
  }
  SUM(&w[0].at[0], 4L * N);
  tell("matrices4", sum);
  free(m), free(v), free(w);
}

struct place {
  float value;
  int at;
};
#pragma omp declare target
static struct place better(struct place a, struct place b)
{
  return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
}
#pragma omp end declare target
#pragma omp declare reduction(greatest : struct place : omp_out = better(omp_out, omp_in)) \
  initializer(omp_priv = (struct place){ -1, 0 })

static void max_place(void)
{
  if (!is_wanted("max_place"))
    return;
  enum { N = SIZED(1 << 26, 10000) };
  float *a = malloc(sizeof *a * N);
  for (int i = 0; i < N; i++)
    a[i] = mixed(i) >> 8;
  struct place best;
#pragma omp target data map(to: a[0:N])
  {
    MEASURE {
      best = (struct place){ -1, 0 };
#pragma omp target teams distribute parallel for reduction(greatest: best) map(tofrom: best)
      for (int i = 0; i < N; i++)
        best = better(best, (struct place){ a[i], i });
    }
  }
  tell("max_place", (double)best.value + best.at);
  free(a);
}

static void prefix(void)
{
  if (!is_wanted("prefix"))
    return;
  enum { N = SIZED(1 << 24, 10000) };
  int *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
  FILL(a, N);
#pragma omp target data map(to: a[0:N]) map(from: b[0:N])
  {
    MEASURE {
#pragma omp target
      {
        int s = 0;
#pragma omp parallel for reduction(inscan, +: s)
        for (int i = 0; i < N; i++) {
          s += a[i];
#pragma omp scan inclusive(s)
          b[i] = s;
        }
      }
    }
  }
  SUM(b, N);
  tell("prefix", sum);
  free(a), free(b);
}

static void bitonic(void)
{
  if (!is_wanted("bitonic"))
    return;
  enum { N = SIZED(1 << 18, 1 << 13) };
  int *keys = malloc(sizeof *keys * N), *a = malloc(sizeof *a * N);
  for (int i = 0; i < N; i++)
    keys[i] = mixed(i) >> 12;
#pragma omp target data map(to: keys[0:N]) map(from: a[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        a[i] = keys[i];
      for (int size = 2; size <= N; size *= 2)
        for (int far = size / 2; far > 0; far /= 2) {
#pragma omp target teams distribute parallel for
          for (int i = 0; i < N; i++) {
            const int other = i ^ far;
            if (other > i) {
              const int x = a[i], y = a[other];
              if ((x > y) == ((i & size) == 0)) {
                a[i] = y;
                a[other] = x;
              }
            }
          }
        }
    }
  }
  SUM(a, N);
  tell("bitonic", sum);
  free(keys), free(a);
}

static void mandelbrot(void)
{
  if (!is_wanted("mandelbrot"))
    return;
  enum { N = SIZED(3072, 100), MOST = SIZED(500, 100) };
  int *count = malloc(sizeof *count * N * N);
#pragma omp target data map(from: count[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
          const double cx = -2.0 + 3.0 * j / N, cy = -1.5 + 3.0 * i / N;
          double x = 0, y = 0;
          int n = 0;
          while (n < MOST && x * x + y * y < 4.0) {
            const double t = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = t;
            n++;
          }
          count[i * N + j] = n;
        }
    }
  }
  SUM(count, N * N);
  tell_rounded("mandelbrot", sum);
  free(count);
}

static void search(void)
{
  if (!is_wanted("search"))
    return;
  enum { N = SIZED(1 << 21, 3000) };
  int *row = malloc(sizeof *row * (N + 1)), *level = malloc(sizeof *level * N);
  int *here = malloc(sizeof *here * N), *later = malloc(sizeof *later * N);
  const int edges = fill_rows(N, row);
  int *column = malloc(sizeof *column * edges);
  fill_columns(N, row, 0, column);
#pragma omp target data map(to: row[0:N + 1], column[0:edges]) map(from: level[0:N]) map(alloc: here[0:N], later[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        level[i] = i ? -1 : 0;
#pragma omp target
      here[0] = 0;
      int many = 1;
      for (int depth = 1; many > 0; depth++) {
        int found = 0;
#pragma omp target teams distribute parallel for map(tofrom: found)
        for (int i = 0; i < many; i++) {
          const int from = here[i];
          for (int e = row[from]; e < row[from + 1]; e++) {
            const int to = column[e];
            if (level[to] < 0) {
              int old, at;
#pragma omp atomic capture
              {
                old = level[to];
                level[to] = depth;
              }
              if (old < 0) {
#pragma omp atomic capture
                at = found++;
                later[at] = to;
              }
            }
          }
        }
        int *swap = here;
        here = later;
        later = swap;
        many = found;
      }
    }
  }
  SUM(level, N);
  tell("search", sum);
  free(row), free(level), free(here), free(later), free(column);
}

struct point {
  double x, y, z;
};

/* Atoms near the points of a lattice, and for each the 63 others in a box around it. */
static void lennard_jones(void)
{
  if (!is_wanted("lennard_jones"))
    return;
  enum { SIDE = SIZED(64, 8), N = SIDE * SIDE * SIDE, NEAR = 63 };
  struct point *p = malloc(sizeof *p * N), *f = malloc(sizeof *f * N);
  int *list = malloc(sizeof *list * N * NEAR);
  for (int i = 0; i < N; i++)
    p[i] = (struct point){ lattice_place(SIDE, i, 0), lattice_place(SIDE, i, 1), lattice_place(SIDE, i, 2) };
  for (int i = 0; i < N * NEAR; i++)
    list[i] = lattice_neighbour(SIDE, i / NEAR, i % NEAR);
  const double box = SIDE, half = box / 2, cutoff = 2.0 * 2.0;
#pragma omp target data map(to: p[0:N], list[0:N * NEAR]) map(from: f[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        struct point sum = { 0, 0, 0 };
        for (int k = 0; k < NEAR; k++) {
          const int j = list[i * NEAR + k];
          double dx = p[i].x - p[j].x, dy = p[i].y - p[j].y, dz = p[i].z - p[j].z;
          dx = dx > half ? dx - box : dx < -half ? dx + box : dx;
          dy = dy > half ? dy - box : dy < -half ? dy + box : dy;
          dz = dz > half ? dz - box : dz < -half ? dz + box : dz;
          const double square = dx * dx + dy * dy + dz * dz;
          if (square < cutoff) {
            const double inverse = 1 / square, sixth = inverse * inverse * inverse;
            const double force = 24 * sixth * (2 * sixth - 1) * inverse;
            sum.x += force * dx;
            sum.y += force * dy;
            sum.z += force * dz;
          }
        }
        f[i] = sum;
      }
    }
  }
  SUM_SIZES(&f[0].x, 3 * N);
  tell_rounded("lennard_jones", sum);
  free(p), free(f), free(list);
}

#pragma omp declare target
static const int cx[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, cy[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const double weight[9] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36 };
#pragma omp end declare target

static void boltzmann(void)
{
  if (!is_wanted("boltzmann"))
    return;
  enum { N = SIZED(2048, 60) };
  double(*f)[N][N] = malloc(sizeof *f * 9), (*g)[N][N] = malloc(sizeof *g * 9);
  for (long i = 0; i < 9L * N * N; i++)
    (&f[0][0][0])[i] = 0.1 + 0.001 * value(i);
#pragma omp target data map(to: f[0:9]) map(from: g[0:9])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
          double in[9], rho = 0, ux = 0, uy = 0;
          for (int q = 0; q < 9; q++) {
            const int fx = (x - cx[q] + N) % N, fy = (y - cy[q] + N) % N;
            in[q] = f[q][fy][fx];
            rho += in[q];
            ux += cx[q] * in[q];
            uy += cy[q] * in[q];
          }
          ux /= rho;
          uy /= rho;
          const double square = 1.5 * (ux * ux + uy * uy);
          for (int q = 0; q < 9; q++) {
            const double cu = 3 * (cx[q] * ux + cy[q] * uy);
            const double equal = weight[q] * rho * (1 + cu + 0.5 * cu * cu - square);
            g[q][y][x] = in[q] + 1.2 * (equal - in[q]);
          }
        }
    }
  }
  SUM(&g[0][0][0], 9L * N * N);
  tell_rounded("boltzmann", sum);
  free(f), free(g);
}

struct particle {
  double x, y, z, vx, vy, vz;
};

static void particles(void)
{
  if (!is_wanted("particles"))
    return;
  enum { N = SIZED(1 << 23, 1000) };
  struct particle *p = malloc(sizeof *p * N);
  FILL(&p[0].x, 6L * N);
  const double dt = 0.5;
#pragma omp target data map(tofrom: p[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
        p[i].z += dt * p[i].vz;
        p[i].vz -= dt;
      }
    }
  }
  SUM(&p[0].x, 6L * N);
  tell("particles", sum);
  free(p);
}

static void histogram_weights(void)
{
  if (!is_wanted("histogram_weights"))
    return;
  enum { N = SIZED(1 << 23, 10000), BINS = 64 };
  int *key = malloc(sizeof *key * N);
  double *weights = malloc(sizeof *weights * N), bins[BINS];
  for (int i = 0; i < N; i++)
    key[i] = mixed(i) % BINS;
  FILL(weights, N);
#pragma omp target data map(to: key[0:N], weights[0:N]) map(from: bins)
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int b = 0; b < BINS; b++)
        bins[b] = 0;
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
#pragma omp atomic
        bins[key[i]] += weights[i];
      }
    }
  }
  SUM(bins, BINS);
  tell("histogram_weights", sum);
  free(key), free(weights);
}

static void histogram_max(void)
{
  if (!is_wanted("histogram_max"))
    return;
  enum { N = SIZED(1 << 24, 10000), BINS = 64 };
  int *key = malloc(sizeof *key * N), *a = malloc(sizeof *a * N), bins[BINS];
  for (int i = 0; i < N; i++)
    key[i] = mixed(i) % BINS, a[i] = mixed(N + i) >> 8;
#pragma omp target data map(to: key[0:N], a[0:N]) map(from: bins)
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int b = 0; b < BINS; b++)
        bins[b] = 0;
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
#pragma omp atomic compare
        if (bins[key[i]] < a[i]) { bins[key[i]] = a[i]; }
      }
    }
  }
  SUM(bins, BINS);
  tell("histogram_max", sum);
  free(key), free(a);
}

static void softmax(void)
{
  if (!is_wanted("softmax"))
    return;
  enum { N = SIZED(32768, 30), M = 1024 };
  float(*a)[M] = malloc(sizeof *a * N), (*b)[M] = malloc(sizeof *b * N);
  FILL(&a[0][0], (long)N * M);
#pragma omp target data map(to: a[0:N]) map(from: b[0:N])
  {
    MEASURE {
#pragma omp target teams distribute
      for (int i = 0; i < N; i++) {
        float most = a[i][0], total = 0;
#pragma omp parallel for reduction(max: most)
        for (int j = 0; j < M; j++)
          most = fmaxf(most, a[i][j]);
#pragma omp parallel for reduction(+: total)
        for (int j = 0; j < M; j++) {
          b[i][j] = expf(a[i][j] - most);
          total += b[i][j];
        }
#pragma omp parallel for
        for (int j = 0; j < M; j++)
          b[i][j] /= total;
      }
    }
  }
  SUM(&b[0][0], (long)N * M);
  tell_rounded("softmax", sum);
  free(a), free(b);
}

struct number {
  double re, im;
};

static void complex_dot(void)
{
  if (!is_wanted("complex_dot"))
    return;
  enum { N = SIZED(1 << 24, 10000) };
  struct number *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
  FILL(&a[0].re, 2L * N);
  for (long i = 0; i < 2L * N; i++)
    (&b[0].re)[i] = value(i + 5);
  double re = 0, im = 0;
#pragma omp target data map(to: a[0:N], b[0:N])
  {
    MEASURE {
      re = im = 0;
#pragma omp target teams distribute parallel for reduction(+: re, im)
      for (int i = 0; i < N; i++) {
        re += a[i].re * b[i].re + a[i].im * b[i].im;
        im += a[i].re * b[i].im - a[i].im * b[i].re;
      }
    }
  }
  tell("complex_dot", re + 2 * im);
  free(a), free(b);
}

static void gather(void)
{
  if (!is_wanted("gather"))
    return;
  enum { N = SIZED(1 << 25, 1 << 13) };
  float *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
  int *from = malloc(sizeof *from * N);
  FILL(a, N);
  for (int i = 0; i < N; i++)
    from[i] = permuted(i, N);
#pragma omp target data map(to: a[0:N], from[0:N]) map(from: b[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        b[i] = a[from[i]];
    }
  }
  SUM(b, N);
  tell("gather", sum);
  free(a), free(b), free(from);
}

static void grey(void)
{
  if (!is_wanted("grey"))
    return;
  enum { N = SIZED(8192, 64) };
  unsigned char *in = malloc(3L * N * N), *out = malloc((long)N * N);
  for (long i = 0; i < 3L * N * N; i++)
    in[i] = (unsigned)(i * 2654435761u) >> 24;
#pragma omp target data map(to: in[0:3 * N * N]) map(from: out[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
          const unsigned char *at = &in[3 * (y * N + x)];
          out[y * N + x] = (77 * at[0] + 150 * at[1] + 29 * at[2]) >> 8;
        }
    }
  }
  SUM(out, N * N);
  tell("grey", sum);
  free(in), free(out);
}

static void blur(void)
{
  if (!is_wanted("blur"))
    return;
  enum { H = SIZED(4096, 50), W = SIZED(8192, 60), ROWS = 15 };
  float(*in)[W] = malloc(sizeof *in * (H + ROWS - 1)), (*out)[W] = malloc(sizeof *out * H);
  FILL(&in[0][0], (H + ROWS - 1) * W);
#pragma acc data copyin(in[0:H + ROWS - 1]) copyout(out[0:H])
  {
    MEASURE {
#pragma acc parallel loop collapse(2)
      for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
          float s = 0;
          for (int d = 0; d < ROWS; d++)
            s += in[y + d][x];
          out[y][x] = s;
        }
    }
  }
  SUM(&out[0][0], H * W);
  tell("blur", sum);
  free(in), free(out);
}

static void matvec_columns(void)
{
  if (!is_wanted("matvec_columns"))
    return;
  enum { N = SIZED(8192, 100) };
  double *a = malloc(sizeof *a * N * N), *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N);
  FILL(a, (long)N * N);
  FILL(x, N);
#pragma acc data copyin(a[0:N * N], x[0:N]) copyout(y[0:N])
  {
    MEASURE {
#pragma acc parallel loop
      for (int i = 0; i < N; i++) {
        double s = 0;
        for (int j = 0; j < N; j++)
          s += a[j * N + i] * x[j];
        y[i] = s;
      }
    }
  }
  SUM(y, N);
  tell("matvec_columns", sum);
  free(a), free(x), free(y);
}

static void sparse(void)
{
  if (!is_wanted("sparse"))
    return;
  enum { N = SIZED(1 << 20, 1000), REACH = SIZED(4096, 50) };
  int *row = malloc(sizeof *row * (N + 1));
  const int elements = fill_rows(N, row);
  int *column = malloc(sizeof *column * elements);
  fill_columns(N, row, REACH, column);
  double *a = malloc(sizeof *a * elements), *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N);
  FILL(a, elements);
  FILL(x, N);
#pragma omp target data map(to: row[0:N + 1], column[0:elements], a[0:elements], x[0:N]) map(from: y[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        double s = 0;
        for (int e = row[i]; e < row[i + 1]; e++)
          s += a[e] * x[column[e]];
        y[i] = s;
      }
    }
  }
  SUM(y, N);
  tell("sparse", sum);
  free(row), free(column), free(a), free(x), free(y);
}

struct body {
  float x, y, z, mass;
};

static void bodies(void)
{
  if (!is_wanted("bodies"))
    return;
  enum { N = SIZED(16384, 300) };
  struct body *p = malloc(sizeof *p * N);
  float(*out)[3] = malloc(sizeof *out * N);
  for (int i = 0; i < 4 * N; i++)
    (&p[0].x)[i] = (i % 4 == 3 ? 1 : 0) + (mixed(i) >> 8) / 16777216.0f;
#pragma omp target data map(to: p[0:N]) map(from: out[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < N; j++) {
          const float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
          const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
          const float s = p[j].mass * inverse * inverse * inverse;
          ax += s * dx;
          ay += s * dy;
          az += s * dz;
        }
        out[i][0] = ax;
        out[i][1] = ay;
        out[i][2] = az;
      }
    }
  }
  SUM_SIZES(&out[0][0], 3 * N);
  tell_rounded("bodies", sum);
  free(p), free(out);
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  saxpy();
  jacobi();
  heat27();
  triangle();
  syrk();
  matrices4();
  max_place();
  prefix();
  bitonic();
  mandelbrot();
  search();
  lennard_jones();
  boltzmann();
  particles();
  histogram_weights();
  histogram_max();
  softmax();
  complex_dot();
  gather();
  grey();
  blur();
  matvec_columns();
  sparse();
  bodies();
  return 0;
}
