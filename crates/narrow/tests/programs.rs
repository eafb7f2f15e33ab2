//! Test programs on the cluster and on the host: the same bytes must be left.
//!
//! A program says in lines such as `// kernels: a b` what it holds; `// generic: 0` how many accesses are generic at most
//! with assignment.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::{Model, OnHost, directive, folder, inputs, run, same, tools_are_here};
use narrow::{Assign, Hardware, Options};

/// How pointers are assigned, and how much is optimised.
const ASSIGNED: [(Assign, u32); 5] = [
    (Assign::Points, 3),
    (Assign::None, 3),
    (Assign::Paper, 3),
    (Assign::Points, 0),
    (Assign::Paper, 0),
];

#[track_caller]
fn check(name: &str) {
    check_with(name, &[]);
}

#[track_caller]
fn check_with(name: &str, flags: &[&str]) {
    if !tools_are_here() {
        return;
    }
    let file = folder("programs").join(format!("{name}.c"));
    let text = std::fs::read_to_string(&file).unwrap();
    let kernels = directive(&text, "kernels").unwrap_or_else(|| "test".to_owned());
    let most_generic = directive(&text, "generic").map(|it| it.parse::<u32>().unwrap());
    let ways = [Hardware::Mapped, Hardware::Csr, Hardware::Isa];
    let wide = inputs(&file, Model::Host, flags);
    let host = OnHost::new(&file, flags);
    let hosts: Vec<_> = kernels
        .split_whitespace()
        .map(|it| format!("__ferry_k_{it}"))
        .map(|it| (host.run(&it), it))
        .collect();
    for hardware in ways {
        for (assign, level) in ASSIGNED {
            if hardware != Hardware::Csr && (level == 0 || assign == Assign::Paper) {
                continue;
            }
            let what = format!("{name}, {hardware:?}, {assign:?}, -O{level}");
            let options = Options { hardware, assign, level, ..Options::default() };
            let made = narrow::compile(&wide, &options);
            let (object, stats) = made.unwrap_or_else(|error| panic!("{what}: {error}"));
            let is_strict = most_generic.is_some() && assign == Assign::Points && level == 3;
            let most = most_generic.unwrap_or(0);
            assert!(!is_strict || stats.generic() <= most, "{what}:\n{}", stats.text());
            for ([before, after], kernel) in &hosts {
                let ran = run(&object, kernel, hardware, before);
                same(&ran.buffers, after, &format!("{what}, {kernel}"));
                assert!(
                    !is_strict || most > 0 || ran.wide == 0,
                    "{what}: {} wide accesses",
                    ran.wide
                );
                assert!(assign != Assign::None || ran.wide > 0, "{what}: nothing is generic");
            }
        }
    }
}

#[test]
fn regions_keep_their_packs_where_forks_are_inlined() {
    check_with("regions", &["-DINLINE_FORK"]);
}

#[test]
fn copies_of_the_runtime_are_used() {
    check_with("copying", &["-DOWN_COPIES"]);
}

#[test]
fn copies_that_nobody_uses_do_not_count() {
    check_with("kernels", &["-DOWN_COPIES", "-DN=8"]);
}

macro_rules! programs {
    ($($name:ident)*) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

programs! {
    across
    both_sides
    by_value
    by_value_of_both
    calls_by_pointer
    comparing
    copying
    direct
    escaping
    globals
    kernels
    layouts
    lists
    misaligned
    long_loops
    odd_loops
    pointers_in_memory
    regions
    spaces
    steady
    switching
    variable_arguments
    volatile_and_atomic
    widths
}
