//! Functions that others stand for on devices: what cannot be had is said.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use support::{faults, lowered};

#[test]
fn calls_in_regions_are_calls_of_the_other() {
    let text = lowered(
        "#pragma acc routine seq
int there(int);
#pragma acc routine seq bind(there)
int here(int);
int f(int x) {
#pragma acc serial copy(x)
  x = here(x);
  return here(x);
}
",
    );
    assert!(text.contains("(*__ref_x) = there((*__ref_x));"), "{text}");
    assert!(text.contains("return here(x);"), "{text}");
}

#[test]
fn the_other_may_be_declared_further_down() {
    let text = lowered(
        "#pragma acc routine seq bind(there)
int here(int);
#pragma acc routine seq
int there(int x) { return x + 2; }
int f(int x) {
#pragma acc serial copy(x)
  x = here(x);
  return x;
}
",
    );
    assert!(text.contains("(*__ref_x) = there((*__ref_x));"), "{text}");
}

#[test]
fn code_that_host_and_device_share_asks_where_it_is() {
    let text = lowered(
        "#pragma acc routine seq
int there(int);
#pragma acc routine seq bind(there)
int here(int);
#pragma acc routine seq
int through(int x) { int (*it)(int) = &here; return here(x) + it(x); }
int f(int x) {
#pragma acc serial copy(x)
  x = through(x);
  return x;
}
",
    );
    let asks = "(omp_is_initial_device() ? here : there)";
    assert!(text.contains(&format!("(*it)(int) = {asks};")), "{text}");
    assert!(text.contains(&format!("return {asks}(x) + it(x);")), "{text}");
}

#[test]
fn static_variables_and_unknown_names_are_told() {
    let told = faults(
        "#pragma acc routine seq
int there(int);
#pragma acc routine seq bind(there)
int here(int);
#pragma acc routine seq
int through(int x) { static int (*it)(int) = here; return it(x); }
#pragma acc routine seq bind(\"nowhere\")
int lost(int);
int f(int x) {
#pragma acc serial copy(x)
  x = through(x);
  return x;
}
",
    );
    assert_eq!(
        told,
        [
            "F0711: the function for devices is not declared here",
            "F0712: on `cpu`, a variable of `through` starts with this and not with `there`"
        ]
    );
}
