// Variables of a team that its threads share: tiles, sums for each team, flags, what was read before others write.
#include <omp.h>
#include <stdio.h>

enum { N = 96, TILE = 16, KEYS = 5000, BINS = 37 };

struct range { int low, high; };

static int a[N][N], b[N][N], keys[KEYS], bins[BINS], rows[N], firsts[N], spans[N];

#pragma omp begin declare target
static void fill(int *list, int count, int from)
{
  for (int i = 0; i < count; i++)
    list[i] = from + i;
}
#pragma omp end declare target

static int transposed(void)
{
  int wrong = 0;
#pragma omp target teams distribute collapse(2) map(to : a) map(from : b)
  for (int i = 0; i < N; i += TILE)
    for (int j = 0; j < N; j += TILE) {
      int tile[TILE][TILE + 1];
#pragma omp allocate(tile) allocator(omp_pteam_mem_alloc)
#pragma omp parallel for collapse(2)
      for (int k = 0; k < TILE; k++)
        for (int l = 0; l < TILE; l++)
          tile[k][l] = a[i + k][j + l];
#pragma omp parallel for collapse(2)
      for (int k = 0; k < TILE; k++)
        for (int l = 0; l < TILE; l++)
          b[j + k][i + l] = tile[l][k];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      wrong += b[i][j] != a[j][i];
  return wrong;
}

/* Each team counts for itself; its threads add what it has. */
static int counted(void)
{
  int wrong = 0, expected[BINS] = { 0 };
#pragma omp target teams num_teams(5) map(to : keys) map(tofrom : bins)
  {
    int own[BINS] = { 0 };
#pragma omp distribute parallel for
    for (int i = 0; i < KEYS; i++) {
#pragma omp atomic
      own[keys[i]]++;
    }
#pragma omp parallel for
    for (int i = 0; i < BINS; i++) {
#pragma omp atomic
      bins[i] += own[i];
    }
  }
  for (int i = 0; i < KEYS; i++)
    expected[keys[i]]++;
  for (int i = 0; i < BINS; i++)
    wrong += bins[i] != expected[i];
  return wrong;
}

/* Statements of the team between its loops, a list with first values, one that a function fills. */
static int between(void)
{
  int wrong = 0;
#pragma omp target teams distribute map(to : a) map(from : rows, spans)
  for (int i = 0; i < N; i++) {
    int weights[4] = { 1, 2, i, 4 }, order[N], sum = 0;
    struct range seen = { N, -1 };
    fill(order, N, i);
#pragma omp parallel for
    for (int j = 0; j < 4; j++)
      weights[j] *= 3;
    weights[1] += order[2];
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < N; j++)
      sum += a[i][order[j] % N] * weights[j % 4];
#pragma omp parallel for
    for (int j = 0; j < N; j++)
      if (a[i][j] % 5 == 0) {
#pragma omp atomic compare
        if (j < seen.low) { seen.low = j; }
#pragma omp atomic compare
        if (j > seen.high) { seen.high = j; }
      }
    rows[i] = sum;
    spans[i] = seen.high - seen.low;
  }
  for (int i = 0; i < N; i++) {
    const int weights[4] = { 3, 6 + i + 2, 3 * i, 12 };
    int sum = 0, low = N, high = -1;
    for (int j = 0; j < N; j++) {
      sum += a[i][(i + j) % N] * weights[j % 4];
      if (a[i][j] % 5 == 0) {
        low = j < low ? j : low;
        high = j;
      }
    }
    wrong += rows[i] != sum || spans[i] != high - low;
  }
  return wrong;
}

/* A copy that a clause makes the team's, and what a team reads before its threads overwrite it. */
static int listed(void)
{
  int wrong = 0, buffer[N];
#pragma omp target teams distribute private(buffer) allocate(omp_cgroup_mem_alloc : buffer) \
  uses_allocators(omp_cgroup_mem_alloc) map(tofrom : b) map(from : firsts)
  for (int i = 0; i < N; i++) {
    const int first = b[i][0];
#pragma omp parallel for
    for (int j = 0; j < N; j++)
      buffer[N - 1 - j] = b[i][j];
    firsts[i] = first + buffer[0];
#pragma omp parallel for
    for (int j = 0; j < N; j++)
      b[i][j] = buffer[j] + first;
  }
  for (int i = 0; i < N; i++) {
    wrong += firsts[i] != a[0][i] + a[N - 1][i];
    for (int j = 0; j < N; j++)
      wrong += b[i][j] != a[N - 1 - j][i] + a[0][i];
  }
  return wrong;
}

int main(void)
{
  int on_host = 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = (i * 31 + j * 17) % 101;
  for (int i = 0; i < KEYS; i++)
    keys[i] = i * i % BINS;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  const int wrong[] = { transposed(), counted(), between(), listed(), on_host };
  int all = 0;
  for (int i = 0; i < 5; i++) {
    if (wrong[i]) printf("part %d: %d differences\n", i, wrong[i]);
    all += wrong[i];
  }
  return all != 0;
}
