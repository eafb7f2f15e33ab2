//! What directives that say who runs what become for readers of levels.
//!
//! That the results compile and run is tested with the driver; here is what is written, and what is
//! refused.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use directive::Directives;
use source::{Edits, Locator, Severity, SourceMap};
use translate::{Keep, Request};

/// The translated text, and behind it what is to be said.
fn translated_for(profile: &str, text: &str) -> String {
    let mut map = SourceMap::new();
    let marked = format!("# 1 \"t.c\"\n{text}");
    let file = map.add_preprocessed("t.c".to_owned(), marked.into_bytes()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<_> = found.filter(|it| it.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let read = |name: &str| (name == "t.c").then(|| text.as_bytes().to_vec());
    let locator = Locator::new(&map, &read);
    let request = Request {
        to: directive::DESCRIPTIVE,
        profile: translate::profile(profile).unwrap(),
        keep: Keep::Nothing,
        queues: true,
        trust: opt::marks::Trust::default(),
    };
    let made = translate::translate(&checked.program, &locator, &request, None);
    let mut edits = Edits::new();
    for change in made.changes.get("t.c").into_iter().flatten() {
        edits.replace(change.range.clone(), change.text.clone()).unwrap();
    }
    let mut result = String::from_utf8(edits.apply(text.as_bytes()).unwrap()).unwrap();
    for record in &made.records {
        for it in record.remarks.iter().filter(|it| it.code.is_some()) {
            let clause = it.clause.as_deref().unwrap_or("-");
            let (fate, code) = (it.fate.word(), it.code.unwrap());
            result.push_str(&format!("// {fate} [{code}] {clause}: {}\n", it.text));
        }
    }
    result
}

fn translated(text: &str) -> String {
    translated_for("openacc-3.3", text)
}

#[test]
fn one_thread_runs_in_order() {
    insta::assert_snapshot!(translated(
        "int f(int *p, int n) {
  int s = 0;
  #pragma omp target map(tofrom: s) map(to: p[0:n]) if(n > 4)  // stays
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}
"
    ));
}

const COMBINED: &str = "double f(double *a, int n) {
  double s = 0;
#pragma omp target teams distribute parallel for simd num_teams(8) thread_limit(128) \\
    map(tofrom: a[0:n]) reduction(-: s) schedule(static, 4)
  for (int i = 0; i < n; i++) s -= a[i] *= 2;
#pragma omp target teams distribute dist_schedule(static, 16)
  for (int i = 0; i < n; i++) {
    double t = 0;
#pragma omp parallel for reduction(+: t)
    for (int j = 0; j < n; j++) t += a[j];
#pragma omp parallel for
    for (int j = 0; j < n; j++) {
#pragma omp simd
      for (int k = 0; k < 4; k++) a[j] += t;
    }
  }
  return s;
}
";

#[test]
fn combined_constructs_name_their_levels() {
    insta::assert_snapshot!(translated(COMBINED));
}

#[test]
fn some_readers_know_two_levels() {
    insta::assert_snapshot!(translated_for("nvc-acc", COMBINED));
}

#[test]
fn teams_apart_from_their_construct_are_its_gangs() {
    insta::assert_snapshot!(translated(
        "int f(const int *a, int n) {
  int s = 0;
#pragma omp target map(tofrom: s) map(to: a[0:n])
#pragma omp teams num_teams(4) reduction(+: s)
  {
#pragma omp distribute parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += a[i];
  }
  return s;
}
"
    ));
}

#[test]
fn what_only_one_standard_says_by_itself_is_written() {
    insta::assert_snapshot!(translated(
        "void f(int *out, int *in, int n) {
  int next = 0, x = 1;
#pragma omp target data map(to: x) map(from: out[0:n])
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
      int at;
#pragma omp atomic capture
      at = next++;
      out[at] = in[i] + x;
    }
#pragma omp target defaultmap(tofrom: scalar)
    x++;
  }
}
"
    ));
}

#[test]
fn copies_in_any_case_are_made_before_and_behind() {
    insta::assert_snapshot!(translated(
        "void f(int *a, int n, int c) {
  if (c)
#pragma omp target map(always, tofrom: a[0:n])
    a[0]++;
#pragma omp target enter data map(always, to: a[0:n])
#pragma omp target exit data map(always, from: a[0:n])
#pragma omp target exit data map(delete: a[0:n])
#pragma omp target update to(a[0:n]) from(present: a[0:1])
}
"
    ));
}

#[test]
fn host_code_sees_device_addresses_inside() {
    insta::assert_snapshot!(translated(
        "void g(int *);
void f(int *p, int n) {
#pragma omp target data map(p[0:n]) use_device_ptr(p) if(n > 4)
  {
    g(p);
  }
#pragma omp target is_device_ptr(p)
  p[0] = 1;
}
"
    ));
}

#[test]
fn tasks_are_one_queue() {
    insta::assert_snapshot!(translated(
        "void f(int *a, int *b, int n) {
#pragma omp target nowait depend(out: a[0]) map(a[0:n])
  a[0] = 1;
#pragma omp target nowait depend(in: a[0]) depend(out: b[0]) map(a[0:n], b[0:n])
  b[0] = a[0];
#pragma omp target depend(in: b[0]) map(b[0:n])
  b[1] = b[0];
#pragma omp taskwait
}
void g(int *a) {
#pragma omp target nowait map(a[0:1])
  a[0] = 1;
}
"
    ));
}

#[test]
fn a_device_that_is_named_is_left_again() {
    insta::assert_snapshot!(translated(
        "void f(int *a, int d) {
#pragma omp target device(d) map(a[0:1])
  a[0] = 1;
#pragma omp target update from(a[0:1]) device(d)
}
"
    ));
}

#[test]
fn functions_say_their_level_and_variables_exist() {
    insta::assert_snapshot!(translated(
        "#include <omp.h>
int twice(int);
#pragma omp declare target
int table[2] = { 1, 2 };
int twice(int x) { return 2 * x * table[0]; }
void row(int *p, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) p[i] = twice(p[i]);
}
void all(int *p, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i]++;
  row(p, n);
}
#pragma omp end declare target
void f(int *p, int n) {
#pragma omp target map(p[0:n])
  all(p, n);
}
"
    ));
}

#[test]
fn one_change_at_a_time_is_indivisible() {
    insta::assert_snapshot!(translated(
        "void f(int *h, const int *a, int n) {
  int s = 0;
#pragma omp target teams distribute parallel for map(h[0:8], s) map(to: a[0:n])
  for (int i = 0; i < n; i++) {
#pragma omp critical
    s += a[i];
#pragma omp critical (other)
    { h[a[i] % 8]++; }
#pragma omp atomic update seq_cst
    s -= 1;
  }
#pragma omp critical
  s = 0;
}
"
    ));
}

#[test]
fn loops_that_do_not_fit_together_stay_apart() {
    insta::assert_snapshot!(translated(
        "void f(int *a, int n) {
  int i, j;
#pragma omp target teams distribute parallel for collapse(2) map(a[0:n])
  for (i = 0; i < n; i++)
    for (j = 0; j < i; j++) a[i]++;
#pragma omp target map(a[0:n])
#pragma omp simd safelen(4)
  for (i = 4; i < n; i++) a[i] = a[i - 4];
}
"
    ));
}

#[test]
fn what_has_no_counterpart_is_refused_by_name() {
    insta::assert_snapshot!(translated(
        "int omp_get_thread_num(void);
void f(int *a, int n) {
  int x = 0, last;
#pragma omp target parallel map(a[0:n])
  {
    a[omp_get_thread_num()] = 1;
#pragma omp barrier
  }
#pragma omp target teams distribute parallel for lastprivate(last) map(from: last)
  for (int i = 0; i < n; i++) last = i;
#pragma omp target teams distribute parallel for firstprivate(x) map(a[0:n])
  for (int i = 0; i < n; i++) a[i] = x++;
#pragma omp target teams distribute parallel for map(a[0:n])
  for (int i = 0; i < n; i++) {
#pragma omp critical
    { a[0]++; a[1] = a[0]; }
  }
#pragma omp target map(a[0:n])
  {
#pragma omp task
    a[0] = 1;
  }
}
"
    ));
}

#[test]
fn threads_of_the_host_stay() {
    let text = "void f(int *a, int n) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; i++) {
#pragma omp critical
    a[0]++;
  }
#pragma omp parallel
#pragma omp single
#pragma omp task
  a[0] = 1;
}
";
    assert_eq!(translated(text), text);
}
