//! How single things are spelt: the statement of a small function, printed and compared as text.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed test may say so by a panic"
)]

use directive::Directives;
use emit::c::{Out, Printer, Selection, Setting};
use ir::program::Program;
use source::{Severity, SourceMap};

fn program(text: &str) -> Program {
    let mut map = SourceMap::new();
    let file = map.add("t.c", text.as_bytes().to_vec()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<_> = found.filter(|it| it.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    checked.program
}

fn unit(text: &str) -> String {
    let program = program(text);
    let mut out = Out::new();
    Printer::new(&program, Setting::Alone).unit(&Selection::all(&program), &mut out);
    out.into_text()
}

const SCENE: &str = "int a, b, c, *p, v[3]; char ch; short sh; unsigned u; long l; double d; \
                     float fl; void *any; struct s { int m; unsigned bits : 3; } s, *ps; ";

/// One statement between the variables of the scene.
#[track_caller]
fn check(statement: &str, expect: &str) {
    let text = unit(&format!("{SCENE} void f(void) {{ {statement} }}"));
    let body = text.split("\nvoid f(void)\n{\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let lines: Vec<&str> = body.trim_end().trim_end_matches('}').trim().lines().collect();
    let line = lines.iter().map(|it| it.trim()).collect::<Vec<_>>().join(" ");
    assert_eq!(line, expect);
}

#[track_caller]
fn check_declared(text: &str, expect: &str) {
    let printed = unit(text);
    assert!(printed.lines().any(|it| it == expect), "no `{expect}` in:\n{printed}");
}

#[test]
fn parentheses_are_written_where_needed_or_asked_for_by_compilers() {
    check("a = (b + c) * a;", "a = (b + c) * a;");
    check("a = b - (c - a);", "a = b - (c - a);");
    check("a = (b - c) - a;", "a = b - c - a;");
    check("a = b && c || a;", "a = (b && c) || a;");
    check("a = b << 1 + c;", "a = b << (1 + c);");
    check("a = b & c | a;", "a = (b & c) | a;");
    check("a = (b, c);", "a = (b, c);");
    check("a = - -b;", "a = - -b;");
    check("a = -(-5);", "a = - -5;");
    check("a = (b = c) ? *p++ : (*p)++;", "a = (b = c) ? *p++ : (*p)++;");
    check("a = ((struct s *)any)->m;", "a = ((struct s *)any)->m;");
    check("if ((a = b)) ;", "if ((a = b)) ;");
}

#[test]
fn conversions_that_c_makes_are_left_to_it() {
    check("d = a + fl;", "d = a + fl;");
    check("ch = ch + sh;", "ch = ch + sh;");
    check("a = u < l;", "a = u < l;");
    check("l += a;", "l += a;");
    check("p = any;", "p = any;");
    check("p = 0;", "p = 0;");
    check("a = p == 0;", "a = p == 0;");
    check("a = s.bits - 8;", "a = s.bits - 8;");
    check("a = v[ch];", "a = v[ch];");
}

#[test]
fn conversions_that_are_written_stay() {
    check("d = (double)a / b;", "d = (double)a / b;");
    check("a = (unsigned char)(a + b);", "a = (unsigned char)(a + b);");
    check("a = (char)a + (long)b;", "a = (char)a + (long)b;");
}

#[test]
fn numbers_have_their_type() {
    check("l = -2147483647 - 1;", "l = -2147483647 - 1;");
    check("u = 5u;", "u = 5U;");
    check("l = 5l + 'a';", "l = 5L + 97;");
}

#[test]
fn declarators_read_as_users_write_them() {
    check_declared("int (*(*f[3])(void))[4];", "int (*(*f[3])(void))[4];");
    check_declared(
        "typedef int (*cb)(char); cb get(cb x) { return x; }",
        "int (*get(int (*x)(char)))(char)",
    );
    check_declared("const char *const volatile w = 0;", "const char *const volatile w = 0;");
    check_declared(
        "void f(int n, double a[n][n]) { a[0][0] = 1; }",
        "void f(int n, double (*a)[n])",
    );
    check_declared("int f(a) short a; { return a; }", "int f(a) short a;");
    check_declared(
        "typedef float v __attribute__((vector_size(16))); v x;",
        "float __attribute__((vector_size(16))) x;",
    );
    check_declared("_Atomic(int *) x;", "_Atomic(int *) x;");
}

#[test]
fn a_name_is_changed_only_where_it_would_catch_another() {
    let text = "int x = 1; int f(void) { int x = 2; { extern int x; return x; } }";
    check_declared(text, "  int x__2 = 2;");
    check_declared("int x; int f(int x) { { int x = 3; return x; } }", "    int x = 3;");
}

#[test]
fn substitutes_stand_for_uses() {
    let program = program("int f(int n) { return n + 1; }");
    let mut printer = Printer::new(&program, Setting::Appended);
    let function = program.functions.iter().find(|it| it.1.body.is_some()).unwrap().1;
    printer.substitute(function.params[0], "(*__n)");
    let mut out = Out::new();
    printer.stmt(function.body.unwrap(), &mut out);
    assert_eq!(out.into_text(), "{\n  return (*__n) + 1;\n}\n");
}

#[test]
fn local_types_can_stand_before_appended_text() {
    let text = "struct s { int a; }; void f(void) { struct s { char c; } x; struct { long l; } y; \
                x.c = y.l; }";
    let program = program(text);
    let printer = Printer::new(&program, Setting::Appended);
    let body = program.functions.iter().find_map(|it| it.1.body).unwrap();
    let (mut out, mut done) = (Out::new(), Default::default());
    printer.local_types(&[ir::walk::Part::Stmt(body)], &mut done, &mut out);
    let text = out.into_text();
    assert!(text.contains("struct s__2 {\n  char c;\n};"), "{text}");
    assert!(text.contains("long l;"), "{text}");
    assert!(!text.contains("int a;"), "{text}");
    let mut again = Out::new();
    printer.local_types(&[ir::walk::Part::Stmt(body)], &mut done, &mut again);
    assert_eq!(again.into_text(), "");
}

#[test]
fn lines_lead_back_to_the_source() {
    let program = program("int f(int n) { n++; return n; }");
    // As if every ten characters were a line.
    let base = program.functions.iter().next().unwrap().1.span.start - 4;
    let place = |span: source::Span| Some(("t.c".to_owned(), (span.start - base) / 10 + 1));
    let mut out = Out::placed(&place);
    Printer::new(&program, Setting::Alone).unit(&Selection::all(&program), &mut out);
    let text = out.into_text();
    let expect = "# 1 \"t.c\"\nint f(int n)\n{\n# 2 \"t.c\"\n  n++;\n  return n;\n}\n";
    assert!(text.ends_with(expect), "{text}");
}
