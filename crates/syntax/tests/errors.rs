//! Each mistake gives one message, at its place, and what follows is read.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

mod common;

use common::check_faults;

/// The statements of a function have these faults; they begin on line 2.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    check_faults(&format!("void f(int x, int y) {{\n{body}\n}}\nint z;"), expected);
}

#[test]
fn a_forgotten_semicolon_is_missed_where_it_belongs() {
    check("x = 1\ny = 2;", &["2:6 F0202 expected `;` after this expression"]);
    check("int a = 1\nint b;", &["2:10 F0202 expected `;` after this declaration"]);
    check("return x", &["2:9 F0202 expected `;` after this `return`"]);
    check("x = 1 y = 2; y = ;", {
        &[
            "2:6 F0202 expected `;` after this expression",
            "2:18 F0201 expected an expression, found `;`",
        ]
    });
    check("do x++; while (y)\nx = 1;", &["2:18 F0202 expected `;` after `do … while (…)`"]);
    check_faults("struct s { int a }\nint x;", {
        &[
            "1:17 F0221 the last member is not closed with `;`",
            "1:19 F0202 expected `;` after this declaration",
        ]
    });
    check_faults("enum e { A }\nstatic int f(void) { return 1; }", {
        &["1:13 F0202 expected `;` after this declaration"]
    });
}

#[test]
fn brackets_that_do_not_close_are_shown() {
    check("if (x { y = 1; }", &["2:7 F0203 expected `)`, found `{`"]);
    check("y = (x + 1;", &["2:11 F0203 expected `)`, found `;`"]);
    check("y = x[1;", &["2:8 F0203 expected `]`, found `;`"]);
    check("g(x y);", &["2:5 F0203 expected `)`, found `y`"]);
    check("while (x y) { x = 1; }", &["2:10 F0203 expected `)`, found `y`"]);
    check_faults(
        "void f(void) {\n if (1) {\n",
        &["3:1 F0203 expected `}`, found the end of the file"],
    );
    check_faults("int x;\n}\nint y = ;", {
        &["2:1 F0215 this `}` closes nothing", "3:9 F0201 expected an expression, found `;`"]
    });
}

#[test]
fn the_opening_bracket_has_a_label() {
    let parsed = common::parse("void f(void) { g(1; }");
    let fault = parsed.diagnostics.iter().next().unwrap();
    let label = &fault.secondary[0];
    assert_eq!((label.span.start, label.text.as_str()), (16, "this `(` is not closed"));
}

#[test]
fn statements_go_on_after_a_fault() {
    check("x = ;\ny = 1;\nx = * ;\n{ y = ( ; x = 1; }", {
        &[
            "2:5 F0201 expected an expression, found `;`",
            "4:7 F0201 expected an expression, found `;`",
            "5:9 F0201 expected an expression, found `;`",
        ]
    });
    check("for (int i = 0 i < 3; i++) { x = ; }\ny = ;", {
        &[
            "2:15 F0202 expected `;` after this declaration",
            "2:34 F0201 expected an expression, found `;`",
            "3:5 F0201 expected an expression, found `;`",
        ]
    });
    check("for (x = 0, x < 3; x++) y = 1;", &["2:23 F0201 expected `;`, found `)`"]);
    check("else x = 1;", &["2:1 F0216 `else` without `if`"]);
    check("if (x)\n}\nvoid g(void) {", &["3:1 F0201 expected a statement, found `}`"]);
    check("if (x) int a;", &["2:8 F0219 a declaration cannot be the body of a statement"]);
    check("case 1 x;", &["2:8 F0201 expected `:`, found `x`"]);
    check("goto 1;", &["2:6 F0201 expected a label, found `1`"]);
    check("do x++; y = 1;", &["2:8 F0202 expected `while` after the body of `do`"]);
    check("x = sizeof(int;", &["2:15 F0203 expected `)`, found `;`"]);
    check("int a[] = { 1, 2;\nx = 1;", &["2:17 F0203 expected `}`, found `;`"]);
}

#[test]
fn unknown_types_are_named_once() {
    check("size_t n; size_t m = (size_t)x;", &["2:1 F0204 unknown type name `size_t`"]);
    check("foo *p; p = (foo *)x;", &["2:1 F0204 unknown type name `foo`"]);
    check("x = (bar)y;", &["2:6 F0204 unknown type name `bar`"]);
    check_faults("void f(uint32_t a, FILE *b) { }", {
        &["1:8 F0204 unknown type name `uint32_t`", "1:20 F0204 unknown type name `FILE`"]
    });
    check_faults("int f(size_t);", &["1:7 F0204 unknown type name `size_t`"]);
    check_faults("struct s { foo a; int b; };", &["1:12 F0204 unknown type name `foo`"]);
    check_faults("__global__ void f(void);\n__global__ void g(void);", {
        &["1:1 F0204 unknown type name `__global__`"]
    });
    let parsed = common::parse("uint8_t x;");
    let fault = parsed.diagnostics.iter().next().unwrap();
    assert_eq!(fault.helps, ["`uint8_t` is declared in <stdint.h>: include it"]);
}

#[test]
fn declarations_that_make_no_sense_are_refused() {
    check_faults("long char x;", &["1:1 F0206 these type keywords do not make a type"]);
    check_faults("static extern int x;", &["1:8 F0207 more than one storage class"]);
    check_faults("_Imaginary float x;", &["1:1 F0208 `_Imaginary` types are not supported"]);
    check_faults("int x { return 1; }\nint y;", &["1:7 F0218 a body without a function"]);
    check_faults("int 3x;\nint y;", &["1:5 F0201 expected a name, found `3x`"]);
    check_faults(");\nint y = ;", {
        &[
            "1:1 F0201 expected a declaration, found `)`",
            "2:9 F0201 expected an expression, found `;`",
        ]
    });
    check_faults("enum { A B, C };\nint y;", &["1:10 F0203 expected `}`, found `B`"]);
    check_faults("int f(int a { }\nint y;", &["1:13 F0203 expected `)`, found `{`"]);
}

#[test]
fn old_c_is_accepted_with_a_warning() {
    check_faults("main() { return 0; }", &["1:1 F0205 this declaration has no type"]);
    check_faults("static x = 1;", &["1:1 F0205 this declaration has no type"]);
    check("register i;", &["2:1 F0205 this declaration has no type"]);
}

#[test]
fn functions_inside_functions_are_skipped_whole() {
    check("int g(int a) { if (a) { return y; } return 0; }\nx = g(1);", {
        &["2:5 F0209 function `g` is defined inside another function"]
    });
}

#[test]
fn bad_bytes_give_one_fault_each() {
    check("x = y @ 2;\ny = 1;", &["2:7 F0101 stray `@` in the program"]);
    check("x = \u{201C}a;", &["2:5 F0101 stray `“` in the program"]);
    check("x = 'a;\ny = 1;", &["2:5 F0103 this character constant is not closed on its line"]);
    check("g(\"abc);\ny = 1;", &["2:3 F0103 this string is not closed on its line"]);
    check("x = '';", &["2:5 F0104 empty character constant"]);
    check("_Pragma(x) y = 1;", &["2:1 F0105 `_Pragma` takes one string in parentheses"]);
    check_faults("int x;\0\0\0\0", &["1:7 F0101 null characters in the program"]);
    check_faults("int x; /* open", &["1:8 F0102 this comment is never closed"]);
}

#[test]
fn bytes_beyond_utf8_are_fine_in_strings_only() {
    let parsed = syntax::parse(b"char *s = \"caf\xE9\";", 0, &mut syntax::pragma::NoDirectives);
    assert!(parsed.diagnostics.is_empty());
    assert!(parsed.tree.names.find("\"caf\\351\"").is_some());
    let parsed = syntax::parse(b"int caf\xE9;", 0, &mut syntax::pragma::NoDirectives);
    assert_eq!(parsed.diagnostics.errors(), 1);
}

#[test]
fn a_hundred_errors_are_enough() {
    let parsed = common::parse(&"int x = ;\n".repeat(1000));
    assert_eq!(parsed.diagnostics.errors(), 101);
    assert_eq!(parsed.diagnostics.iter().last().unwrap().code, "F0214");
}

#[test]
fn the_last_member_may_lack_its_semicolon() {
    check_faults("struct s { int a; int b };", {
        &["1:24 F0221 the last member is not closed with `;`"]
    });
    check_faults("struct s { struct { int a; } };", {
        &["1:29 F0221 the last member is not closed with `;`"]
    });
}

#[test]
fn a_name_that_a_condition_hides_is_back_behind_the_statement() {
    check_faults("typedef int t;\nvoid f(void) { while (sizeof(enum { t })) if (1) ; t x; }", &[]);
}
