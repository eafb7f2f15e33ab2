//! Directives that neither standard has: memory kinds, and OpenARC's.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod harness;

use directive::{OPENARC, OPENMP, write};
use harness::{read, understood};
use ir::construct::{Args, Dialect, Leaf, MemoryBy};
use syntax::pragma::Shape;

#[track_caller]
fn same(line: &str, dialect: Dialect) {
    let construct = understood(line).construct;
    let written = write(&construct, dialect).expect("a construct has a text in its own dialect");
    assert_eq!(written.replace(' ', ""), line.replace(' ', ""));
    assert_eq!(understood(&written).construct, construct, "{written}");
}

#[track_caller]
fn faults(line: &str, expect: &[(&str, &str)]) {
    assert_eq!(read(line).fault_list(), expect, "#pragma {line}");
}

/// Memory, `val` or `ref`, and variables of each part.
#[track_caller]
fn memory(line: &str) -> Vec<(Option<String>, Option<MemoryBy>, Vec<String>)> {
    let understood = understood(line);
    assert_eq!(understood.construct.leaves, [Leaf::Memory]);
    assert_eq!(understood.shape, Shape::Standalone);
    let Args::Memory(parts) = understood.construct.args else { panic!("no memory kinds: {line}") };
    parts.into_iter().map(|it| (it.space, it.by, it.items)).collect()
}

fn part(
    space: &str,
    by: Option<MemoryBy>,
    items: &[&str],
) -> (Option<String>, Option<MemoryBy>, Vec<String>) {
    let space = (!space.is_empty()).then(|| space.to_owned());
    (space, by, items.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn memory_kinds() {
    let (val, by_ref) = (Some(MemoryBy::Value), Some(MemoryBy::Reference));
    assert_eq!(
        memory("omp memkind(fastmem : val: a , b, persistent : ref: p, q )"),
        [part("fastmem", val, &["a", "b"]), part("persistent", by_ref, &["p", "q"])]
    );
    assert_eq!(memory("omp memkind(a, b)"), [part("", None, &["a", "b"])]);
    assert_eq!(memory("omp memkind(scratch: a)"), [part("scratch", None, &["a"])]);
    assert_eq!(memory("omp memkind(ref: p)"), [part("", by_ref, &["p"])]);
    assert_eq!(
        memory("omp memkind(a, fastmem: b, c, val: x)"),
        [part("", None, &["a"]), part("fastmem", None, &["b", "c"]), part("", val, &["x"])]
    );
    same("omp memkind(fastmem : val : a, b, persistent : ref : p, q)", OPENMP);
    same("omp memkind(a, fastmem : b, c, val : x)", OPENMP);
}

#[test]
fn bad_memory_kinds() {
    faults("omp memkind(fastmem : value : a)", &[("F0312", "value")]);
    faults("omp memkind()", &[("F0311", ")")]);
    faults("omp memkind(fastmem : val :)", &[("F0311", ")")]);
    faults("omp memkind(a", &[("F0310", "(")]);
}

#[test]
fn openarc_directives() {
    same("openarc transform window(a[0:8], b[0:8])", OPENARC);
    same(
        "openarc transform permute(i, n) unroll(4) noreductionunroll(x) noloopcollapse noploopswap",
        OPENARC,
    );
    same("openarc transform noreductionunroll transpose(a) redim(b) expand(x)", OPENARC);
    same("openarc opencl num_simd_work_items(4) num_compute_units(2)", OPENARC);
    same("openarc #define N 4", OPENARC);
    same("openarc #define WIDTH (2 * N)", OPENARC);
    assert_eq!(understood("openarc transform unroll(4)").shape, Shape::Prefix);
    assert_eq!(understood("openarc #define N 4").shape, Shape::Standalone);
}

#[test]
fn bad_openarc_directives() {
    faults("openarc transfrm unroll(4)", &[("F0302", "transfrm")]);
    faults("openarc transform unrol(4)", &[("F0304", "unrol")]);
    faults("openarc transform window(a)", &[("F0311", ")")]);
    faults("openarc opencl unroll(4)", &[("F0305", "unroll")]);
    faults("openarc transform", &[("F0313", "transform")]);
    faults("openarc #define", &[("F0311", "")]);
    faults("openarc #undef N", &[("F0301", "#")]);
    assert_eq!(read("openarc transform unrol(4)").faults[0].helps, ["did you mean `unroll`?"]);
}
