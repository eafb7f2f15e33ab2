// Many regions that nobody waits for: their order, their values, and data that come and go with them.
#include <omp.h>
#include <stdio.h>

#define N 1000
#define REGIONS 300

struct pair { int first, second, more[100]; };

int a[N], b[N], sums[64], scratch[4] = { 7, 7, 7, 7 }, halves[2 * N];

int main(void) {
  int wrong = 0;
  // A chain, in data that stay.
#pragma omp target enter data map(to : a, b)
  for (int k = 0; k < REGIONS; k++) {
    struct pair pair = { k, 1, { 0 } };
#pragma omp target teams distribute parallel for nowait depend(inout : a) firstprivate(pair)
    for (int i = 0; i < N; i++) a[i] = a[i] == pair.first ? a[i] + pair.second : -1;
    pair.second = 5;
  }
  // Two that do not meet, and one behind both.
#pragma omp target nowait depend(in : a) depend(out : b)
  b[0] = a[0] + 1;
#pragma omp target nowait depend(out : sums) map(tofrom : sums)
  sums[0] = 5;
#pragma omp target nowait depend(inout : b) depend(in : sums) map(to : sums)
  b[1] = b[0] + sums[0];
#pragma omp taskwait depend(in : b)
#pragma omp target update from(b)
  wrong += b[1] != REGIONS + 6;
#pragma omp taskwait
#pragma omp target exit data map(from : a) map(release : b)
  for (int i = 0; i < N; i++) wrong += a[i] != REGIONS;

  // What one has changed of data that it alone had, the next one does not see.
  int seen[4] = { 0, 0, 0, 0 }, is_shared = 0;
#pragma omp target map(to : is_shared)
  is_shared = 1;
#pragma omp target nowait depend(inout : scratch) map(to : scratch)
  for (int i = 0; i < 4; i++) scratch[i] = -1;
#pragma omp target nowait depend(inout : scratch) map(to : scratch) map(tofrom : seen)
  for (int i = 0; i < 4; i++) seen[i] = scratch[i] + 1;
#pragma omp taskwait
  for (int i = 0; i < 4; i++) wrong += seen[i] != (is_shared ? 0 : 8);

  // Two at once write what both map.
#pragma omp target teams distribute parallel for nowait map(tofrom : halves)
  for (int i = 0; i < N; i++) halves[i] = 1;
#pragma omp target teams distribute parallel for nowait map(tofrom : halves)
  for (int i = N; i < 2 * N; i++) halves[i] = 2;
#pragma omp taskwait
  for (int i = 0; i < 2 * N; i++) wrong += halves[i] != 1 + (i >= N);

  // Each with data of its own.
  for (int k = 0; k < 64; k++) {
#pragma omp target nowait map(tofrom : sums[k : 1])
    sums[k] = omp_is_initial_device() ? -1 : k;
  }
#pragma omp taskwait
  for (int k = 0; k < 64; k++) wrong += sums[k] != k;

  // As tasks of a team, which come after those of the host.
  int on_host = 0;
#pragma omp target enter data map(to : a)
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int k = 0; k < 30; k++) {
#pragma omp task depend(inout : a) shared(on_host)
    on_host++;
#pragma omp target nowait depend(inout : a) firstprivate(k)
    a[k] = k;
  }
#pragma omp target exit data map(from : a)
  for (int k = 0; k < 30; k++) wrong += a[k] != k;
  wrong += on_host != 30;
  if (wrong) printf("%d are wrong\n", wrong);
  return wrong != 0;
}
