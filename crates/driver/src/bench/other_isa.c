/* What regions cost on a device, and what kernels take there: lines of a name, a number and what the kernel computed. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RUNS
#define RUNS 200
#endif

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double times[RUNS + 8];

static double middle(int count) {
  qsort(times, count, sizeof *times, by_value);
  return times[count / 2];
}

/* Rounds end after half a second, where threads that wait for processors make each long; a few are always made. */
#define IS_ON(begin, round, count) ((round) < (count) && ((round) < 5 || omp_get_wtime() - (begin) < 0.5))

/* Microseconds of a construct of which there are so many in a round, the middle of the rounds. */
#define COST_OF(name, count, many, ...)                        \
  {                                                            \
    int round = 0;                                             \
    for (double begin = omp_get_wtime(); IS_ON(begin, round, count); round++) { \
      double start = omp_get_wtime();                          \
      __VA_ARGS__                                              \
      times[round] = (omp_get_wtime() - start) * 1e6 / (many); \
    }                                                          \
    printf("cost %s\t%.2f\t0\n", name, middle(round));         \
  }

#define COST(name, ...) COST_OF(name, RUNS, 1, __VA_ARGS__)

/* A construct inside of a region, of which there are many. */
#define TIMES 50
#define INSIDE(name, ...)                                      \
  COST_OF("inside: " name, RUNS / TIMES + 5, TIMES, _Pragma("omp target map(tofrom: it)") \
          for (int time = 0; time < TIMES; time++) { __VA_ARGS__ })

/* The same in a parallel region. */
#define SHARED(name, ...)                                      \
  COST_OF("inside: " name, RUNS / TIMES + 5, TIMES, _Pragma("omp target parallel map(tofrom: it)") \
          for (int time = 0; time < TIMES; time++) { __VA_ARGS__ })

/* Seconds of a kernel, and a number that tells whether it is right. */
#define KERNEL(name, answer, ...)                              \
  for (int round = 0; round < 3; round++) {                    \
    double start = omp_get_wtime();                            \
    __VA_ARGS__                                                \
    times[round] = omp_get_wtime() - start;                    \
  }                                                            \
  printf("kernel %s\t%.4f\t%.6g\n", name, middle(3), (double)(answer));

/* Points of a cube and their neighbours. */
#define CUBE 64
static float cube[2][CUBE][CUBE][CUBE];

static double stencil(void) {
  for (int i = 0; i < CUBE; i++)
    for (int j = 0; j < CUBE; j++)
      for (int k = 0; k < CUBE; k++) cube[0][i][j][k] = cube[1][i][j][k] = (i * 7 + j * 3 + k) % 11;
#pragma omp target data map(tofrom: cube)
  for (int step = 0; step < 10; step++) {
    int from = step & 1;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(from)
    for (int i = 1; i < CUBE - 1; i++)
      for (int j = 1; j < CUBE - 1; j++)
        for (int k = 1; k < CUBE - 1; k++)
          cube[!from][i][j][k] = (cube[from][i - 1][j][k] + cube[from][i + 1][j][k] + cube[from][i][j - 1][k] +
                                  cube[from][i][j + 1][k] + cube[from][i][j][k - 1] + cube[from][i][j][k + 1]) / 6.0f;
  }
  double sum = 0;
  for (int i = 0; i < CUBE; i++)
    for (int j = 0; j < CUBE; j++) sum += cube[0][i][j][j];
  return sum;
}

/* A fluid in a box: nine directions in a plane, walls that throw back. */
#define PLANE 96
static double fluid[2][9][PLANE][PLANE];
static const int along[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, across[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const int opposite[9] = { 0, 3, 4, 1, 2, 7, 8, 5, 6 };
static const double weight[9] = { 4 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 36., 1 / 36., 1 / 36., 1 / 36. };
#pragma omp declare target to(along, across, opposite, weight)

static double lbm(void) {
  for (int d = 0; d < 9; d++)
    for (int y = 0; y < PLANE; y++)
      for (int x = 0; x < PLANE; x++) fluid[0][d][y][x] = weight[d] * (1 + 0.01 * ((x * 5 + y * 3) % 7));
#pragma omp target data map(tofrom: fluid)
  for (int step = 0; step < 10; step++) {
    int from = step & 1;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(from)
    for (int y = 0; y < PLANE; y++)
      for (int x = 0; x < PLANE; x++) {
        double f[9], density = 0, u = 0, v = 0;
        for (int d = 0; d < 9; d++) {
          int fx = x - along[d], fy = y - across[d];
          int is_wall = fx < 0 || fy < 0 || fx >= PLANE || fy >= PLANE;
          f[d] = is_wall ? fluid[from][opposite[d]][y][x] : fluid[from][d][fy][fx];
          density += f[d];
          u += along[d] * f[d];
          v += across[d] * f[d];
        }
        u /= density;
        v /= density;
        for (int d = 0; d < 9; d++) {
          double c = 3 * (along[d] * u + across[d] * v);
          double even = weight[d] * density * (1 + c + 0.5 * c * c - 1.5 * (u * u + v * v));
          fluid[!from][d][y][x] = f[d] + 0.6 * (even - f[d]);
        }
      }
  }
  double sum = 0;
  for (int y = 0; y < PLANE; y++)
    for (int x = 0; x < PLANE; x++) sum += fluid[0][1][y][x] * x;
  return sum;
}

/* Samples of a magnetic resonance at points of space. */
#define SAMPLES 256
#define POINTS 2048
static float sample[SAMPLES][4], point[POINTS][3], image[POINTS][2];

static double mriq(void) {
  for (int i = 0; i < SAMPLES; i++)
    for (int j = 0; j < 4; j++) sample[i][j] = ((i * 13 + j * 5) % 17) / 17.0f;
  for (int i = 0; i < POINTS; i++)
    for (int j = 0; j < 3; j++) point[i][j] = ((i * 7 + j * 3) % 29) / 29.0f;
#pragma omp target teams distribute parallel for map(to: sample, point) map(from: image)
  for (int i = 0; i < POINTS; i++) {
    float re = 0, im = 0;
    for (int k = 0; k < SAMPLES; k++) {
      float angle = 6.2831853f * (sample[k][0] * point[i][0] + sample[k][1] * point[i][1] + sample[k][2] * point[i][2]);
      re += sample[k][3] * cosf(angle);
      im += sample[k][3] * sinf(angle);
    }
    image[i][0] = re;
    image[i][1] = im;
  }
  double sum = 0;
  for (int i = 0; i < POINTS; i++) sum += image[i][0] * image[i][0] + image[i][1] * image[i][1];
  return sum;
}

/* Pairs of random numbers that are normally distributed, counted by how large they are. */
static double ep(void) {
  long count[10] = { 0 };
#pragma omp target teams distribute parallel for reduction(+: count[:10]) map(tofrom: count)
  for (long k = 0; k < 200000; k++) {
    unsigned long x = (k + 1) * 6364136223846793005ul;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ul;
    x ^= x >> 32;
    double a = (x & 0xffffffff) / 2147483648.0 - 1, b = (x >> 32) / 2147483648.0 - 1, t = a * a + b * b;
    if (t > 1 || t == 0) continue;
    double by = sqrt(-2 * log(t) / t), most = fmax(fabs(a * by), fabs(b * by));
    count[most < 9 ? (int)most : 9]++;
  }
  double sum = 0;
  for (int i = 0; i < 10; i++) sum += count[i] * (i + 1.0);
  return sum;
}

/* Conjugate gradients, with a sparse matrix. */
#define ROWS 4000
#define WIDE 12
static double value[ROWS * WIDE], x[ROWS], r[ROWS], p[ROWS], q[ROWS];
static int column[ROWS * WIDE];

static double cg(void) {
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < WIDE; j++) {
      int away = j < WIDE / 2 ? j - WIDE / 2 : j - WIDE / 2 + 1, at = (i + away * 37 + ROWS) % ROWS;
      column[i * WIDE + j] = at;
      value[i * WIDE + j] = -1.0 / (1 + abs(away));
    }
    x[i] = 0;
    r[i] = p[i] = 1 + i % 3;
  }
  double rho = 0;
  for (int i = 0; i < ROWS; i++) rho += r[i] * r[i];
#pragma omp target data map(to: value, column) map(tofrom: x, r, p) map(alloc: q)
  for (int round = 0; round < 15; round++) {
    double dot = 0, next = 0;
#pragma omp target teams distribute parallel for reduction(+: dot) map(tofrom: dot)
    for (int i = 0; i < ROWS; i++) {
      double sum = 6 * p[i];
      for (int j = i * WIDE; j < (i + 1) * WIDE; j++) sum += value[j] * p[column[j]];
      q[i] = sum;
      dot += sum * p[i];
    }
    double alpha = rho / dot;
#pragma omp target teams distribute parallel for reduction(+: next) map(tofrom: next) firstprivate(alpha)
    for (int i = 0; i < ROWS; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    double beta = next / rho;
    rho = next;
#pragma omp target teams distribute parallel for firstprivate(beta)
    for (int i = 0; i < ROWS; i++) p[i] = r[i] + beta * p[i];
  }
  double sum = 0;
  for (int i = 0; i < ROWS; i++) sum += x[i];
  return sum;
}

/* Lines of a cube along each of its directions, each a system of equations with five diagonals. */
#define SIDE 24
static double cells[SIDE * SIDE * SIDE];

static double sp(void) {
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) cells[i] = 1 + (i * 7) % 13;
#pragma omp target data map(tofrom: cells)
  for (int round = 0; round < 6; round++) {
    int step = round % 3 == 0 ? 1 : round % 3 == 1 ? SIDE : SIDE * SIDE;
    int other = step == 1 ? SIDE : 1, last = step == SIDE * SIDE ? SIDE : SIDE * SIDE;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(step, other, last)
    for (int a = 0; a < SIDE; a++)
      for (int b = 0; b < SIDE; b++) {
        double *line = cells + a * other + b * last, up[SIDE], upper[SIDE];
        for (int i = 0; i < SIDE; i++) {
          double low2 = i > 1 ? -0.1 : 0, low1 = i > 0 ? -0.5 : 0, middle = 3, high1 = -0.5, high2 = -0.1, right = line[i * step];
          if (i > 1) {
            right -= low2 * line[(i - 2) * step];
            low1 -= low2 * up[i - 2];
            middle -= low2 * upper[i - 2];
          }
          if (i > 0) {
            right -= low1 * line[(i - 1) * step];
            middle -= low1 * up[i - 1];
            high1 -= low1 * upper[i - 1];
          }
          up[i] = i < SIDE - 1 ? high1 / middle : 0;
          upper[i] = i < SIDE - 2 ? high2 / middle : 0;
          line[i * step] = right / middle;
        }
        for (int i = SIDE - 2; i >= 0; i--) {
          line[i * step] -= up[i] * line[(i + 1) * step];
          if (i < SIDE - 2) line[i * step] -= upper[i] * line[(i + 2) * step];
        }
      }
  }
  double sum = 0;
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) sum += cells[i] * (i % 5);
  return sum;
}

/* The same with three diagonals of blocks, each for five numbers. */
#define SHORT 10
static double blocks[SHORT * SHORT * SHORT][5];

static double bt(void) {
  for (int i = 0; i < SHORT * SHORT * SHORT; i++)
    for (int j = 0; j < 5; j++) blocks[i][j] = 1 + (i * 7 + j * 3) % 13;
#pragma omp target data map(tofrom: blocks)
  for (int round = 0; round < 3; round++) {
    int step = round == 0 ? 1 : round == 1 ? SHORT : SHORT * SHORT;
    int other = step == 1 ? SHORT : 1, last = step == SHORT * SHORT ? SHORT : SHORT * SHORT;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(step, other, last)
    for (int a = 0; a < SHORT; a++)
      for (int b = 0; b < SHORT; b++) {
        int first = a * other + b * last;
        double above[SHORT][5][5];
        for (int i = 0; i < SHORT; i++) {
          /* A row of blocks: a multiple of one below, the diagonal, a multiple of one above. */
          double m[5][11];
          double *here = blocks[first + i * step];
          for (int j = 0; j < 5; j++) {
            for (int k = 0; k < 5; k++) {
              m[j][k] = j == k ? 4 : 0.1 * (j - k);
              m[j][5 + k] = j == k && i < SHORT - 1 ? -1 : 0;
            }
            m[j][10] = here[j];
            if (i > 0) {
              m[j][10] += blocks[first + (i - 1) * step][j];
              for (int k = 0; k < 5; k++) m[j][k] += above[i - 1][j][k];
            }
          }
          for (int j = 0; j < 5; j++) {
            double pivot = 1 / m[j][j];
            for (int k = j; k < 11; k++) m[j][k] *= pivot;
            for (int l = 0; l < 5; l++) {
              double by = m[l][j];
              if (l != j)
                for (int k = j; k < 11; k++) m[l][k] -= by * m[j][k];
            }
          }
          for (int j = 0; j < 5; j++) {
            here[j] = m[j][10];
            for (int k = 0; k < 5; k++) above[i][j][k] = m[j][5 + k];
          }
        }
        for (int i = SHORT - 2; i >= 0; i--)
          for (int j = 0; j < 5; j++)
            for (int k = 0; k < 5; k++) blocks[first + i * step][j] -= above[i][j][k] * blocks[first + (i + 1) * step][k];
      }
  }
  double sum = 0;
  for (int i = 0; i < SHORT * SHORT * SHORT; i++)
    for (int j = 0; j < 5; j++) sum += blocks[i][j] * (j + 1);
  return sum;
}

int main(void) {
  /* A line is seen when its row is measured. */
  setvbuf(stdout, NULL, _IOLBF, 0);
  int it = 0;
  double answer = 0;
#pragma omp target map(tofrom: it)
  it = !omp_is_initial_device();
  printf("away\t%d\t0\n", it);
  COST("target", _Pragma("omp target") { })
  COST("target map(tofrom: x)", _Pragma("omp target map(tofrom: it)") it++;)
  COST("target data map(tofrom: x)", _Pragma("omp target data map(tofrom: it)") it++;)
  COST("target enter data, exit data",
       _Pragma("omp target enter data map(to: it)") _Pragma("omp target exit data map(from: it)"))
  COST("target nowait, taskwait", _Pragma("omp target nowait") { } _Pragma("omp taskwait"))
  COST("target parallel", _Pragma("omp target parallel") { })
  COST("target teams", _Pragma("omp target teams") { })
  COST("target teams distribute parallel for",
       _Pragma("omp target teams distribute parallel for") for (int i = 0; i < 64; i++) { })
  INSIDE("parallel", _Pragma("omp parallel") { })
  INSIDE("parallel for", _Pragma("omp parallel for") for (int i = 0; i < 64; i++) { })
  SHARED("for", _Pragma("omp for") for (int i = 0; i < 64; i++) { })
  SHARED("barrier", _Pragma("omp barrier"))
  SHARED("single", _Pragma("omp single") it++;)
  SHARED("critical", _Pragma("omp critical") it++;)
  SHARED("atomic", _Pragma("omp atomic") it++;)
  INSIDE("parallel reduction", _Pragma("omp parallel reduction(+: it)") it++;)
  size_t bytes = (size_t)MIB << 20;
  char *data = malloc(bytes), *copy = malloc(bytes);
  if (!data || !copy) return 1;
  memset(data, 1, bytes);
  memset(copy, 1, bytes);
  /* Pages are there before times are taken. */
#pragma omp target enter data map(to: data[:bytes])
#pragma omp target update from(data[:bytes])
  double memory[5];
  for (int way = 0; way < 3; way++) {
    for (int round = 0; round < 5; round++) {
      double start = omp_get_wtime();
      if (way == 0) memcpy(copy, data, bytes);
      if (way == 1) {
#pragma omp target update to(data[:bytes])
      }
      if (way == 2) {
#pragma omp target update from(data[:bytes])
      }
      times[round] = omp_get_wtime() - start;
    }
    memory[way] = bytes / middle(5) / 1e9;
  }
#pragma omp target exit data map(delete: data[:bytes])
  /* The data leave the device between the rounds, and get their place anew in each. */
  double back[5];
  for (int round = 0; round < 5; round++) {
    double start = omp_get_wtime();
#pragma omp target enter data map(to: data[:bytes])
    times[round] = omp_get_wtime() - start;
    start = omp_get_wtime();
#pragma omp target exit data map(from: data[:bytes])
    back[round] = omp_get_wtime() - start;
  }
  memory[3] = bytes / middle(5) / 1e9;
  memcpy(times, back, sizeof back);
  memory[4] = bytes / middle(5) / 1e9;
  const char *ways[] = { "memcpy", "update to", "update from", "map(to)", "map(from)" };
  for (int way = 0; way < 5; way++) printf("memory %s\t%.2f\t0\n", ways[way], memory[way]);
  KERNEL("stencil", answer, answer = stencil();)
  KERNEL("lbm", answer, answer = lbm();)
  KERNEL("mriq", answer, answer = mriq();)
  KERNEL("ep", answer, answer = ep();)
  KERNEL("cg", answer, answer = cg();)
  KERNEL("sp", answer, answer = sp();)
  KERNEL("bt", answer, answer = bt();)
  return copy[bytes / 2] != 1;
}
