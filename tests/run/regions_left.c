// Regions whose results nobody reads at once: what the host changes right behind them is none of theirs, and who looks
// finds them done. Chains, data of one region only, updates between, threads, regions that are not waited for.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int is_right, const char *what) {
  if (!is_right) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

struct record {
  long value, more[40];
};

/* Values, data of one region and data that stay, changed right behind each region. */
static void chain(int n) {
  long *a = calloc(n, sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  struct record it;
  memset(&it, 0, sizeof it);
#pragma omp target data map(tofrom : a[0 : n])
  for (int step = 1; step <= 60; step++) {
    long add = step;
    it.value = step;
    for (int i = 0; i < n; i++) b[i] = step;
#pragma omp target teams distribute parallel for firstprivate(add)
    for (int i = 0; i < n; i++) a[i] += add;
    add = 1000000;
#pragma omp target teams distribute parallel for firstprivate(it)
    for (int i = 0; i < n; i++) {
      a[i] += it.value;
      it.value += 0;
    }
    it.value = 1000000;
#pragma omp target teams distribute parallel for map(to : b[0 : n])
    for (int i = 0; i < n; i++) a[i] += b[i];
    memset(b, 1, n * sizeof *b);
    sum += 3 * step;
  }
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += a[i] != sum;
  expect(!wrong, "a chain adds what there was at each call");
  free(a), free(b);
}

/* A value of its own for each region: what one does with it nobody sees. */
static void own_values(void) {
  int x = 5, seen[8] = {0};
#pragma omp target data map(from : seen)
  for (int k = 0; k < 8; k++) {
#pragma omp target firstprivate(x)
    {
      x += k;
      seen[k] = x;
    }
    x++;
  }
  int wrong = x != 13;
  for (int k = 0; k < 8; k++) wrong += seen[k] != 5 + 2 * k;
  expect(!wrong, "values are those of the call, and the host's stay");
}

/* The device works on the host's own data. */
static int is_shared(void) {
  int probe = 0, seen = 0;
#pragma omp target enter data map(to : probe)
  probe = 1;
#pragma omp target map(from : seen) map(to : probe)
  seen = probe;
#pragma omp target exit data map(delete : probe)
  return seen;
}

/* Data come and go while regions before may still be at work. */
static void come_and_go(void) {
  enum { N = 5000 };
  int *total = calloc(N, sizeof *total);
#pragma omp target enter data map(to : total[0 : N])
  for (int k = 1; k <= 30; k++) {
    int *part = malloc(N * sizeof *part);
    for (int i = 0; i < N; i++) part[i] = k;
#pragma omp target enter data map(to : part[0 : N])
    memset(part, 0, N * sizeof *part);
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) total[i] += part[i];
#pragma omp target exit data map(delete : part[0 : N])
    memset(part, 1, N * sizeof *part);
    free(part);
  }
  int copy[N];
#pragma omp target teams distribute parallel for map(from : copy)
  for (int i = 0; i < N; i++) copy[i] = total[i];
#pragma omp target exit data map(delete : total[0 : N])
  /* Where memory is shared the parts were cleared before they were added. */
  int wrong = 0, sum = is_shared() ? 0 : 465;
  for (int i = 0; i < N; i++) wrong += copy[i] != sum;
  expect(!wrong, "data that come and go");
  free(total);
}

static void updates(void) {
  int a[10], b[10], wrong = 0;
  for (int i = 0; i < 10; i++) a[i] = b[i] = 0;
#pragma omp target data map(to : a, b)
  for (int k = 1; k <= 20; k++) {
    b[3] = k;
#pragma omp target update to(b)
#pragma omp target map(tofrom : a, b)
    a[3] += b[3];
    if (k % 5 == 0) {
#pragma omp target update from(a)
      wrong += a[3] != k * (k + 1) / 2;
    }
  }
  expect(!wrong, "updates between regions");
}

static void threads(void) {
  long a[1] = {0};
  int wrong = 0, turns = 0;
#pragma omp target enter data map(to : a)
  for (int k = 0; k < 30; k++) {
#pragma omp target map(tofrom : a)
    a[0]++;
  }
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  for (int k = 0; k < 30; k++) {
    // One thread after the other, each with what the one before has left.
#pragma omp critical
    {
#pragma omp target map(tofrom : a)
      a[0]++;
      turns++;
      if (k % 3 == 0) {
#pragma omp target update from(a)
        wrong += a[0] != 30 + turns;
      }
    }
  }
  int threads = turns / 30;
#pragma omp target exit data map(from : a)
  expect(!wrong && a[0] == 30 + 30 * threads, "threads see what others have done");
}

static void mixed(void) {
  long a[1] = {1}, b[1] = {0};
#pragma omp target data map(tofrom : a, b)
  {
    for (int k = 0; k < 20; k++) {
#pragma omp target map(tofrom : b)
      b[0] += 2;
#pragma omp target nowait depend(inout : a) map(tofrom : a, b)
      a[0] += b[0];
#pragma omp target depend(inout : a) map(tofrom : a)
      a[0] += 1;
    }
#pragma omp taskwait
  }
  expect(a[0] == 1 + 420 + 20 && b[0] == 40, "beside regions that are not waited for");
}

int main(void) {
  chain(10), chain(3000), chain(40000);
  own_values();
  come_and_go();
  updates();
  threads();
  mixed();
  return failures != 0;
}
