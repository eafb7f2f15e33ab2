//! Types of expressions: ours and the host compiler's must agree, refusals included.
//!
//! Expressions are made at random over variables of many types. Each stands on a line of its own:
//! with an assertion about the type that we found, or alone where we refuse it. The compiler then
//! must complain about exactly the lines that we refuse.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use directive::Directives;
use ir::layout::LP64;
use source::Severity;

const PRELUDE: &str = "
enum E { A, B = 5 }; enum Big { HUGE_ONE = 0x100000000 }; enum Neg { MINUS = -1 };
typedef unsigned long size; typedef const int cint;
struct S { int m; const char *name; unsigned bits : 3; int sbits : 7; unsigned whole : 32;
  double a[4]; union { long in; float un; }; _Bool flag : 1; };
struct T; typedef int (*callback)(int, double);
char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u; long l;
unsigned long ul; long long ll; unsigned long long ull; __int128 x; unsigned __int128 ux; _Bool b;
enum E e; enum Big big; enum Neg neg; float f; double d; long double ld; _Float128 q; _Float32 f32;
_Float64 f64; _Complex float cf; _Complex double cd; _Complex int ci;
int *pi; const int *pci; volatile int *pvi; void *pv; const void *pcv; char *pc; const char *pcc;
double arr[4]; int mat[2][3]; const int carr[3]; size sz; cint k; _Atomic int at; _Atomic(double) ad;
struct S st, *ps; const struct S *pcs; struct T *pt; callback fn; int g(int, double); void nothing(void);
int (*table[2])(void); int (*row)[3]; int **pp; struct S make(void);
";

const ATOMS: &[&str] = &[
    "c",
    "sc",
    "uc",
    "s",
    "us",
    "i",
    "u",
    "l",
    "ul",
    "ll",
    "ull",
    "x",
    "ux",
    "b",
    "e",
    "big",
    "neg",
    "f",
    "d",
    "ld",
    "q",
    "f32",
    "f64",
    "cf",
    "cd",
    "ci",
    "pi",
    "pci",
    "pvi",
    "pv",
    "pcv",
    "pc",
    "pcc",
    "arr",
    "mat",
    "carr",
    "sz",
    "k",
    "at",
    "ad",
    "st",
    "ps",
    "pcs",
    "pt",
    "fn",
    "g",
    "nothing()",
    "table",
    "row",
    "pp",
    "A",
    "HUGE_ONE",
    "MINUS",
    "0",
    "1u",
    "2l",
    "3ull",
    "0x7fffffff",
    "0xffffffff",
    "4294967296",
    "2147483648",
    "'a'",
    "L'a'",
    "u'x'",
    "U'x'",
    "1.0f",
    "2.0",
    "3.0L",
    "1.5f128",
    "2.0i",
    "\"text\"",
    "L\"wide\"",
    "u8\"x\"",
    "(void*)0",
    "(char)1",
    "__func__",
    "sizeof(int)",
    "_Alignof(double)",
    "make()",
    "st.bits",
    "st.sbits",
    "st.whole",
    "ps->flag",
    "pcs->m",
    "st.in",
    "ps->un",
    "pcs->a",
    "st.name",
    "make().a",
    "fn(1, 2)",
    "g(c, f)",
    "&arr",
    "&g",
];

const BINARY: &[&str] = &[
    "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
    "||", ",", "=", "+=", "-=", "*=", "/=", "%=", "<<=", "&=",
];

const UNARY: &[&str] = &[
    "+",
    "-",
    "!",
    "~",
    "*",
    "&",
    "++",
    "--",
    "__real__ ",
    "__imag__ ",
    "sizeof ",
    "(int)",
    "(double)",
    "(char*)",
    "(short)",
    "(unsigned char)",
    "(_Bool)",
    "(void)",
    "(const int*)",
    "(float)",
];

/// A small generator: the same numbers on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.roll(5) == 0 {
        return dice.pick(ATOMS).to_owned();
    }
    let one = expression(dice, depth - 1);
    match dice.roll(12) {
        0..6 => {
            let other = expression(dice, depth - 1);
            format!("({one} {} {other})", dice.pick(BINARY))
        }
        6..9 => format!("({}({one}))", dice.pick(UNARY)),
        9 => format!("({one})[{}]", expression(dice, depth - 1)),
        10 => {
            let (yes, no) = (expression(dice, depth - 1), expression(dice, depth - 1));
            format!("(({one}) ? {yes} : {no})")
        }
        _ => format!("({one}){}", dice.pick(&["++", "--"])),
    }
}

/// The type of an expression as we see it; nothing if we refuse it.
fn our_type(expression: &str) -> Option<String> {
    let text = format!("{PRELUDE}\nvoid test(void) {{ __typeof__({expression}) *result; }}\n");
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), 1, &mut directives);
    assert_eq!(parsed.diagnostics.errors(), 0, "{expression}");
    let checked = sema::check(parsed.tree, &directives, &LP64);
    if checked.diagnostics.iter().any(|it| it.severity == Severity::Error) {
        return None;
    }
    let program = &checked.program;
    let name = program.names.find("result")?;
    let (_, var) = program.vars.iter().find(|(_, it)| it.name == Some(name))?;
    Some(program.types.spell(&program.names, program.types.pointee(var.ty)?))
}

#[test]
fn types_of_random_expressions() {
    let mut dice = Dice(2026);
    let mut text = PRELUDE.trim().replace('\n', " ");
    text.push_str(" void test(void) {\n");
    let mut lines = vec![String::new()];
    let mut refused = BTreeSet::new();
    for depth in [1, 2, 3, 3] {
        for _ in 0..700 {
            let expression = expression(&mut dice, depth);
            // gcc has types for bit-fields that have been assigned to; C has not.
            let changes = ["= ", "++", "--"].iter().any(|it| expression.contains(it));
            if changes && ["bits", "whole", "flag"].iter().any(|it| expression.contains(it)) {
                continue;
            }
            let ours = our_type(&expression);
            let line = match &ours {
                // Not a type that C can spell.
                Some(ty) if ty.contains('<') || ty.contains("[*]") => continue,
                Some(ty) => format!(
                    "_Static_assert(__builtin_types_compatible_p(__typeof__({expression}), {ty}), \"\");"
                ),
                None => {
                    refused.insert(lines.len() + 1);
                    format!("{{ __typeof__({expression}) *result; }}")
                }
            };
            text.push_str(&line);
            text.push('\n');
            lines.push(format!("{line} // {ours:?}"));
        }
    }
    text.push_str("}\n");
    let complaints = complaints(&text);
    let wrong: Vec<&str> = complaints
        .symmetric_difference(&refused)
        .filter_map(|line| lines.get(line - 1).map(String::as_str))
        .collect();
    let (count, all) = (wrong.len(), lines.len());
    assert!(wrong.is_empty(), "{count} of {all} disagree:\n{}", wrong.join("\n"));
}

/// A floating constant that has no exact value in most formats, or the sum of some.
fn floating(dice: &mut Dice, depth: usize) -> String {
    let literals =
        ["0.1", "0.3", "0.7", "1.1", "3.3", "16777217.", "9007199254740993.", "0x1.fp-2"];
    let suffixes = ["", "f", "L", "F128", "f32", "F64x"];
    if depth == 0 || dice.roll(4) == 0 {
        return format!("{}{}", dice.pick(&literals), dice.pick(&suffixes));
    }
    let (left, right) = (floating(dice, depth - 1), floating(dice, depth - 1));
    let cast = dice.pick(&["", "", "(float)", "(double)", "(long double)"]);
    format!("{cast}({left} {} {right})", dice.pick(&["+", "-", "*", "/"]))
}

#[test]
fn values_of_random_floating_constants() {
    let mut dice = Dice(7);
    let mut wrong = Vec::new();
    // Few at a time: after many errors no more are told.
    for _ in 0..8 {
        let lines: Vec<String> = (0..75).map(|_| assertion(&mut dice)).collect();
        let text = lines.join("\n");
        let (theirs, ours) = (complaints(&text), our_complaints(&text));
        let differ = theirs.symmetric_difference(&ours);
        wrong.extend(differ.filter_map(|line| lines.get(line - 1).cloned()));
    }
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n"));
}

fn assertion(dice: &mut Dice) -> String {
    let (left, right) = (floating(dice, 3), floating(dice, 2));
    let test = match dice.roll(3) {
        0 => format!("{left} < {right}"),
        1 => format!("(long)({left} * 10) % 2 == 0"),
        _ => format!("(float)({left}) == (float)({left} + {right} / 1e9L)"),
    };
    format!("_Static_assert({test}, \"\");")
}

/// The lines that we report errors for.
fn our_complaints(text: &str) -> BTreeSet<usize> {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), 1, &mut directives);
    assert_eq!(parsed.diagnostics.errors(), 0, "{:?}", parsed.diagnostics);
    let checked = sema::check(parsed.tree, &directives, &LP64);
    let line_of = |offset: u32| text[..offset as usize - 1].matches('\n').count() + 1;
    let places = checked.diagnostics.iter().filter_map(|it| it.primary.as_ref());
    places.map(|it| line_of(it.span.start)).collect()
}

/// The lines that the host compiler reports errors for.
fn complaints(text: &str) -> BTreeSet<usize> {
    let mut cc = Command::new("gcc")
        .args(["-std=gnu17", "-w", "-fsyntax-only", "-fmax-errors=0", "-xc", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .env("LC_ALL", "C")
        .spawn()
        .expect("gcc is installed");
    cc.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("gcc reads");
    let output = cc.wait_with_output().expect("gcc ends");
    String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|it| it.contains("error:"))
        .filter_map(|it| it.strip_prefix("<stdin>:")?.split(':').next()?.parse().ok())
        .collect()
}
