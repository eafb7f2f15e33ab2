//! What each way of assigning pointers finds: ours, the paper's, none.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::{Model, inputs, tools_are_here};
use narrow::{Assign, Options};

/// Generic accesses of a kernel with this body, behind these functions; one more stores its result.
#[track_caller]
fn generic(functions: &str, body: &str, assign: Assign) -> u32 {
    let text = format!(
        "#include \"device.h\"\n{functions}\nvoid __ferry_k_a(void *const *slots) {{\n\
         int near[8], far[8], x = 0; for (int i = 0; i < 8; i++) near[i] = i, far[i] = 2 * i;\n\
         {body}\n*(int *)slots[0] = x;\n}}\n"
    );
    let work = tempfile::tempdir().unwrap();
    let file = work.path().join("assign.c");
    std::fs::write(&file, text).unwrap();
    let options = Options { assign, ..Options::default() };
    let (_, stats) = narrow::compile(&inputs(&file, Model::Host, &[]), &options).unwrap();
    stats.generic().checked_sub(1).unwrap()
}

/// What is left by ours, the paper's, and none.
#[track_caller]
fn check(functions: &str, body: &str, expect: [bool; 3]) {
    if !tools_are_here() {
        return;
    }
    let found =
        [Assign::Points, Assign::Paper, Assign::None].map(|it| generic(functions, body, it));
    assert_eq!(found.map(|it| it > 0), expect, "{found:?}");
}

#[test]
fn arguments_and_steps_are_seen_by_both() {
    check(
        "NOINLINE static int sum(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }",
        "x = sum(near, 8) + sum(far, 4);",
        [false, false, true],
    );
}

#[test]
fn variables_that_others_only_read_are_seen_by_both() {
    check(
        "NOINLINE static int first(int *const *p) { return **p; }",
        "int *p = slots ? near : far; x = first(&p);",
        [false, false, true],
    );
    // A parallel region gets its variables in a pack.
    check(
        "",
        "int *p = spm_alloc(32); for (int i = 0; i < 8; i++) p[i] = i;\n\
         _Pragma(\"omp parallel\") { near[1] = p[2]; }\nx = near[1];",
        [false, false, true],
    );
}

#[test]
fn what_others_write_and_structures_hold_only_ours_sees() {
    check(
        "NOINLINE static void swap(int **a, int **b) { int *t = *a; *a = *b; *b = t; }",
        "int *p = near, *q = far; swap(&p, &q); x = *p;",
        [false, true, true],
    );
    check(
        "struct two { int *p, *q; }; NOINLINE static int both(const struct two *t) { return *t->p + *t->q; }",
        "struct two t = {near, far}; x = both(&t);",
        [false, true, true],
    );
    check(
        "static int *kept; NOINLINE static void keep(int *p) { kept = p; }",
        "keep(near); x = *kept; keep(0);",
        [false, true, true],
    );
}

#[test]
fn a_variable_whose_address_becomes_a_number_holds_anything() {
    let functions = "NOINLINE static void write(uintptr_t at, int *p) { *(int **)at = p; }";
    let body = "int *p = near; write((uintptr_t)&p, slots[1]); x = *p;";
    check(functions, body, [true, true, true]);
}
