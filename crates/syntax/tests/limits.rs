//! Deep and long texts give an error, quickly, on the stack of a test thread (2 MiB).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

mod common;

use std::time::{Duration, Instant};

use common::parse;

const MANY: usize = 100_000;

/// `body` in a function, with a fault behind it that must be found if `goes_on`.
#[track_caller]
fn check(what: &str, text: String, codes: &[&str]) {
    let start = Instant::now();
    let parsed = parse(&text);
    let found: Vec<&str> = parsed.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(found, codes, "{what}");
    // Generous: a debug build on a busy machine. Quadratic time would be minutes.
    assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?}", start.elapsed());
}

#[track_caller]
fn check_nested(what: &str, before: &str, open: &str, middle: &str, close: &str) {
    let text = format!(
        "int f(int x) {{ {before}{}{middle}{};\n x = ; }}",
        open.repeat(MANY),
        close.repeat(MANY)
    );
    check(what, text, &["F0210", "F0201"]);
    let text = format!("int f(int x) {{ {before}{}", open.repeat(MANY));
    let parsed = parse(&text);
    assert!(parsed.diagnostics.errors() <= 2, "{what}, open: {:?}", parsed.diagnostics);
}

#[test]
fn nesting_is_limited() {
    check_nested("parentheses", "x = ", "(", "1", ")");
    check_nested("brackets", "x = ", "x[", "1", "]");
    check_nested("calls", "x = ", "x(", "1", ")");
    check_nested("blocks", "", "{", "", "}");
    check_nested("dereferences", "x = ", "*", "x", "");
    check_nested("signs", "x = ", "- ", "x", "");
    check_nested("casts", "x = ", "(int)", "x", "");
    check_nested("sizeof", "x = ", "sizeof ", "x", "");
    check_nested("if", "", "if(1)", "", "");
    check_nested("for", "", "for(;;)", "", "");
    check_nested("while", "", "while(1)", "", "");
    check_nested("assignments", "", "x = ", "1", "");
    check_nested("conditions", "x = ", "x ? x : ", "1", "");
    check_nested("initialisers", "int a[] = ", "{", "1", "}");
    check_nested("literals", "x = ", "(int){", "1", "}");
    check_nested("block expressions", "x = ", "({", "1;", "});");
    check_nested("declarators", "int ", "(", "a", ")");
    check_nested("pointers", "int ", "*", "a", "");
    check_nested("arrays", "int a", "[1]", "", "");
    check_nested("functions", "int a", "()", "", "");
    check_nested("parameters", "int a(", "int (*)(", "int", ")");
}

#[test]
fn types_nest_no_deeper() {
    for open in [
        "struct {",
        "typeof(",
        "_Atomic(",
        "__attribute__((a(",
        "sizeof(struct { int a[",
        "enum { a = ",
    ] {
        let parsed = parse(&format!("int f(void) {{ {}", open.repeat(MANY)));
        assert!((1..=2).contains(&parsed.diagnostics.errors()), "{open}: {:?}", parsed.diagnostics);
    }
    let text = format!("{}int x;{}", "struct {".repeat(MANY), "} a;".repeat(MANY));
    check("records", text, &["F0210"]);
}

#[test]
fn chains_are_limited() {
    let long = |item: &str| format!("void f(int x) {{ x = x{};\n x = ; }}", item.repeat(1_000_000));
    check("sum", long("+1"), &["F0211", "F0201"]);
    check("comma", long(",1"), &["F0211", "F0201"]);
    check("members", long(".a"), &["F0211", "F0201"]);
    check("calls", long("()"), &["F0211", "F0201"]);
    check("increments", long("++"), &["F0211", "F0201"]);
}

#[test]
fn chains_of_reasonable_length_are_fine() {
    let rungs = "else if (x) ;".repeat(10_000);
    check("else if", format!("void f(int x) {{ if (x) ; {rungs} }}"), &[]);
    let cases = "case 1: ".repeat(9_000);
    check("cases", format!("void f(int x) {{ switch (x) {{ {cases} ; }} }}"), &[]);
    check("sum", format!("int x = 1{};", "+1".repeat(9_000)), &[]);
    check("parentheses", format!("int x = {}1{};", "(".repeat(300), ")".repeat(300)), &[]);
    let rungs = "else if (x) ;".repeat(MANY);
    check("too long", format!("void f(int x) {{ if (x) ; {rungs} x = ; }}"), &["F0220", "F0201"]);
}

#[test]
fn chains_inside_of_chains_count_together() {
    let link = format!("{})", "+1".repeat(5000));
    let text = format!("int x = {}1{};", "(".repeat(300), link.repeat(300));
    check("sums of sums", text, &["F0211"]);
}

#[test]
fn large_stacks_are_lent() {
    fn depth(n: u32) -> u32 {
        let frame = std::hint::black_box([n; 64]);
        if n == 0 { 0 } else { 1 + depth(frame[0] - 1) }
    }
    assert_eq!(syntax::with_stack(|| depth(200_000)), 200_000);
}
