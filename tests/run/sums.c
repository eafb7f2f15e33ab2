/* Sums of loops in one, two and three dimensions, of every operator and many types, with values that are no numbers, and
   of triangles; schedules that deal iterations while the loop runs. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

enum { N = 83, M = 45, K = 7 };
static double field[N][M], next[N][M], value[N * M], cube[K][N][M];
static float narrow[N * M];
static int number[N * M], product[N][N], tall[N][K], wide[K][N], low[N][N], high[N][N], band[N][N];
static unsigned char small[N * M];

static int check(const char *what, int right)
{
  if (!right)
    printf("%s is wrong\n", what);
  return right;
}

static int extremes(void)
{
  double most = -1, least = 1e9, change = 0;
  float top = -INFINITY;
  int where = -5;
#pragma omp target teams distribute parallel for collapse(2) reduction(max: change) map(to: field) map(from: next)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      next[i][j] = field[i][j - 1] + field[i][j + 1] + field[i - 1][j] + field[i + 1][j];
      change = fmax(change, fabs(next[i][j] - field[i][j]));
    }
#pragma omp target teams distribute parallel for reduction(max: most) reduction(min: least) map(to: value)
  for (int i = 0; i < N * M; i++) {
    most = fmax(value[i], most);
    least = fmin(least, value[i]);
  }
#pragma acc parallel loop reduction(max: top, where) copyin(narrow, number)
  for (int i = N * M - 1; i >= 0; i--) {
    top = fmaxf(top, narrow[i]);
    where = number[i] > where ? number[i] : where;
  }
  double wanted = 0, peak = -1, lowest = 1e9;
  float wanted_top = -INFINITY;
  int wanted_where = -5, right = 1;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      double sum = field[i][j - 1] + field[i][j + 1] + field[i - 1][j] + field[i + 1][j];
      right &= next[i][j] == sum;
      wanted = fmax(wanted, fabs(sum - field[i][j]));
    }
  for (int i = 0; i < N * M; i++) {
    peak = fmax(peak, value[i]);
    lowest = fmin(value[i], lowest);
    wanted_top = fmaxf(wanted_top, narrow[i]);
    wanted_where = number[i] > wanted_where ? number[i] : wanted_where;
  }
  return right && change == wanted && least == lowest && most == peak && top == wanted_top && where == wanted_where;
}

static int operators(void)
{
  long sum = 7, less = 100;
  double halves = 0.5, factors = 3;
  unsigned bits = 0, both = ~0u, odd = 5;
  unsigned char bytes = 200;
  bool all = true, any = false;
#pragma omp target teams distribute parallel for reduction(+: sum, bytes) reduction(-: less) reduction(|: bits) \
    reduction(&: both) reduction(^: odd) reduction(&&: all) reduction(||: any) map(to: number, small)
  for (int i = 0; i < N * M; i++) {
    sum += number[i];
    less -= i & 3;
    bytes += small[i];
    bits |= 1u << (number[i] & 31);
    both &= ~(unsigned)(i & 6);
    odd ^= (unsigned)number[i] * 3;
    all = all && number[i] > -1000;
    any = any || number[i] == 17;
  }
#pragma acc parallel loop collapse(3) reduction(+: halves) copyin(cube)
  for (int k = 0; k < K; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        halves += cube[k][i][j];
#pragma omp target teams distribute parallel for reduction(*: factors)
  for (int i = 0; i < 20; i++)
    factors *= i % 2 ? 2 : 0.5;
  long want = 7, want_less = 100;
  double want_halves = 0.5;
  unsigned want_bits = 0, want_both = ~0u, want_odd = 5;
  unsigned char want_bytes = 200;
  for (int i = 0; i < N * M; i++) {
    want += number[i];
    want_less -= i & 3;
    want_bytes += small[i];
    want_bits |= 1u << (number[i] & 31);
    want_both &= ~(unsigned)(i & 6);
    want_odd ^= (unsigned)number[i] * 3;
  }
  for (int k = 0; k < K; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        want_halves += cube[k][i][j];
  return sum == want && less == want_less && bytes == want_bytes && bits == want_bits && both == want_both
         && odd == want_odd && all && any && halves == want_halves && factors == 3;
}

static int dealt(void)
{
  int sum = 0;
#pragma omp target teams distribute parallel for collapse(2) schedule(dynamic) map(to: tall, wide) map(from: product)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int s = 0;
      for (int k = 0; k < K; k++)
        s += tall[i][k] * wide[k][j];
      product[i][j] = s;
    }
#pragma omp target teams distribute parallel for schedule(guided, 3) reduction(+: sum) map(to: tall, wide)
  for (int i = 0; i < N; i++) {
    int s = 0;
    for (int k = 0; k < K; k++)
      s += tall[i][k] * wide[k][i];
    sum += s * s;
  }
  int wanted = 0, right = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int s = 0;
      for (int k = 0; k < K; k++)
        s += tall[i][k] * wide[k][j];
      right &= product[i][j] == s;
      wanted += i == j ? s * s : 0;
    }
  return right && sum == wanted;
}

static int triangles(void)
{
#pragma omp target teams distribute parallel for map(to: tall) map(tofrom: low)
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      int s = 0;
      for (int k = 0; k < K; k++)
        s += tall[i][k] * tall[j][k];
      low[i][j] = s;
    }
#pragma acc parallel loop gang copyin(wide) copy(high)
  for (int i = 0; i < N; i++)
#pragma acc loop vector
    for (int j = i + 1; j < N; j++) {
      int s = 1;
      for (int k = 0; k < K; k++)
        s += wide[k][i] * wide[k][j];
      high[j][i] = s;
    }
#pragma omp target teams distribute parallel for collapse(2) map(to: wide) map(tofrom: band)
  for (int i = 2; i < N - 2; i++)
    for (int j = i - 2; j <= i + 2; j++) {
      int s = 2;
      for (int k = 0; k < K; k++)
        s += wide[k][i] - wide[k][j];
      band[i][j] = s;
    }
  int right = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int sums[3] = { 0, 1, 2 };
      for (int k = 0; k < K; k++) {
        sums[0] += tall[i][k] * tall[j][k];
        sums[1] += wide[k][i] * wide[k][j];
        sums[2] += wide[k][i] - wide[k][j];
      }
      int is_near = i >= 2 && i < N - 2 && j >= i - 2 && j <= i + 2;
      right &= low[i][j] == (j <= i ? sums[0] : -1) && high[i][j] == (j < i ? sums[1] : -1)
               && band[i][j] == (is_near ? sums[2] : -1);
    }
  return right;
}

int main(void)
{
  int on_host = 1;
  for (int i = 0; i < N * M; i++) {
    field[i / M][i % M] = i * 37 % 101;
    value[i] = i % 5 ? i * 53 % 997 : NAN;
    narrow[i] = i % 3 ? -(float)(i * 29 % 211) - 1 : NAN;
    number[i] = i * 31 % 503 - 250;
    small[i] = (unsigned char)(i * 7);
    for (int k = 0; k < K; k++)
      cube[k][i / M][i % M] = (i + k) % 9 * 0.25;
  }
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < K; k++)
      tall[i][k] = i * 3 % 11 - k, wide[k][i] = k * 5 % 7 - i % 13;
    for (int j = 0; j < N; j++)
      low[i][j] = high[i][j] = band[i][j] = -1;
  }
#pragma omp target map(from: on_host)
  on_host = omp_is_initial_device();
  int right = check("a largest value", extremes());
  right &= check("a sum", operators());
  right &= check("a loop that is dealt while it runs", dealt());
  right &= check("a triangle", triangles());
  right &= check("the device", !on_host);
  printf("%s\n", right ? "right" : "wrong");
  return !right;
}
