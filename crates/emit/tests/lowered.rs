//! What device constructs become, as text: the host's side and the kernels.
//!
//! The frame around them (declarations before, tables after) is left out; that all of it compiles and
//! runs is tested with the driver.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use directive::Directives;
use source::{Locator, NoFiles, SourceMap};
use support::lowered;

#[test]
fn a_region_becomes_a_call_and_a_kernel() {
    insta::assert_snapshot!(lowered(
        "int f(int *p, int n) {
  int s = 0;
#pragma omp target map(tofrom: s, p[1:n])
  s += p[n] + n;
  return s;
}
"
    ));
}

#[test]
fn what_remains_of_a_combined_construct_is_for_the_host_compiler() {
    insta::assert_snapshot!(lowered(
        "double f(const double *a, int n) {
  double s = 0;
  int i;
#pragma omp target teams distribute parallel for reduction(+:s) map(to: a[0:n]) num_threads(n / 2) nowait depend(in: a[0])
  for (i = 0; i < n; i++) s += a[i];
  return s;
}
"
    ));
}

#[test]
fn members_share_a_parent_and_pointees_are_attached() {
    insta::assert_snapshot!(lowered(
        "struct s { int n; double *p; };
void f(struct s *s) {
#pragma omp target map(tofrom: s->n, s->p[0:s->n])
  s->p[0] = s->n;
#pragma omp target enter data map(to: s->p[0:4])
}
"
    ));
}

#[test]
fn host_code_sees_device_addresses() {
    insta::assert_snapshot!(lowered(
        "void g(int *);
void f(int *p, int n) {
#pragma omp target data map(p[0:n]) use_device_ptr(p) if(n > 4)
  {
    g(p);
  }
#pragma omp target update from(p[0:n:2]) device(n)
}
"
    ));
}

#[test]
fn kernels_see_constants_and_take_values_without_their_address() {
    insta::assert_snapshot!(lowered(
        "void f(double *a, double scale, int n) {
  const double weights[3] = { 0.25, -(double)1, 2 };
  const double scaled[1] = { scale };
#pragma omp target teams distribute parallel for map(a[0:n])
  for (int i = 0; i < n; i++) a[i] *= scale * weights[i % 3] + scaled[0];
}
"
    ));
}

#[test]
fn data_behind_pointers_come_along_where_their_accesses_say_how_much() {
    insta::assert_snapshot!(lowered(
        "void f(double *a, const double *b, int n, int m) {
#pragma acc parallel loop
  for (int i = 1; i < n; i++) { a[i] = b[i - 1] + b[m]; if (m > 2) a[i + 1] = 0; }
#pragma acc serial default(present)
  for (int i = 0; i < 8; i++) for (int j = 0; j < m; j++) a[i * m + j] = 0;
}
"
    ));
}

#[test]
fn a_mapper_becomes_a_function() {
    insta::assert_snapshot!(lowered(
        "struct s { int n; double *p; };
#pragma omp declare mapper(struct s v) map(v, v.p[0:v.n])
void f(struct s a) {
#pragma omp target
  a.p[0] = 1;
}
"
    ));
}

#[test]
fn a_program_without_device_constructs_is_left_alone() {
    let mut map = SourceMap::new();
    let text = "int f(int n) {\n#pragma omp parallel\n  n++;\n  return n;\n}\n";
    let file = map.add_preprocessed("t.c".to_owned(), text.into()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let made = emit::lower(
        &checked.program,
        &map,
        file,
        &Locator::new(&map, &NoFiles),
        emit::Options::default(),
    );
    assert!(made.host.is_none() && made.verdicts.is_empty());
}
