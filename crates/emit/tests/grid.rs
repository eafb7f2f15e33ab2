//! What device constructs become for a grid of threads, as text. That it compiles and runs is tested with
//! the driver.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use support::on_grid;

#[test]
fn threads_share_the_iterations_of_one_nest() {
    insta::assert_snapshot!(on_grid(
        "double f(const double *a, int n, int m) {
  double s = 0;
  int last;
#pragma omp target teams distribute parallel for collapse(2) reduction(+:s) lastprivate(last) map(to: a[0:n*m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      s += a[i * m + j];
      last = j;
    }
  return s + last;
}
"
    ));
}

#[test]
fn one_thread_runs_what_is_not_one_loop() {
    insta::assert_snapshot!(on_grid(
        "int f(int *a, int n) {
  int count = 0;
#pragma omp target map(tofrom: a[0:n], count)
  {
    int t = 3;
#pragma omp parallel for firstprivate(t) reduction(+:count)
    for (int i = 0; i < n; i++) {
      t += a[i];
#pragma omp atomic
      a[0] += t;
      count++;
    }
  }
  return count;
}
"
    ));
}

#[test]
fn variables_lie_in_one_block() {
    insta::assert_snapshot!(on_grid(
        "#pragma omp begin declare target
static int table[3] = { 1, 2, 3 };
int *kernel;
static int look(int i) { return table[i] + *kernel; }
#pragma omp end declare target
int f(int i) {
  int got;
#pragma omp target map(from: got)
  got = look(i);
  return got;
}
"
    ));
}

#[test]
fn what_a_grid_has_not_is_refused_by_name() {
    insta::assert_snapshot!(on_grid(
        "int g(int n) { return n < 2 ? 1 : g(n - 1) + g(n - 2); }
int f(int n, int (*h)(int)) {
  long double wide = 1;
  int got = 0;
#pragma omp target map(tofrom: got, wide)
  {
    double rows[n];
    rows[0] = wide;
    got = h(n) + g(n) + (int)rows[0];
  }
  return got;
}
"
    ));
}
