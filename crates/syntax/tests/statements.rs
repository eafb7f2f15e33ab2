//! Statements become the right trees, and pragmas take what belongs to them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

mod common;

use common::{Words, check_body, decl, faults, stmt};
use syntax::ast::{DeclKind, StmtKind};

#[test]
fn statements_are_read() {
    check_body("", "if (a) b; else if (c) d; else e;", &["(if a b else (if c d else e))"]);
    check_body("", "if (a) if (b) c; else d;", &["(if a (if b c else d))"]);
    check_body("", "while (a) { b; continue; break; }", &["(while a {b continue break})"]);
    check_body("", "do a; while (b); c;", &["(do a b)", "c"]);
    check_body("", "for (;;) ; for (a; b; c) d;", &["(for _ _ _ ;)", "(for a b c d)"]);
    check_body("", "for (int i = 0, j; i < j; i++) { }", {
        &["(for i: Int = 0; j: Int; (Lt i j) (PostInc i) {})"]
    });
    check_body("", "switch (a) { case 1: case 2 ... 3: b; default: c; }", {
        &["(switch a {(case 1 (case 2...3 b)) (default c)})"]
    });
    check_body("", "goto end; goto *p; end: return; return 1;", {
        &["(goto end)", "(goto* p)", "(end: return)", "(return 1)"]
    });
    check_body("", "__label__ a, b; a: ; b: __attribute__((unused)) ;", {
        &["(labels a b)", "(a: ;)", "(b: @unused ;)"]
    });
}

#[test]
fn labels_may_stand_before_declarations_and_at_the_end() {
    check_body("", "a: int x; b:", &["(a: x: Int;)", "(b: ;)"]);
    check_body("", "switch (x) { default: }", &["(switch x {(default ;)})"]);
}

#[test]
fn assembler_is_read() {
    check_body("", "__asm__ volatile (\"nop\");", &["(asm volatile \"nop\" :0  |  |  | )"]);
    check_body(
        "",
        "asm inline (\"add %0\" : [o] \"=r\"(x), \"+m\"(y) : \"r\"(a + b) : \"memory\", \"cc\");",
        {
            &[
                "(asm inline \"add %0\" :3 [o]\"=r\"(x) \"+m\"(y) | \"r\"((Add a b)) | \"memory\" \"cc\" | )",
            ]
        },
    );
    check_body("", "asm goto (\"jmp %l0\" : : : : out); out: ;", {
        &["(asm goto \"jmp %l0\" :4  |  |  | out)", "(out: ;)"]
    });
    check_body("", "asm (\"\" :: \"r\"(x) :);", &["(asm \"\" :3  | \"r\"(x) |  | )"]);
    check_body("", "register int r asm(\"eax\") = 1;", &["r: @asm register Int = 1;"]);
}

#[test]
fn attributes_may_be_statements() {
    check_body(
        "",
        "__attribute__((fallthrough)); [[fallthrough]];",
        &["@fallthrough", "@fallthrough"],
    );
    check_body("", "__attribute__((unused)) int x; [[maybe_unused]] int y;", {
        &["x: @unused Int;", "y: @maybe_unused Int;"]
    });
    check_body("", "if (a) [[likely]] b;", &["(if a b)"]);
    check_body("", "__extension__ int x; __extension__ (x + 1);", {
        &["x: extension Int;", "(Extension <(Add x 1)>)"]
    });
}

/// A body read by [`Words`] prints as `expected`.
#[track_caller]
fn check_directives(body: &str, expected: &[&str], fault: &[&str]) -> Words {
    let text = format!("void f(void) {{\n{body}\n}}");
    let mut words = Words::default();
    let parsed = syntax::parse(text.as_bytes(), 0, &mut words);
    assert_eq!(faults(&text, &parsed), fault, "{body}");
    let tree = parsed.tree;
    let DeclKind::Function(function) = &tree.decls[tree.items[0]].kind else { panic!("{body}") };
    let StmtKind::Block(items) = &tree.stmts[function.body].kind else { panic!("{body}") };
    let lines: Vec<String> = items.iter().map(|it| stmt(&tree, *it)).collect();
    assert_eq!(lines, expected, "{body}");
    words
}

#[test]
fn directives_take_what_their_shape_says() {
    let check = |body: &str, expected: &[&str]| {
        check_directives(body, expected, &[]);
    };
    check("#pragma dir prefix\n a; b;", &["Prefix[dir prefix] -> a", "b"]);
    check("#pragma dir prefix\n{ a; }", &["Prefix[dir prefix] -> {a}"]);
    check("#pragma dir prefix\n#pragma dir prefix\nfor (;;) a;", {
        &["Prefix[dir prefix] -> Prefix[dir prefix] -> (for _ _ _ a)"]
    });
    check("#pragma dir alone\n a;", &["Standalone[dir alone]", "a"]);
    check("#pragma dir opens\n a;\n#pragma dir closes\n b;", {
        &["Opens[dir opens]", "a", "Closes[dir closes]", "b"]
    });
    check("#pragma other thing\n a;", &["Foreign[other thing]", "a"]);
    check("if (c)\n#pragma dir prefix\n a; else b;", &["(if c Prefix[dir prefix] -> a else b)"]);
    check("if (c)\n#pragma dir alone\n b;", &["(if c Standalone[dir alone])", "b"]);
    check("for (;;)\n#pragma other\n a;", &["(for _ _ _ Foreign[other] -> a)"]);
    check("l:\n#pragma dir prefix\n a;", &["(l: Prefix[dir prefix] -> a)"]);
    check("do\n#pragma dir prefix\n a; while (b);", &["(do Prefix[dir prefix] -> a b)"]);
    check("_Pragma(\"dir prefix\") a;", &["Prefix[dir prefix] -> a"]);
    check("_Pragma ( \"other \\\"x\\\"\" ) a;", &["Foreign[other \"x\"]", "a"]);
    check("#pragma dir \\\n prefix\n a;", &["Prefix[dir   prefix] -> a"]);
    check("{\n#pragma dir alone\n}", &["{Standalone[dir alone]}"]);
}

#[test]
fn pragmas_inside_of_other_things_are_white_space_or_refused() {
    check_directives("a = b +\n#pragma other\n c;", &["(= a (Add b c))"], &[]);
    check_directives("f(a,\n#pragma GCC diagnostic push\n c);", &["(call f a c)"], &[]);
    check_directives("a\n#pragma GCC x\n= b;", &["(= a b)"], &[]);
    check_directives("int x[] = {\n#pragma other\n1 };", &["x: array ? of Int = {1};"], &[]);
    check_directives("f(a,\n#pragma dir prefix\n c);", &["(call f a c)"], {
        &["3:1 F0212 a directive cannot stand inside an expression or declaration"]
    });
    check_directives("a = b\n#pragma dir prefix\n c;", &["(= a b)", "Prefix[dir prefix] -> c"], {
        &["2:6 F0202 expected `;` after this expression"]
    });
    check_directives("a;\n#pragma dir prefix\n", &["a", "Prefix[dir prefix]"], {
        &["3:1 F0213 expected a statement after this directive"]
    });
}

#[test]
fn lists_of_directives_have_sections_and_shapes() {
    let check = |list: &str, expected: &[&str]| {
        let words = check_directives(
            &format!("#pragma dir items {list}"),
            &[&*format!("Standalone[dir items {list}]")],
            &[],
        );
        assert_eq!(words.items, expected, "{list}");
    };
    check("a, *p, s.a[0:n], p->x", &["a", "(Deref p)", "(section (. s a) 0 n -)", "(-> p x)"]);
    check("a[:], a[:n], a[i:], a[::2], a[0:n:2]", {
        &[
            "(section a _ _ -)",
            "(section a _ n -)",
            "(section a i _ -)",
            "(section a _ _ 2)",
            "(section a 0 n 2)",
        ]
    });
    check("a[i][0:n:2], (*p)[0:n], a[i ? j : k], a[b[0]:1:]", {
        &[
            "(section (index a i) 0 n 2)",
            "(section <(Deref p)> 0 n -)",
            "(index a (? i j k))",
            "(section a (index b 0) 1 _)",
        ]
    });
    check("([n][m])p, ([n])p[0:2]", &["(shaped [n m] p)", "(shaped [n] (section p 0 2 -))"]);
}

#[test]
fn directives_at_file_scope_take_declarations() {
    let text = "#pragma dir prefix\nint f(void);\n#pragma dir alone\n#pragma dir prefix\nint g(void) { }\n";
    let parsed = syntax::parse(text.as_bytes(), 0, &mut Words::default());
    assert_eq!(faults(text, &parsed), Vec::<String>::new());
    let tree = parsed.tree;
    let items: Vec<String> = tree.items.iter().map(|it| decl(&tree, *it)).collect();
    assert_eq!(
        items,
        [
            "Prefix[dir prefix] -> f: function() to Int;",
            "Standalone[dir alone]",
            "Prefix[dir prefix] -> g: function() to Int {}",
        ]
    );
    assert_eq!(&text[..18], "#pragma dir prefix");
    let first = tree.pragmas.iter().next().unwrap().1.span;
    assert_eq!((first.start, first.end), (0, 18));
}
