// Directives chosen by context: what is known when compiling, and what only when running.
#include <omp.h>
#include <stdio.h>

static int wrong;

static void expect(const char *what, int got, int want) {
  if (got != want) {
    printf("%s: %d, not %d\n", what, got, want);
    wrong = 1;
  }
}

static int by_kind(void) {
  int n = 0;
#pragma omp metadirective when(device = {kind(nohost)} : parallel num_threads(2)) \
    when(device = {kind(host)} : parallel num_threads(3)) otherwise(nothing)
  {
#pragma omp atomic
    n++;
  }
  return n;
}

static int by_nobody(void) {
  int n = 0;
#pragma omp metadirective when(implementation = {vendor(nobody)} : parallel num_threads(3))
  {
#pragma omp atomic
    n++;
  }
  return n;
}

static int by_condition(int many) {
  int n = 0;
#pragma omp metadirective when(user = {condition(many > 10)} : parallel num_threads(4)) \
    when(user = {condition(score(5) : many > 5 && many < 20)} : parallel num_threads(2)) \
    default(nothing)
  {
#pragma omp atomic
    n++;
  }
  return n;
}

static int by_device(int device) {
  int n = 0;
#pragma omp metadirective \
    when(target_device = {device_num(device), kind(host)} : parallel num_threads(2)) \
    when(target_device = {device_num(device)} : parallel num_threads(3))
  {
#pragma omp atomic
    n++;
  }
  return n;
}

static int offloaded(void) {
  int on_device = 0, sum = 0;
#pragma omp metadirective when(target_device = {kind(nohost)} : target map(from : on_device))
  on_device = !omp_is_initial_device();
#pragma omp metadirective when(construct = {target} : nothing) \
    default(target teams distribute parallel for map(tofrom : sum) reduction(+ : sum))
  for (int i = 0; i < 100; i++)
    sum += i * !omp_is_initial_device();
  return on_device * 10000 + sum;
}

// Runs on both sides.
static int anywhere(void) {
  int n = 0;
#pragma omp metadirective when(device = {kind(nohost)} : parallel num_threads(2)) \
    otherwise(parallel num_threads(5))
  {
#pragma omp atomic
    n++;
  }
  return n;
}

static int inside(void) {
  int n = 0, m = 0;
#pragma omp target map(tofrom : n, m)
  {
#pragma omp metadirective when(device = {kind(host)} : parallel num_threads(2)) \
    when(construct = {target} : parallel num_threads(3))
    {
#pragma omp atomic
      n++;
    }
    m = anywhere();
  }
  return n * 10 + m;
}

static int between_marks(int many) {
  int n = 0;
#pragma omp begin metadirective when(device = {kind(cpu)} : parallel num_threads(3))
  int k = 1;
#pragma omp atomic
  n += k;
#pragma omp end metadirective
#pragma omp begin metadirective when(user = {condition(many)} : parallel num_threads(3))
#pragma omp atomic
  n += 10;
#pragma omp atomic
  n += 10;
#pragma omp end metadirective
#pragma omp begin metadirective when(device = {kind(gpu)} : parallel num_threads(3))
  int m = 1000;
  n += m;
#pragma omp end metadirective
  return n;
}

static int with_jumps(int many) {
  int n = 0;
#pragma omp metadirective when(user = {condition(many)} : parallel num_threads(3)) otherwise(nothing)
  {
    static int calls = 10;
    int tries = 0;
  again:
    if (++tries < 4)
      goto again;
#pragma omp atomic
    calls++;
#pragma omp critical
    if (n < 10 * calls + tries)
      n = 10 * calls + tries;
  }
  return n;
}

/* Chosen while a region runs: with threads, without, and with a construct in each choice; advice around threads. */
static int chosen_inside(int many) {
  int hits[50] = {0}, sum = 0, threads = 0;
#pragma omp target map(tofrom : hits, threads) firstprivate(many)
  {
#pragma omp metadirective when(user = {condition(many > 10)} : parallel for num_threads(2)) otherwise(nothing)
    for (int i = 0; i < 50; i++) {
      hits[i]++;
      if (i == 0) threads = omp_get_level();
    }
#pragma omp assume no_openmp_routines
    {
#pragma omp parallel for
      for (int i = 0; i < 50; i++) hits[i] += 2;
    }
  }
  for (int i = 0; i < 50; i++) sum += hits[i];
  return sum * 10 + threads;
}

int main(void) {
  expect("chosen inside, few", chosen_inside(1), 1500);
  expect("chosen inside, many", chosen_inside(20), 1501);
  expect("one static variable, 1", with_jumps(0), 114);
  expect("one static variable, 2", with_jumps(1), 144);
  expect("one static variable, 3", with_jumps(0), 154);
  expect("by kind", by_kind(), 3);
  expect("by nobody", by_nobody(), 1);
  expect("by condition, few", by_condition(1), 1);
  expect("by condition, more", by_condition(11), 2);
  expect("by condition, many", by_condition(30), 4);
  expect("by device", by_device(0), 3);
  expect("by the host's number", by_device(omp_get_initial_device()), 2);
  expect("by no device", by_device(77), 1);
  expect("offloaded", offloaded(), 14950);
  expect("on the host", anywhere(), 5);
  expect("inside", inside(), 32);
  expect("between marks, few", between_marks(0), 1023);
  expect("between marks, many", between_marks(1), 1063);
  return wrong;
}
