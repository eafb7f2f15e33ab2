//! Which threads loops get, and what each thread has for itself: the directives that the host's compiler is
//! given for kernels. That the programs are right is shown by running them, with the driver.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

/// The directives and loops of the kernels that come of the body of a function.
fn kernels(body: &str) -> String {
    let text = support::lowered(&format!(
        "void f(int n, double *a, double *b, int *index) {{\n  int i, j, found = 0;\n  double t, s = 0;\n{body}\n  \
         b[0] = found + s;\n}}\n"
    ));
    let kernels = text.lines().skip_while(|it| !it.starts_with("static void __ferry_k_"));
    let shown = kernels.filter(|it| {
        let it = it.trim_start();
        it.starts_with("#pragma") || it.starts_with("for (")
    });
    shown.map(|it| format!("{}\n", it.trim_end())).collect()
}

#[test]
fn a_loop_that_is_vouched_for_has_its_own_scalars() {
    insta::assert_snapshot!(kernels(
        "#pragma acc kernels loop independent gang worker copy(a[0:n], b[0:n]) copyin(index[0:n])
for (i = 0; i < n; i++) {
  t = 0;
  for (j = 0; j < 4; j++) t += b[index[i] + j];
  a[index[i]] = t;
}"
    ));
}

#[test]
fn a_flag_that_iterations_raise_is_combined() {
    insta::assert_snapshot!(kernels(
        "#pragma acc kernels loop independent private(i) copy(a[0:n])
for (i = 0; i < n; i++)
  if (a[i] > 0) { a[i] = 0; found = found | 1; }"
    ));
}

#[test]
fn loops_without_a_directive_are_marked_where_that_is_proven() {
    insta::assert_snapshot!(kernels(
        "#pragma acc kernels copy(a[0:n])
{
  for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }
  for (i = 1; i < n; i++) a[i] += a[i - 1];
  for (i = 0; i < n; i++) s += a[i];
}"
    ));
}

#[test]
fn a_level_goes_to_the_outer_loop_that_names_it() {
    insta::assert_snapshot!(kernels(
        "#pragma acc parallel loop gang copy(a[0:n * n])
for (i = 0; i < n; i++) {
#pragma acc loop vector
  for (j = 0; j < n; j++) a[i * n + j] = i + j;
}
#pragma acc parallel num_gangs(8) copy(a[0:n])
{
#pragma acc loop gang
  for (i = 0; i < n; i++) a[i] += i;
}
#pragma acc serial loop copy(a[0:n])
for (i = 0; i < n; i++) a[i] += i;"
    ));
}

#[test]
fn advice_for_other_hardware_leaves_the_loop_as_it_is() {
    insta::assert_snapshot!(kernels(
        "#pragma openarc #define N 4
#pragma acc kernels loop independent copy(a[0:n])
#pragma openarc transform unroll(4)
for (i = 0; i < n; i++) a[i] += 1;
#pragma acc kernels loop independent gang copy(a[0:n])
#pragma openarc cuda sharedRW(b)
for (i = 0; i < n; i++) a[i] += b[0];"
    ));
}

/// `loop` in `parallel` says that iterations are independent. That is believed where they meet in single
/// iterations or under a condition, and not where all of them meet.
#[test]
fn the_word_of_the_user_counts_unless_iterations_meet_all_along() {
    insta::assert_snapshot!(kernels(
        "#pragma acc parallel loop copy(a[0:n * n])
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) a[i * n + j] += a[i * n + found] * a[found * n + j];
#pragma acc parallel loop copy(a[0:n])
for (i = 0; i < n; i++)
  if (b[i] > 0) a[0] = b[i];
#pragma acc parallel loop copy(a[0:n])
for (i = 0; i < n; i++)
  for (j = 5; j < n; j++) a[j] += i;"
    ));
}
