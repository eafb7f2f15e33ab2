// Prefixes of arrays and records, with declarations on both sides of `scan`, on devices and on the host.
#include <omp.h>
#include <stdio.h>

enum { N = 333 };
static int wrong, input[N];

struct best { double value; int at; };
#pragma omp declare reduction(better : struct best : omp_out = omp_in.value > omp_out.value ? omp_in : omp_out) \
    initializer(omp_priv = { -1e30, -1 })

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

static void records(void)
{
  struct best so_far = { -1e30, -1 }, seen = so_far;
  int at[N], right = 1, was_alone = 1;
#pragma omp target parallel for reduction(inscan, better : so_far) map(to : input) map(from : at) map(tofrom : was_alone)
  for (int i = 0; i < N; i++) {
    struct best this = { 1.5 * input[i], i };
    if (this.value > so_far.value) so_far = this;
#pragma omp scan inclusive(so_far)
    int found = so_far.at;
    at[i] = found;
    if (i == 0) was_alone = omp_is_initial_device();
  }
  for (int i = 0; i < N; i++) {
    if (1.5 * input[i] > seen.value) seen = (struct best){ 1.5 * input[i], i };
    right &= at[i] == seen.at;
  }
  expect(right && so_far.at == seen.at && !was_alone, "prefixes of records");
}

static void arrays(void)
{
  int sums[4] = { 1, 2, 3, 4 }, lines[N][4], before[N][2], right = 1, count = 0;
  long all[2] = { 100, 1 };
#pragma omp target parallel for reduction(inscan, + : sums) map(to : input) map(from : lines)
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 4; k++) sums[k] += k * input[i];
#pragma omp scan inclusive(sums)
    for (int k = 0; k < 4; k++) lines[i][k] = sums[k];
  }
#pragma omp target parallel for simd simdlen(4) reduction(inscan, + : all, count) map(to : input) map(from : before)
  for (int i = 0; i < N; i++) {
    int first = all[0], second = all[1] + count;
    before[i][0] = first;
    before[i][1] = second;
#pragma omp scan exclusive(all, count)
    int here = input[i];
    all[0] += here;
    all[1] -= here;
    count++;
  }
  int expected[4] = { 1, 2, 3, 4 }, sum = 0;
  for (int i = 0; i < N; i++) {
    right &= before[i][0] == 100 + sum && before[i][1] == 1 - sum + i;
    sum += input[i];
    for (int k = 0; k < 4; k++) right &= lines[i][k] == (expected[k] += k * input[i]);
  }
  for (int k = 0; k < 4; k++) right &= sums[k] == expected[k];
  expect(right && all[0] == 100 + sum && all[1] == 1 - sum && count == N, "prefixes of arrays");
}

static void on_host(void)
{
  int totals[2] = { 0, 0 }, lines[N], who[N], right = 1, sum = 0;
  long alone = 7, kept[N];
#pragma omp parallel for num_threads(3) schedule(static, 5) reduction(inscan, + : totals)
  for (int i = 0; i < N; i++) {
    int value = input[i];
    totals[i % 2] += value;
#pragma omp scan inclusive(totals)
    lines[i] = totals[0] - totals[1];
    who[i] = omp_get_thread_num();
  }
#pragma omp simd reduction(inscan, + : alone)
  for (int i = 0; i < N; i++) {
    kept[i] = alone;
#pragma omp scan exclusive(alone)
    long twice = 2 * input[i];
    alone += twice;
  }
  for (int i = 0; i < N; i++) {
    sum += i % 2 ? -input[i] : input[i];
    right &= lines[i] == sum && who[i] == i / 5 % 3;
    right &= i == 0 ? kept[i] == 7 : kept[i] == kept[i - 1] + 2 * input[i - 1];
  }
  expect(right && alone == kept[N - 1] + 2 * input[N - 1], "prefixes on the host");
}

int main(void)
{
  for (int i = 0; i < N; i++) input[i] = i * 37 % 101 - 50;
  records();
  arrays();
  on_host();
  return wrong;
}
