//! What regions reach, and levels of the functions they call.

use super::support::{bad, good, reached};

#[test]
fn calls_are_followed_through_functions() {
    let text = "int puts(const char *); void c(void (*h)(void)) { h(); }\n\
                void b(void) { c(0); } void a(void) { b(); puts(\"\"); }\n\
                void f(void) {\n#pragma omp target\na();\n#pragma omp parallel\nputs(\"\");\n}\n";
    assert_eq!(reached(text), ["a b puts c | 1", "puts | 0"]);
}

#[test]
fn functions_stay_within_their_level() {
    let text = |routine: &str, outer: &str| {
        format!(
            "#pragma acc routine {routine}\nvoid g(int n);\n\
             void f(int n) {{\n#pragma acc parallel loop {outer}\nfor (int i = 0; i < n; i++) g(i);\n}}\n"
        )
    };
    bad(&text("gang", "gang"), &["F0572 | g(i)"]);
    bad(&text("worker", "vector"), &["F0572 | g(i)"]);
    good(&text("vector", "gang worker"));
    good(&text("seq", "gang vector"));
    let own = |routine: &str, inner: &str| {
        format!(
            "#pragma acc routine {routine}\nvoid g(int n) {{\n\
             #pragma acc loop {inner}\nfor (int i = 0; i < n; i++) ;\n}}\n"
        )
    };
    bad(&own("vector", "worker"), &["F0571 | worker"]);
    good(&own("worker", "vector"));
}

#[test]
fn device_functions_have_no_host_version() {
    let text = |body: &str| {
        format!("#pragma acc routine seq nohost\nvoid g(void);\nvoid f(void) {{\n{body}\n}}\n")
    };
    bad(&text("g();"), &["F0573 | g()"]);
    good(&text("#pragma acc parallel\ng();"));
}
