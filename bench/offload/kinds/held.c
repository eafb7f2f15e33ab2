/* Kernels that are only measured: nothing is made for them. held.cu has the same in CUDA.
   ferry cc -O3 --device cuda:sm_90 held.c -o held -lm && FERRY_DEVICE=cuda ./held
   What it prints: kinds.h. */
#include "kinds.h"

static void laplace_wrap(void)
{
  if (!is_wanted("laplace_wrap"))
    return;
  enum { N = SIZED(400, 20) };
  float(*a)[N][N] = malloc(sizeof *a * N), (*b)[N][N] = malloc(sizeof *b * N);
  FILL(&a[0][0][0], (long)N * N * N);
#pragma omp target data map(to: a[0:N]) map(from: b[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
          for (int x = 0; x < N; x++)
            b[z][y][x] = a[(z + N - 1) % N][y][x] + a[(z + 1) % N][y][x] + a[z][(y + N - 1) % N][x]
              + a[z][(y + 1) % N][x] + a[z][y][(x + N - 1) % N] + a[z][y][(x + 1) % N] - 6 * a[z][y][x];
    }
  }
  SUM(&b[0][0][0], (long)N * N * N);
  tell("laplace_wrap", sum);
  free(a), free(b);
}

static void nearest_centre(void)
{
  if (!is_wanted("nearest_centre"))
    return;
  enum { N = SIZED(1 << 22, 2000), DIM = 8, K = 32 };
  float(*point)[DIM] = malloc(sizeof *point * N), centre[K][DIM];
  int *label = malloc(sizeof *label * N);
  FILL(&point[0][0], (long)N * DIM);
  for (int i = 0; i < K * DIM; i++)
    (&centre[0][0])[i] = (int)(mixed(i) % 16) - 8;
#pragma omp target data map(to: point[0:N], centre) map(from: label[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        int best = 0;
        float least = 1e30f;
        for (int k = 0; k < K; k++) {
          float d = 0;
          for (int c = 0; c < DIM; c++)
            d += (point[i][c] - centre[k][c]) * (point[i][c] - centre[k][c]);
          if (d < least) {
            least = d;
            best = k;
          }
        }
        label[i] = best;
      }
    }
  }
  SUM(label, N);
  tell("nearest_centre", sum);
  free(point), free(label);
}

#pragma omp declare target
static float normal(float d) { return 0.5f * erfcf(-0.70710678f * d); }
#pragma omp end declare target

static void options(void)
{
  if (!is_wanted("options"))
    return;
  enum { N = SIZED(1 << 24, 3000) };
  float *price = malloc(sizeof *price * N), *strike = malloc(sizeof *strike * N), *years = malloc(sizeof *years * N);
  float *call = malloc(sizeof *call * N), *put = malloc(sizeof *put * N);
  for (int i = 0; i < N; i++)
    price[i] = 20 + value(i), strike[i] = 20 + value(i + 3), years[i] = 0.25f * (9 + value(i + 6));
  const float rate = 0.02f, volatility = 0.3f;
#pragma omp target data map(to: price[0:N], strike[0:N], years[0:N]) map(from: call[0:N], put[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        const float root = sqrtf(years[i]);
        const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i])
          / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float present = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * normal(d1) - present * normal(d2);
        put[i] = present * normal(-d2) - price[i] * normal(-d1);
      }
    }
  }
  SUM(call, N);
  for (int i = 0; i < N; i++)
    sum += put[i];
  tell_rounded("options", sum);
  free(price), free(strike), free(years), free(call), free(put);
}

static void factor8(void)
{
  if (!is_wanted("factor8"))
    return;
  enum { N = 8, MANY = SIZED(1 << 18, 200) };
  double(*a)[N][N] = malloc(sizeof *a * MANY), (*lu)[N][N] = malloc(sizeof *lu * MANY);
  for (long i = 0; i < (long)MANY * N * N; i++)
    (&a[0][0][0])[i] = value(i) + (i % (N * N) % (N + 1) == 0 ? 100 : 0);
#pragma omp target data map(to: a[0:MANY]) map(from: lu[0:MANY])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int t = 0; t < MANY; t++) {
        double m[N][N];
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++)
            m[i][j] = a[t][i][j];
        for (int k = 0; k < N; k++)
          for (int i = k + 1; i < N; i++) {
            m[i][k] /= m[k][k];
            for (int j = k + 1; j < N; j++)
              m[i][j] -= m[i][k] * m[k][j];
          }
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++)
            lu[t][i][j] = m[i][j];
      }
    }
  }
  SUM_SIZES(&lu[0][0][0], (long)MANY * N * N);
  tell_rounded("factor8", sum);
  free(a), free(lu);
}

static void shortest_paths(void)
{
  if (!is_wanted("shortest_paths"))
    return;
  enum { N = SIZED(512, 64) };
  int(*length)[N] = malloc(sizeof *length * N), (*d)[N] = malloc(sizeof *d * N);
  for (int i = 0; i < N * N; i++)
    (&length[0][0])[i] = i % (N + 1) == 0 ? 0 : 1 + (int)(mixed(i) % 1000);
#pragma omp target data map(to: length[0:N]) map(from: d[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          d[i][j] = length[i][j];
      for (int k = 0; k < N; k++) {
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++)
            if (d[i][k] + d[k][j] < d[i][j])
              d[i][j] = d[i][k] + d[k][j];
      }
    }
  }
  SUM(&d[0][0], N * N);
  tell("shortest_paths", sum);
  free(length), free(d);
}

static void monte_carlo(void)
{
  if (!is_wanted("monte_carlo"))
    return;
  enum { N = SIZED(1 << 20, 2000), POINTS = SIZED(256, 50) };
  long inside = 0;
  MEASURE {
    inside = 0;
#pragma omp target teams distribute parallel for reduction(+: inside) map(tofrom: inside)
    for (int i = 0; i < N; i++) {
      unsigned state = 12345u + 2654435761u * i;
      int mine = 0;
      for (int k = 0; k < POINTS; k++) {
        state = 1664525u * state + 1013904223u;
        const int x = state >> 17;
        state = 1664525u * state + 1013904223u;
        const int y = state >> 17;
        if (x * x + y * y < 1 << 30)
          mine++;
      }
      inside += mine;
    }
  }
  tell("monte_carlo", inside);
}

static void max_norm(void)
{
  if (!is_wanted("max_norm"))
    return;
  enum { ROWS = SIZED(4000, 50), COLUMNS = SIZED(5000, 60), PITCH = COLUMNS + 9 };
  double *a = malloc(sizeof *a * ROWS * PITCH), *b = malloc(sizeof *b * ROWS * PITCH), norm = 0;
  for (int i = 0; i < ROWS * PITCH; i++)
    a[i] = mixed(i) >> 8, b[i] = mixed(i + 1) >> 8;
#pragma omp target data map(to: a[0:ROWS * PITCH], b[0:ROWS * PITCH])
  {
    MEASURE {
      norm = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(max: norm) map(tofrom: norm)
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
          norm = fmax(norm, fabs(a[i * PITCH + j] - b[i * PITCH + j]));
    }
  }
  tell("max_norm", norm);
  free(a), free(b);
}

static void section_sums(void)
{
  if (!is_wanted("section_sums"))
    return;
  enum { N = SIZED(1 << 24, 5000), KEYS = 16 };
  int *key = malloc(sizeof *key * N), *weight = malloc(sizeof *weight * N), total[KEYS];
  for (int i = 0; i < N; i++)
    key[i] = mixed(i) % KEYS;
  FILL(weight, N);
#pragma omp target data map(to: key[0:N], weight[0:N])
  {
    MEASURE {
      memset(total, 0, sizeof total);
#pragma omp target teams distribute parallel for reduction(+: total[0:KEYS]) map(tofrom: total[0:KEYS])
      for (int i = 0; i < N; i++)
        total[key[i]] += weight[i];
    }
  }
  SUM(total, KEYS);
  tell("section_sums", sum);
  free(key), free(weight);
}

static void waves(void)
{
  if (!is_wanted("waves"))
    return;
  enum { N = SIZED(3072, 80) };
  double(*ex)[N] = malloc(sizeof *ex * N), (*ey)[N] = malloc(sizeof *ey * N), (*hz)[N] = malloc(sizeof *hz * N);
  FILL(&ex[0][0], (long)N * N);
  FILL(&ey[0][0], (long)N * N);
  FILL(&hz[0][0], (long)N * N);
#pragma omp target data map(tofrom: ex[0:N], ey[0:N], hz[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 1; i < N; i++)
        for (int j = 0; j < N; j++)
          ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N; i++)
        for (int j = 1; j < N; j++)
          ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < N - 1; i++)
        for (int j = 0; j < N - 1; j++)
          hz[i][j] -= 0.5 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
  }
  SUM(&hz[0][0], (long)N * N);
  tell("waves", sum);
  free(ex), free(ey), free(hz);
}

static void filter33(void)
{
  if (!is_wanted("filter33"))
    return;
  enum { N = SIZED(1 << 25, 5000), TAPS = 33 };
  float *in = malloc(sizeof *in * (N + TAPS - 1)), *out = malloc(sizeof *out * N), tap[TAPS];
  FILL(in, N + TAPS - 1);
  FILL(tap, TAPS);
#pragma acc data copyin(in[0:N + TAPS - 1], tap) copyout(out[0:N])
  {
    MEASURE {
#pragma acc parallel loop
      for (int i = 0; i < N; i++) {
        float s = 0;
        for (int k = 0; k < TAPS; k++)
          s += tap[k] * in[i + k];
        out[i] = s;
      }
    }
  }
  SUM(out, N);
  tell("filter33", sum);
  free(in), free(out);
}

static void channels(void)
{
  if (!is_wanted("channels"))
    return;
  enum { IN = 16, OUT = 32, H = SIZED(512, 20), W = SIZED(512, 40) };
  float(*in)[H + 2][W + 2] = malloc(sizeof *in * IN), (*weight)[IN][3][3] = malloc(sizeof *weight * OUT);
  float(*out)[H][W] = malloc(sizeof *out * OUT), bias[OUT];
  FILL(&in[0][0][0], IN * (H + 2) * (W + 2));
  FILL(&weight[0][0][0][0], OUT * IN * 9);
  FILL(bias, OUT);
#pragma omp target data map(to: in[0:IN], weight[0:OUT], bias) map(from: out[0:OUT])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int o = 0; o < OUT; o++)
        for (int y = 0; y < H; y++)
          for (int x = 0; x < W; x++) {
            float s = bias[o];
            for (int c = 0; c < IN; c++)
              for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                  s += weight[o][c][i][j] * in[c][y + i][x + j];
            out[o][y][x] = s > 0 ? s : 0;
          }
    }
  }
  SUM(&out[0][0][0], OUT * H * W);
  tell("channels", sum);
  free(in), free(weight), free(out);
}

/* As many elements in each row, those of a place in rows together. */
static void ellpack(void)
{
  if (!is_wanted("ellpack"))
    return;
  enum { N = SIZED(1 << 20, 1000), EACH = 16 };
  int *column = malloc(sizeof *column * N * EACH);
  double *a = malloc(sizeof *a * N * EACH), *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N);
  for (int i = 0; i < N * EACH; i++)
    column[i] = (i % N + mixed(i) % 1000) % N;
  FILL(a, N * EACH);
  FILL(x, N);
#pragma acc data copyin(column[0:N * EACH], a[0:N * EACH], x[0:N]) copyout(y[0:N])
  {
    MEASURE {
#pragma acc parallel loop gang vector
      for (int i = 0; i < N; i++) {
        double s = 0;
        for (int k = 0; k < EACH; k++)
          s += a[k * N + i] * x[column[k * N + i]];
        y[i] = s;
      }
    }
  }
  SUM(y, N);
  tell("ellpack", sum);
  free(column), free(a), free(x), free(y);
}

static void rotate(void)
{
  if (!is_wanted("rotate"))
    return;
  enum { N = SIZED(4096, 60) };
  float *in = malloc(sizeof *in * N * N), *out = malloc(sizeof *out * N * N);
  for (int i = 0; i < N * N; i++)
    in[i] = 8 + value(i);
  const float cosine = cosf(0.5f), sine = sinf(0.5f), middle = 0.5f * (N - 1);
#pragma omp target data map(to: in[0:N * N]) map(from: out[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
          const float fx = cosine * (x - middle) - sine * (y - middle) + middle;
          const float fy = sine * (x - middle) + cosine * (y - middle) + middle;
          float s = 0;
          if (fx >= 0 && fy >= 0 && fx < N - 1 && fy < N - 1) {
            const int ix = (int)fx, iy = (int)fy;
            const float dx = fx - ix, dy = fy - iy;
            s = (1 - dy) * ((1 - dx) * in[iy * N + ix] + dx * in[iy * N + ix + 1])
              + dy * ((1 - dx) * in[(iy + 1) * N + ix] + dx * in[(iy + 1) * N + ix + 1]);
          }
          out[y * N + x] = s;
        }
    }
  }
  SUM(out, N * N);
  tell_rounded("rotate", sum);
  free(in), free(out);
}

static void count_if(void)
{
  if (!is_wanted("count_if"))
    return;
  enum { N = SIZED(1 << 26, 5000) };
  float *a = malloc(sizeof *a * N);
  FILL(a, N);
  int count = 0;
#pragma acc data copyin(a[0:N])
  {
    MEASURE {
      count = 0;
#pragma acc parallel loop reduction(+: count)
      for (int i = 0; i < N; i++)
        if (a[i] > 3 || a[i] == -2)
          count++;
    }
  }
  tell("count_if", count);
  free(a);
}

static void permute(void)
{
  if (!is_wanted("permute"))
    return;
  enum { I = SIZED(300, 10), J = SIZED(400, 50), K = SIZED(500, 70) };
  float(*a)[J][K] = malloc(sizeof *a * I), (*b)[I][J] = malloc(sizeof *b * K);
  FILL(&a[0][0][0], (long)I * J * K);
#pragma omp target data map(to: a[0:I]) map(from: b[0:K])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(3)
      for (int i = 0; i < I; i++)
        for (int j = 0; j < J; j++)
          for (int k = 0; k < K; k++)
            b[k][i][j] = a[i][j][k];
    }
  }
  SUM(&b[0][0][0], (long)I * J * K);
  tell("permute", sum);
  free(a), free(b);
}

/* The longest common part of two words, one diagonal after the other. */
static void wavefront(void)
{
  if (!is_wanted("wavefront"))
    return;
  enum { N = SIZED(384, 40), M = N + 1 };
  int *d = calloc(M * M, sizeof *d);
  unsigned char p[N], q[N];
  for (int i = 0; i < N; i++)
    p[i] = mixed(i) % 4, q[i] = mixed(N + i) % 4;
#pragma omp target data map(to: p, q) map(tofrom: d[0:M * M])
  {
    MEASURE {
      for (int sum = 2; sum <= 2 * N; sum++) {
        const int from = sum > N ? sum - N : 1, to = sum > N ? N : sum - 1;
#pragma omp target teams distribute parallel for
        for (int i = from; i <= to; i++) {
          const int j = sum - i;
          const int other = d[(i - 1) * M + j] > d[i * M + j - 1] ? d[(i - 1) * M + j] : d[i * M + j - 1];
          d[i * M + j] = p[i - 1] == q[j - 1] ? d[(i - 1) * M + j - 1] + 1 : other;
        }
      }
    }
  }
  SUM(d, M * M);
  tell("wavefront", sum);
  free(d);
}

static void segments(void)
{
  if (!is_wanted("segments"))
    return;
  enum { N = SIZED(1 << 16, 100), MOST = 512 };
  int *first = malloc(sizeof *first * (N + 1));
  first[0] = 0;
  for (int i = 0; i < N; i++)
    first[i + 1] = first[i] + mixed(i) % MOST;
  const int all = first[N];
  double *a = malloc(sizeof *a * all), *total = malloc(sizeof *total * N);
  FILL(a, all);
#pragma acc data copyin(first[0:N + 1], a[0:all]) copyout(total[0:N])
  {
    MEASURE {
#pragma acc parallel loop gang
      for (int i = 0; i < N; i++) {
        double s = 0;
#pragma acc loop vector reduction(+: s)
        for (int k = first[i]; k < first[i + 1]; k++)
          s += a[k];
        total[i] = s;
      }
    }
  }
  SUM(total, N);
  tell("segments", sum);
  free(first), free(a), free(total);
}

struct item {
  float x, y, z;
  int number;
};

static void kept_items(void)
{
  if (!is_wanted("kept_items"))
    return;
  enum { N = SIZED(1 << 23, 5000) };
  struct item *all = malloc(sizeof *all * N), *kept = malloc(sizeof *kept * N);
  for (int i = 0; i < N; i++)
    all[i] = (struct item){ value(i), value(i + 1), value(i + 2), i % 1000 };
  int many = 0;
#pragma omp target data map(to: all[0:N]) map(from: kept[0:N])
  {
    MEASURE {
      many = 0;
#pragma omp target teams distribute parallel for map(tofrom: many)
      for (int i = 0; i < N; i++)
        if (all[i].x + all[i].y > all[i].z) {
          int at;
#pragma omp atomic capture
          at = many++;
          kept[at] = all[i];
        }
    }
  }
  double sum = many;
  for (int i = 0; i < many; i++)
    sum += kept[i].x + 2 * kept[i].y + 3 * kept[i].z + kept[i].number;
  tell("kept_items", sum);
  free(all), free(kept);
}

/* Gradients of an image of bytes, whose border goes on outside. */
static void sobel(void)
{
  if (!is_wanted("sobel"))
    return;
  enum { N = SIZED(8192, 64) };
  unsigned char *in = malloc((long)N * N), *out = malloc((long)N * N);
  for (long i = 0; i < (long)N * N; i++)
    in[i] = (unsigned)(i * 2654435761u) >> 24;
#pragma omp target data map(to: in[0:N * N]) map(from: out[0:N * N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
          const int u = y > 0 ? y - 1 : 0, d = y < N - 1 ? y + 1 : y, l = x > 0 ? x - 1 : 0, r = x < N - 1 ? x + 1 : x;
          const int ul = in[u * N + l], ur = in[u * N + r], dl = in[d * N + l], dr = in[d * N + r];
          const int gx = ur + 2 * in[y * N + r] + dr - ul - 2 * in[y * N + l] - dl;
          const int gy = dl + 2 * in[d * N + x] + dr - ul - 2 * in[u * N + x] - ur;
          const int size = (abs(gx) + abs(gy)) / 4;
          out[y * N + x] = size > 255 ? 255 : size;
        }
    }
  }
  SUM(out, N * N);
  tell("sobel", sum);
  free(in), free(out);
}

/* The charge of particles goes to the four points of the grid around each. */
static void deposit(void)
{
  if (!is_wanted("deposit"))
    return;
  enum { N = SIZED(1 << 21, 3000), GRID = SIZED(1024, 32) };
  double *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N), *charge = malloc(sizeof *charge * GRID * GRID);
  for (int i = 0; i < N; i++)
    x[i] = mixed(i) % ((GRID - 1) * 4) / 4.0, y[i] = mixed(N + i) % ((GRID - 1) * 4) / 4.0;
#pragma omp target data map(to: x[0:N], y[0:N]) map(from: charge[0:GRID * GRID])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < GRID * GRID; i++)
        charge[i] = 0;
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        const int ix = (int)x[i], iy = (int)y[i];
        const double dx = x[i] - ix, dy = y[i] - iy;
#pragma omp atomic
        charge[iy * GRID + ix] += (1 - dx) * (1 - dy);
#pragma omp atomic
        charge[iy * GRID + ix + 1] += dx * (1 - dy);
#pragma omp atomic
        charge[(iy + 1) * GRID + ix] += (1 - dx) * dy;
#pragma omp atomic
        charge[(iy + 1) * GRID + ix + 1] += dx * dy;
      }
    }
  }
  SUM(charge, GRID * GRID);
  tell("deposit", sum);
  free(x), free(y), free(charge);
}

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  laplace_wrap();
  nearest_centre();
  options();
  factor8();
  shortest_paths();
  monte_carlo();
  max_norm();
  section_sums();
  waves();
  filter33();
  channels();
  ellpack();
  rotate();
  count_if();
  permute();
  wavefront();
  segments();
  kept_items();
  sobel();
  deposit();
  return 0;
}
