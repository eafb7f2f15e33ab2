//! Nests of three loops with directives in all places, of both standards: whoever runs which loop, each iteration runs
//! once and has its own counters and variables, wherever they are declared.
//!
//! Compiled without optimization: there what threads share by mistake shows. And with it: there cores run blocks of
//! iterations.
#![allow(clippy::expect_used, reason = "a test says what it needs from the machine")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use support::{ferry, told};

/// Directives of the three loops; none where a loop has none of its own.
type Nest = [Option<&'static str>; 3];

/// The outermost directive, and what may stand before the two loops inside.
type Family = (&'static str, &'static [Option<&'static str>], &'static [Option<&'static str>]);

const OF_LEVELS: &[Family] = &[
    (
        "acc parallel loop",
        &[None, Some("acc loop"), Some("acc loop seq"), Some("acc loop independent")],
        &[None, Some("acc loop"), Some("acc loop vector"), Some("acc loop seq")],
    ),
    ("acc kernels loop", &[None, Some("acc loop")], &[None, Some("acc loop independent")]),
    ("acc parallel loop gang", &[None, Some("acc loop worker")], &[None, Some("acc loop vector")]),
    ("acc parallel loop gang", &[Some("acc loop worker collapse(2)")], &[None]),
    ("acc parallel loop", &[Some("acc loop collapse(2)")], &[None]),
    ("acc parallel loop collapse(2)", &[None], &[None, Some("acc loop"), Some("acc loop vector")]),
    ("acc parallel loop gang vector collapse(2)", &[None], &[None, Some("acc loop seq")]),
    ("acc parallel loop collapse(3)", &[None], &[None]),
    ("acc parallel loop tile(4, 4)", &[None], &[None, Some("acc loop seq")]),
    ("acc kernels loop collapse(2)", &[None], &[None]),
];

const OF_TEAMS: &[Family] = &[
    ("omp target teams distribute parallel for", &[None, Some("omp simd")], &[None]),
    ("omp target teams distribute parallel for", &[None], &[Some("omp simd")]),
    ("omp target teams distribute parallel for collapse(2)", &[None], &[None, Some("omp simd")]),
    ("omp target teams distribute parallel for simd collapse(2)", &[None], &[None]),
    ("omp target teams distribute parallel for collapse(3)", &[None], &[None]),
    (
        "omp target teams distribute",
        &[None, Some("omp parallel for"), Some("omp parallel for collapse(2)")],
        &[None],
    ),
    ("omp target teams distribute", &[Some("omp parallel for")], &[Some("omp simd")]),
    (
        "omp target teams distribute collapse(2)",
        &[None],
        &[None, Some("omp parallel for"), Some("omp parallel for simd")],
    ),
    ("omp target teams loop", &[None, Some("omp loop")], &[None, Some("omp loop")]),
    ("omp target teams loop collapse(2)", &[None], &[None, Some("omp loop")]),
    ("omp target parallel for collapse(2)", &[None], &[None, Some("omp simd")]),
    ("omp target parallel loop collapse(3)", &[None], &[None]),
];

/// How many loops a directive speaks of.
fn depth(directive: &str) -> usize {
    match () {
        () if directive.contains("collapse(3)") => 3,
        () if directive.contains("collapse(2)") || directive.contains("tile(") => 2,
        () => 1,
    }
}

/// A function that runs a nest and answers how many elements are wrong. Each of `t` and `u` is set before it is read, in the
/// innermost loop: every directive that deals iterations makes copies of it.
fn function(name: &str, nest: &Nest, uses_more: bool, is_triangle: bool) -> String {
    let counters = ["i", "j", "k"];
    let mut owned = [false; 3];
    for (at, directive) in nest.iter().enumerate() {
        let count = directive.map_or(0, depth);
        owned.iter_mut().skip(at).take(count).for_each(|it| *it = true);
    }
    let first_of_k = if is_triangle { "i" } else { "0" };
    let mut text = format!(
        "static int {name}(void) {{\n    int i, j, k, t, u, wrong = 0;\n    (void)t, (void)u;\n"
    );
    for (at, directive) in nest.iter().enumerate() {
        if let Some(directive) = directive {
            let free = counters.iter().zip(owned).filter(|it| !it.1 && at == 0).map(|it| *it.0);
            let mut copies: Vec<&str> = free.collect();
            let deals = !directive.ends_with("seq");
            copies.extend(["t", "u"].into_iter().filter(|_| uses_more && deals));
            let data = match (at, directive.starts_with("acc")) {
                (0, true) => " copy(a)",
                (0, false) => " map(tofrom: a)",
                _ => "",
            };
            let private = match copies.is_empty() {
                true => String::new(),
                false => format!(" private({})", copies.join(", ")),
            };
            writeln!(text, "#pragma {directive}{data}{private}").expect("text");
        }
        let header = match at {
            0 => "for (i = 0; i < A; i++)".to_owned(),
            1 => "for (j = 0; j < B; j++)".to_owned(),
            _ => format!("for (k = {first_of_k}; k < C; k++)"),
        };
        writeln!(text, "    {header}").expect("text");
    }
    text.push_str(match uses_more {
        true => "    { t = i + 2 * j; u = 3 * k; a[i][j][k] += t + u; }\n",
        false => "    a[i][j][k] += i + 2 * j + 3 * k;\n",
    });
    write!(
        text,
        "    for (i = 0; i < A; i++) for (j = 0; j < B; j++) for (k = 0; k < C; k++) {{\n\
         \x20       wrong += a[i][j][k] != (k < {first_of_k} ? 0 : i + 2 * j + 3 * k);\n\
         \x20       a[i][j][k] = 0;\n    }}\n    return wrong;\n}}\n"
    )
    .expect("text");
    text
}

/// All nests, and a program that runs each some times.
fn program() -> (usize, String) {
    let mut text =
        "#include <stdio.h>\n#define A 97\n#define B 47\n#define C 101\nstatic int a[A][B][C];\n"
            .to_owned();
    let mut main = "int main(void) {\n    int wrong = 0;\n".to_owned();
    let mut count = 0;
    for (outer, middles, inners) in OF_LEVELS.iter().chain(OF_TEAMS) {
        for (middle, inner) in
            middles.iter().flat_map(|it| inners.iter().map(move |inner| (it, inner)))
        {
            let nest = [Some(*outer), *middle, *inner];
            // Loops that are made one must not depend on one another everywhere.
            let may_be_triangle =
                !nest.iter().flatten().any(|it| depth(it) == 3 || it.contains("worker collapse"))
                    && !middle.is_some_and(|it| depth(it) == 2);
            for (uses_more, is_triangle) in [(false, false), (true, false), (false, true)] {
                if is_triangle && !may_be_triangle {
                    continue;
                }
                let name = format!("nest{count}");
                count += 1;
                text.push_str(&function(&name, &nest, uses_more, is_triangle));
                let said = nest.iter().flatten().copied().collect::<Vec<_>>().join(" | ");
                writeln!(
                    main,
                    "    for (int r = 0; r < 3; r++) {{ int n = {name}(); if (n) {{ wrong++; \
                     printf(\"{name} {said}: %d\\n\", n); break; }} }}"
                )
                .expect("text");
            }
        }
    }
    main.push_str("    return wrong != 0;\n}\n");
    (count, text + &main)
}

#[test]
fn every_iteration_runs_once_with_variables_of_its_own() {
    all_are_right("-O0");
}

#[test]
fn every_iteration_runs_once_in_blocks_too() {
    all_are_right("-O1");
}

fn all_are_right(level: &str) {
    let (count, text) = program();
    assert!(count > 100, "{count} nests");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("nests.c"), text).expect("written");
    let flags = ["cc", "--device", "cpu,cpu:separate", level, "-w", "nests.c", "-o", "nests"];
    let built = ferry(&flags, folder.path());
    assert!(built.status.success(), "{}", told(&built));
    for device in ["cpu", "cpu:separate"] {
        let run = Command::new(folder.path().join("nests"))
            .env("FERRY_DEVICE", device)
            .env("OMP_TARGET_OFFLOAD", "MANDATORY")
            .env("OMP_NUM_THREADS", "8")
            .output()
            .expect("the program runs");
        assert!(run.status.success(), "{level}, {device}: {}", told(&run));
    }
}
