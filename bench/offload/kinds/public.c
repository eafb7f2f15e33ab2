/* Kernels as ordinary programs have them: public functions take plain pointers and sizes, subscripts are linear, and
   the data were put on the device by others. public.cu has the same in CUDA. Matrices and layers are in
   public_layers.h, graphs, meshes and lists in public_lists.h.
   ferry cc -O3 --device cuda:sm_90 public.c -o public -lm && FERRY_DEVICE=cuda ./public
   What it prints: kinds.h. */
#include "kinds.h"
#include "public_layers.h"
#include "public_lists.h"

/* The heat of a chip, whose borders keep what they have. */
void hotspot_step(float *power, float *from, float *to, int rows, int cols, float cap, float rx, float ry, float rz,
                  float around)
{
  int r, c;
#pragma omp target teams distribute parallel for collapse(2) private(r, c)
  for (r = 0; r < rows; r++) {
    for (c = 0; c < cols; c++) {
      float here = from[r * cols + c], up, down, left, right;
      if (r == 0)
        up = here;
      else
        up = from[(r - 1) * cols + c];
      if (r == rows - 1)
        down = here;
      else
        down = from[(r + 1) * cols + c];
      if (c == 0)
        left = here;
      else
        left = from[r * cols + c - 1];
      if (c == cols - 1)
        right = here;
      else
        right = from[r * cols + c + 1];
      float delta = cap * (power[r * cols + c] + (up + down - 2.0f * here) * ry + (left + right - 2.0f * here) * rx
                           + (around - here) * rz);
      to[r * cols + c] = here + delta;
    }
  }
}

static void hotspot(void)
{
  if (!is_wanted("hotspot"))
    return;
  const int rows = SIZED(2048, 50), cols = SIZED(2100, 70), steps = 8, n = rows * cols;
  float *power = malloc(sizeof(float) * n), *start = malloc(sizeof(float) * n);
  float *a = malloc(sizeof(float) * n), *b = malloc(sizeof(float) * n);
  for (int i = 0; i < n; i++)
    power[i] = 0.25f * (8 + value(i)), start[i] = 300 + value(i + 5);
#pragma omp target data map(to: power[0:n], start[0:n]) map(alloc: a[0:n]) map(from: b[0:n])
  {
    MEASURE {
      float *from = start, *to = a, *other = b;
      for (int s = 0; s < steps; s++) {
        hotspot_step(power, from, to, rows, cols, 0.5f, 0.125f, 0.25f, 0.0625f, 80.0f);
        from = to;
        to = other;
        other = from;
      }
    }
  }
  SUM_SIZES(b, n);
  tell_rounded("hotspot", sum);
  free(power), free(start), free(a), free(b);
}

#define IDX(i, j) ((i) * cols + (j))

/* Noise is taken out of an image, but not its edges: the mean of a region, coefficients, the new image. */
void srad_iterate(float *image, float *coef, float *dN, float *dS, float *dW, float *dE, int *iN, int *iS, int *jW,
                  int *jE, long rows, long cols, long r1, long r2, long c1, long c2, float lambda)
{
  long i, j;
  double sum = 0, sum2 = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: sum, sum2) map(tofrom: sum, sum2)
  for (i = r1; i <= r2; i++)
    for (j = c1; j <= c2; j++) {
      double t = image[IDX(i, j)];
      sum += t;
      sum2 += t * t;
    }
  double count = (double)(r2 - r1 + 1) * (c2 - c1 + 1), mean = sum / count;
  float q0 = (float)((sum2 / count - mean * mean) / (mean * mean));
#pragma omp target teams distribute parallel for collapse(2)
  for (i = 0; i < rows; i++)
    for (j = 0; j < cols; j++) {
      long k = IDX(i, j);
      float here = image[k];
      dN[k] = image[IDX(iN[i], j)] - here;
      dS[k] = image[IDX(iS[i], j)] - here;
      dW[k] = image[IDX(i, jW[j])] - here;
      dE[k] = image[IDX(i, jE[j])] - here;
      float g2 = (dN[k] * dN[k] + dS[k] * dS[k] + dW[k] * dW[k] + dE[k] * dE[k]) / (here * here);
      float l = (dN[k] + dS[k] + dW[k] + dE[k]) / here;
      float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
      float den = 1 + 0.25f * l;
      float q = num / (den * den);
      float found = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
      if (found < 0)
        found = 0;
      else if (found > 1)
        found = 1;
      coef[k] = found;
    }
#pragma omp target teams distribute parallel for collapse(2)
  for (i = 0; i < rows; i++)
    for (j = 0; j < cols; j++) {
      long k = IDX(i, j);
      float cN = coef[k], cW = coef[k], cS = coef[IDX(iS[i], j)], cE = coef[IDX(i, jE[j])];
      image[k] += 0.25f * lambda * (cN * dN[k] + cS * dS[k] + cW * dW[k] + cE * dE[k]);
    }
}

void srad_begin(float *image, float *start, long n)
{
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; i++)
    image[i] = start[i];
}

static void srad(void)
{
  if (!is_wanted("srad"))
    return;
  const long rows = SIZED(1500, 40), cols = SIZED(2000, 50), n = rows * cols;
  float *image = malloc(sizeof(float) * n), *start = malloc(sizeof(float) * n), *coef = malloc(sizeof(float) * n);
  float *dN = malloc(sizeof(float) * n), *dS = malloc(sizeof(float) * n);
  float *dW = malloc(sizeof(float) * n), *dE = malloc(sizeof(float) * n);
  int *iN = malloc(sizeof(int) * rows), *iS = malloc(sizeof(int) * rows);
  int *jW = malloc(sizeof(int) * cols), *jE = malloc(sizeof(int) * cols);
  for (long i = 0; i < n; i++)
    start[i] = 20 + value(i);
  for (int i = 0; i < rows; i++)
    iN[i] = i > 0 ? i - 1 : 0, iS[i] = i < rows - 1 ? i + 1 : i;
  for (int j = 0; j < cols; j++)
    jW[j] = j > 0 ? j - 1 : 0, jE[j] = j < cols - 1 ? j + 1 : j;
#pragma omp target data map(to: start[0:n], iN[0:rows], iS[0:rows], jW[0:cols], jE[0:cols]) map(from: image[0:n]) \
  map(alloc: coef[0:n], dN[0:n], dS[0:n], dW[0:n], dE[0:n])
  {
    MEASURE {
      srad_begin(image, start, n);
      for (int s = 0; s < 2; s++)
        srad_iterate(image, coef, dN, dS, dW, dE, iN, iS, jW, jE, rows, cols, 5, rows / 2, 3, cols - 4, 0.5f);
    }
  }
  SUM_SIZES(image, n);
  tell_rounded("srad", sum);
  free(image), free(start), free(coef), free(dN), free(dS), free(dW), free(dE), free(iN), free(iS), free(jW), free(jE);
}

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* The cheapest way through a wall, one row after the other. */
int *pathfinder_run(int *wall, int *src, int *dst, int rows, int cols)
{
#pragma acc parallel loop present(wall, src)
  for (int j = 0; j < cols; j++)
    src[j] = wall[j];
  for (int t = 1; t < rows; t++) {
#pragma acc parallel loop present(wall, src, dst)
    for (int j = 0; j < cols; j++) {
      int least = src[j];
      if (j > 0)
        least = MIN(least, src[j - 1]);
      if (j < cols - 1)
        least = MIN(least, src[j + 1]);
      dst[j] = wall[t * cols + j] + least;
    }
    int *old = src;
    src = dst;
    dst = old;
  }
  return src;
}

static void pathfinder(void)
{
  if (!is_wanted("pathfinder"))
    return;
  const int rows = SIZED(51, 21), cols = SIZED(1000003, 1500);
  int *wall = malloc(sizeof(int) * rows * cols), *a = calloc(cols, sizeof(int)), *b = calloc(cols, sizeof(int));
  int *result = NULL;
  for (int i = 0; i < rows * cols; i++)
    wall[i] = mixed(i) % 10;
#pragma acc data copyin(wall[0:rows * cols]) copyout(a[0:cols], b[0:cols])
  {
    MEASURE {
      result = pathfinder_run(wall, a, b, rows, cols);
    }
  }
  SUM(result, cols);
  tell("pathfinder", sum);
  free(wall), free(a), free(b);
}

/* Factors of a step of the elimination. */
void gaussian_fan1(float *m, float *a, int size, int t)
{
#pragma omp target teams loop
  for (int i = 0; i < size - 1 - t; i++)
    m[size * (t + 1 + i) + t] = a[size * (t + 1 + i) + t] / a[size * t + t];
}

/* What they change. */
void gaussian_fan2(float *m, float *a, float *b, int size, int t)
{
#pragma omp target teams distribute
  for (int i = 0; i < size - 1 - t; i++) {
#pragma omp parallel for
    for (int j = 0; j < size - t; j++) {
      a[size * (t + 1 + i) + t + j] -= m[size * (t + 1 + i) + t] * a[size * t + t + j];
      if (j == 0)
        b[t + 1 + i] -= m[size * (t + 1 + i) + t] * b[t];
    }
  }
}

void gaussian_begin(float *a, float *a0, float *b, float *b0, int size)
{
#pragma omp target teams distribute parallel for
  for (int i = 0; i < size * size; i++) {
    a[i] = a0[i];
    if (i < size)
      b[i] = b0[i];
  }
}

static void gaussian(void)
{
  if (!is_wanted("gaussian"))
    return;
  const int size = SIZED(100, 40), n = size * size;
  float *a0 = malloc(sizeof(float) * n), *b0 = malloc(sizeof(float) * size);
  float *a = malloc(sizeof(float) * n), *b = malloc(sizeof(float) * size), *m = malloc(sizeof(float) * n);
  for (int i = 0; i < n; i++)
    a0[i] = i % (size + 1) == 0 ? 40 : 10.0f / (1 + abs(i / size - i % size));
  for (int i = 0; i < size; i++)
    b0[i] = 20 + value(i);
#pragma omp target data map(to: a0[0:n], b0[0:size]) map(alloc: m[0:n]) map(from: a[0:n], b[0:size])
  {
    MEASURE {
      gaussian_begin(a, a0, b, b0, size);
      for (int t = 0; t < size - 1; t++) {
        gaussian_fan1(m, a, size, t);
        gaussian_fan2(m, a, b, size, t);
      }
    }
  }
  SUM_SIZES(b, size);
  for (int i = 0; i < n; i++)
    if (i % size >= i / size)
      sum += fabs(a[i]);
  tell_rounded("gaussian", sum);
  free(a0), free(b0), free(a), free(b), free(m);
}

/* Each point becomes the mean of its neighbours; says how much any has changed. Rows and planes lie where strides say. */
double relax7_sweep(double *in, double *out, int nx, int ny, int nz, long sy, long sz)
{
  double diff = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(max: diff) map(tofrom: diff)
  for (int k = 1; k < nz - 1; k++)
    for (int j = 1; j < ny - 1; j++)
      for (int i = 1; i < nx - 1; i++) {
        long p = k * sz + j * sy + i;
        double next = (in[p - 1] + in[p + 1] + in[p - sy] + in[p + sy] + in[p - sz] + in[p + sz]) / 6;
        double d = fabs(next - in[p]);
        if (d > diff)
          diff = d;
        out[p] = next;
      }
  return diff;
}

static void relax7(void)
{
  if (!is_wanted("relax7"))
    return;
  const int nx = SIZED(250, 40), ny = SIZED(240, 17), nz = SIZED(260, 20);
  const long sy = nx + 3, sz = sy * (ny + 1), n = sz * nz;
  double *start = malloc(sizeof(double) * n), *a = calloc(n, sizeof(double)), *b = calloc(n, sizeof(double));
  double diff = 0;
  FILL(start, n);
#pragma omp target data map(to: start[0:n], a[0:n]) map(tofrom: b[0:n])
  {
    MEASURE {
      double *from = start, *to = a, *other = b;
      diff = 100;
      for (int s = 0; s < 4 && diff > 0.001; s++) {
        diff = relax7_sweep(from, to, nx, ny, nz, sy, sz);
        from = to;
        to = other;
        other = from;
      }
    }
  }
  SUM_SIZES(b, n);
  tell_rounded("relax7", sum + 1000 * diff);
  free(start), free(a), free(b);
}

/* An electric and a magnetic field in two dimensions. */
void fdtd_begin(int nx, int ny, double (*ex)[ny], double (*ey)[ny], double (*hz)[ny], double (*hz0)[ny])
{
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      ex[i][j] = 0;
      ey[i][j] = 0;
      hz[i][j] = hz0[i][j];
    }
}

void fdtd_step(int t, int nx, int ny, double (*ex)[ny], double (*ey)[ny], double (*hz)[ny])
{
#pragma omp target teams distribute parallel for
  for (int j = 0; j < ny; j++)
    ey[0][j] = t;
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 1; i < nx; i++)
    for (int j = 0; j < ny; j++)
      ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < nx; i++)
    for (int j = 1; j < ny; j++)
      ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < nx - 1; i++)
    for (int j = 0; j < ny - 1; j++)
      hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}

static void fdtd(void)
{
  if (!is_wanted("fdtd"))
    return;
  const int nx = SIZED(2000, 30), ny = SIZED(1700, 45), n = nx * ny;
  double *ex = malloc(sizeof(double) * n), *ey = malloc(sizeof(double) * n);
  double *hz = malloc(sizeof(double) * n), *hz0 = malloc(sizeof(double) * n);
  FILL(hz0, n);
#pragma omp target data map(to: hz0[0:n]) map(alloc: ex[0:n], ey[0:n]) map(from: hz[0:n])
  {
    MEASURE {
      fdtd_begin(nx, ny, (double(*)[ny])ex, (double(*)[ny])ey, (double(*)[ny])hz, (double(*)[ny])hz0);
      for (int t = 0; t < 3; t++)
        fdtd_step(t, nx, ny, (double(*)[ny])ex, (double(*)[ny])ey, (double(*)[ny])hz);
    }
  }
  SUM_SIZES(hz, n);
  tell_rounded("fdtd", sum);
  free(ex), free(ey), free(hz), free(hz0);
}

struct grid {
  int nx, ny;
  double dx, dy, dt;
  double *q, *next, *u, *v;
};

#pragma acc routine seq
double upwind(double speed, double before, double after)
{
  if (speed > 0)
    return speed * before;
  else
    return speed * after;
}

#define AT(j, i) ((j) * nx + (i))

/* What flows is taken from where it comes from. */
void advect_step(struct grid *g)
{
  int nx = g->nx, ny = g->ny;
  double *q = g->q, *next = g->next, *u = g->u, *v = g->v;
  double ax = g->dt / g->dx, ay = g->dt / g->dy;
#pragma acc parallel loop collapse(2) present(q, next, u, v)
  for (int j = ny - 2; j >= 1; j--)
    for (int i = 1; i <= nx - 2; i++) {
      double west = upwind(u[AT(j, i)], q[AT(j, i - 1)], q[AT(j, i)]);
      double east = upwind(u[AT(j, i + 1)], q[AT(j, i)], q[AT(j, i + 1)]);
      double south = upwind(v[AT(j, i)], q[AT(j - 1, i)], q[AT(j, i)]);
      double north = upwind(v[AT(j + 1, i)], q[AT(j, i)], q[AT(j + 1, i)]);
      next[AT(j, i)] = q[AT(j, i)] - ax * (east - west) - ay * (north - south);
    }
  g->q = next;
  g->next = q;
}

static void advect(void)
{
  if (!is_wanted("advect"))
    return;
  struct grid g = { SIZED(2500, 40), SIZED(2200, 30), 0.5, 0.25, 0.01, NULL, NULL, NULL, NULL };
  const int n = g.nx * g.ny;
  double *start = malloc(sizeof(double) * n), *a = calloc(n, sizeof(double)), *b = calloc(n, sizeof(double));
  double *u = malloc(sizeof(double) * n), *v = malloc(sizeof(double) * n);
  for (int i = 0; i < n; i++)
    start[i] = 20 + value(i), u[i] = 0.5 + value(i + 3), v[i] = 0.25 + 0.5 * value(i + 11);
#pragma acc data copyin(start[0:n], u[0:n], v[0:n], a[0:n]) copy(b[0:n])
  {
    MEASURE {
      g.q = start, g.next = a, g.u = u, g.v = v;
      advect_step(&g);
      g.next = b;
      advect_step(&g);
    }
  }
  SUM_SIZES(b, n);
  tell_rounded("advect", sum);
  free(start), free(a), free(b), free(u), free(v);
}

struct lattice {
  int nx, ny;
  long stride;
  float omega;
  float *f, *g;
  unsigned char *solid;
};

/* A gas on a lattice with nine directions, an array with a stride between them; what is solid throws back. */
void d2q9_step(struct lattice *l)
{
  long count = (long)l->nx * l->ny;
#pragma omp target teams distribute parallel for
  for (long p = 0; p < count; p++) {
    int x = p % l->nx, y = p / l->nx;
    int east = x + 1 < l->nx ? x + 1 : 0, west = x > 0 ? x - 1 : l->nx - 1;
    int north = y + 1 < l->ny ? y + 1 : 0, south = y > 0 ? y - 1 : l->ny - 1;
    float f0 = l->f[p];
    float f1 = l->f[1 * l->stride + y * l->nx + west], f2 = l->f[2 * l->stride + south * l->nx + x];
    float f3 = l->f[3 * l->stride + y * l->nx + east], f4 = l->f[4 * l->stride + north * l->nx + x];
    float f5 = l->f[5 * l->stride + south * l->nx + west], f6 = l->f[6 * l->stride + south * l->nx + east];
    float f7 = l->f[7 * l->stride + north * l->nx + east], f8 = l->f[8 * l->stride + north * l->nx + west];
    if (l->solid[p]) {
      l->g[p] = f0;
      l->g[1 * l->stride + p] = f3, l->g[2 * l->stride + p] = f4;
      l->g[3 * l->stride + p] = f1, l->g[4 * l->stride + p] = f2;
      l->g[5 * l->stride + p] = f7, l->g[6 * l->stride + p] = f8;
      l->g[7 * l->stride + p] = f5, l->g[8 * l->stride + p] = f6;
    } else {
      float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
      float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
      float square = 1 - 1.5f * (ux * ux + uy * uy), w1 = rho / 9, w5 = rho / 36, omega = l->omega;
      float sum = ux + uy, less = uy - ux;
      l->g[p] = f0 + omega * (4 * w1 * square - f0);
      l->g[1 * l->stride + p] = f1 + omega * (w1 * (square + 3 * ux + 4.5f * ux * ux) - f1);
      l->g[2 * l->stride + p] = f2 + omega * (w1 * (square + 3 * uy + 4.5f * uy * uy) - f2);
      l->g[3 * l->stride + p] = f3 + omega * (w1 * (square - 3 * ux + 4.5f * ux * ux) - f3);
      l->g[4 * l->stride + p] = f4 + omega * (w1 * (square - 3 * uy + 4.5f * uy * uy) - f4);
      l->g[5 * l->stride + p] = f5 + omega * (w5 * (square + 3 * sum + 4.5f * sum * sum) - f5);
      l->g[6 * l->stride + p] = f6 + omega * (w5 * (square + 3 * less + 4.5f * less * less) - f6);
      l->g[7 * l->stride + p] = f7 + omega * (w5 * (square - 3 * sum + 4.5f * sum * sum) - f7);
      l->g[8 * l->stride + p] = f8 + omega * (w5 * (square - 3 * less + 4.5f * less * less) - f8);
    }
  }
}

static void d2q9(void)
{
  if (!is_wanted("d2q9"))
    return;
  struct lattice lattice = { SIZED(2000, 40), SIZED(1800, 30), 0, 1.25f, NULL, NULL, NULL }, *l = &lattice;
  const long count = (long)l->nx * l->ny, stride = count + 32;
  l->stride = stride;
  l->f = malloc(sizeof(float) * 9 * stride), l->g = calloc(9 * stride, sizeof(float)), l->solid = malloc(count);
  for (long i = 0; i < 9 * stride; i++)
    l->f[i] = 0.25f + 0.0078125f * value(i);
  for (long i = 0; i < count; i++)
    l->solid[i] = mixed(i / 8) % 10 == 0;
#pragma omp target enter data map(to: l[0:1])
#pragma omp target enter data map(to: l->f[0:9 * stride], l->g[0:9 * stride], l->solid[0:count])
  MEASURE {
    d2q9_step(l);
  }
#pragma omp target exit data map(from: l->g[0:9 * stride]) map(delete: l->f[0:9 * stride], l->solid[0:count])
#pragma omp target exit data map(delete: l[0:1])
  SUM_SIZES(l->g, 9 * stride);
  tell_rounded("d2q9", sum);
  free(l->f), free(l->g), free(l->solid);
}

/* A cross of points around each, as far as `r`. */
void star_apply(double *in, double *out, double *weight, unsigned n, int r)
{
  int width = 2 * r + 1;
#pragma omp target teams distribute parallel for simd collapse(2)
  for (unsigned i = r; i < n - r; i++)
    for (unsigned j = r; j < n - r; j++) {
      double sum = weight[r * width + r] * in[i * n + j];
      for (int k = 1; k <= r; k++) {
        sum += weight[r * width + r + k] * in[i * n + j + k] + weight[r * width + r - k] * in[i * n + j - k];
        sum += weight[(r + k) * width + r] * in[(i + k) * n + j] + weight[(r - k) * width + r] * in[(i - k) * n + j];
      }
      out[i * n + j] = sum;
    }
}

static void star(void)
{
  if (!is_wanted("star"))
    return;
  const unsigned n = SIZED(3900, 60);
  const int r = 3, width = 2 * r + 1;
  double *in = malloc(sizeof(double) * n * n), *out = calloc((size_t)n * n, sizeof(double));
  double *weight = malloc(sizeof(double) * width * width);
  FILL(in, n * n);
  for (int i = 0; i < width * width; i++)
    weight[i] = 0.25 * value(i + 4);
#pragma omp target data map(to: in[0:n * n], weight[0:width * width]) map(tofrom: out[0:n * n])
  {
    MEASURE {
      star_apply(in, out, weight, n, r);
    }
  }
  SUM(out, n * n);
  tell("star", sum);
  free(in), free(out), free(weight);
}

#pragma omp declare target
int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
#pragma omp end declare target

/* A mean of near points that are alike. */
void bilateral_filter(float *in, float *out, float *space, int w, int h, int radius, float range)
{
#pragma omp target teams loop collapse(2)
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float here = in[y * w + x], sum = 0, all = 0;
      for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
          float other = in[clamped(y + dy, h) * w + clamped(x + dx, w)];
          float weight = space[(dy + radius) * (2 * radius + 1) + dx + radius]
            * expf(-(other - here) * (other - here) * range);
          sum += weight * other;
          all += weight;
        }
      out[y * w + x] = sum / all;
    }
}

static void bilateral(void)
{
  if (!is_wanted("bilateral"))
    return;
  const int w = SIZED(1400, 50), h = SIZED(1000, 40), radius = 4, wide = 2 * radius + 1;
  float *in = malloc(sizeof(float) * w * h), *out = malloc(sizeof(float) * w * h), space[81];
  for (int i = 0; i < w * h; i++)
    in[i] = 10 + value(i);
  for (int i = 0; i < wide * wide; i++)
    space[i] = expf(-0.05f * ((i / wide - radius) * (i / wide - radius) + (i % wide - radius) * (i % wide - radius)));
#pragma omp target data map(to: in[0:w * h], space[0:wide * wide]) map(from: out[0:w * h])
  {
    MEASURE {
      bilateral_filter(in, out, space, w, h, radius, 0.02f);
    }
  }
  SUM(out, w * h);
  tell_rounded("bilateral", sum);
  free(in), free(out);
}

struct totals {
  double volume, mass, energy, kinetic, pressure, step;
};

/* What a gas on a grid has in all, and how long its next step may be. Speeds are those of corners. */
void summary_of(double *volume, double *density, double *energy, double *pressure, double *xvel, double *yvel,
                int x_min, int x_max, int y_min, int y_max, int wide, struct totals *totals)
{
  double vol = 0, mass = 0, ie = 0, ke = 0, press = 0, step = 1e10;
#pragma acc parallel loop gang vector collapse(2) present(volume, density, energy, pressure, xvel, yvel) \
  reduction(+: vol, mass, ie, ke, press) reduction(min: step)
  for (int k = y_min; k <= y_max; k++)
    for (int j = x_min; j <= x_max; j++) {
      double square = 0;
      for (int kv = k; kv <= k + 1; kv++)
        for (int jv = j; jv <= j + 1; jv++)
          square += 0.25 * (xvel[kv * wide + jv] * xvel[kv * wide + jv] + yvel[kv * wide + jv] * yvel[kv * wide + jv]);
      int at = k * wide + j;
      double cell_mass = volume[at] * density[at], sound = sqrt(1.4 * pressure[at] / density[at]);
      vol += volume[at];
      mass += cell_mass;
      ie += cell_mass * energy[at];
      ke += cell_mass * 0.5 * square;
      press += volume[at] * pressure[at];
      double allowed = 0.7 * volume[at] / (sound + sqrt(square));
      if (allowed < step)
        step = allowed;
    }
  totals->volume = vol, totals->mass = mass, totals->energy = ie, totals->kinetic = ke, totals->pressure = press;
  totals->step = step;
}

static void summary(void)
{
  if (!is_wanted("summary"))
    return;
  const int nx = SIZED(2800, 50), ny = SIZED(2900, 40), wide = nx + 5, n = wide * (ny + 5);
  double *volume = malloc(sizeof(double) * n), *density = malloc(sizeof(double) * n);
  double *energy = malloc(sizeof(double) * n), *pressure = malloc(sizeof(double) * n);
  double *xvel = malloc(sizeof(double) * n), *yvel = malloc(sizeof(double) * n);
  struct totals t = { 0 };
  for (int i = 0; i < n; i++) {
    volume[i] = 10 + value(i), density[i] = 9 + value(i + 1), energy[i] = 12 + value(i + 2);
    pressure[i] = 11 + value(i + 3), xvel[i] = value(i + 4), yvel[i] = value(i + 5);
  }
#pragma acc data copyin(volume[0:n], density[0:n], energy[0:n], pressure[0:n], xvel[0:n], yvel[0:n])
  {
    MEASURE {
      summary_of(volume, density, energy, pressure, xvel, yvel, 2, nx + 1, 2, ny + 1, wide, &t);
    }
  }
  const double sum = t.volume + 2 * t.mass + 3 * t.energy + 4 * t.kinetic + 5 * t.pressure;
  tell_rounded("summary", sum * t.step);
  free(volume), free(density), free(energy), free(pressure), free(xvel), free(yvel);
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  hotspot();
  srad();
  pathfinder();
  gaussian();
  relax7();
  fdtd();
  advect();
  d2q9();
  star();
  bilateral();
  summary();
  conv_layer();
  depthwise();
  batch_norm();
  gemm_strided();
  gemm_tn();
  covariance();
  lstm();
  attention();
  spmm();
  bfs();
  pagerank();
  merge_ranks();
  walks();
  euler();
  motion();
  mri();
  tally();
}
