//! What is refused, with which message, and what is not.

use directive::Directives;
use ir::layout::LP64;
use sema::Checked;
use source::Severity;

fn check_text(text: &str) -> Checked {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), 1, &mut directives);
    let faults: Vec<_> = parsed.diagnostics.iter().map(|it| &it.message).collect();
    assert!(faults.is_empty(), "{text}: {faults:?}");
    sema::check(parsed.tree, &directives, &LP64)
}

fn messages(text: &str, severity: Severity) -> Vec<String> {
    let checked = check_text(text);
    let of_severity = checked.diagnostics.iter().filter(|it| it.severity == severity);
    of_severity.map(|it| it.message.clone()).collect()
}

/// Statements in a function with some declarations around it.
fn in_function(stmts: &str) -> String {
    format!(
        "struct s {{ int count; const int fixed; unsigned bits : 3; }}; struct open;
         int g(int, double); void nothing(void); typedef int number;
         int f(struct s v, int *p, const int *cp, int n) {{ {stmts} }}"
    )
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(messages(text, Severity::Error), [message], "{text}");
}

#[track_caller]
fn stmt_refused(stmts: &str, message: &str) {
    refused(&in_function(stmts), message);
}

#[track_caller]
fn warned(stmts: &str, message: &str) {
    let text = in_function(stmts);
    assert_eq!(messages(&text, Severity::Error), [] as [&str; 0], "{text}");
    assert_eq!(messages(&text, Severity::Warning), [message], "{text}");
    assert_eq!(ir::verify::verify(&check_text(&text).program), [], "{text}");
}

#[track_caller]
fn accepted(text: &str) {
    assert_eq!(messages(text, Severity::Error), [] as [&str; 0], "{text}");
    assert_eq!(messages(text, Severity::Warning), [] as [&str; 0], "{text}");
    assert_eq!(ir::verify::verify(&check_text(text).program), [], "{text}");
}

#[track_caller]
fn stmt_accepted(stmts: &str) {
    accepted(&in_function(stmts));
}

#[test]
fn names() {
    stmt_refused("return m;", "`m` is not declared");
    stmt_refused("m = 1; m = 2; { return m; }", "`m` is not declared");
    stmt_refused("return number;", "`number` is a type, not a value");
    stmt_refused("return v.cuont;", "`struct s` has no member `cuont`");
    stmt_refused("return p.x;", "member `x` asked of `int *`, which is not a structure or union");
    stmt_refused(
        "return v->count;",
        "`->count` asked of `struct s`, which is not a pointer to a structure",
    );
    stmt_refused("goto out;", "label `out` is used but not defined");
    stmt_refused("out:; out:;", "label `out` is defined twice");
}

#[test]
fn a_near_name_is_suggested() {
    let checked = check_text("int counter; int f(void) { return conter; }");
    let helps: Vec<_> = checked.diagnostics.iter().flat_map(|it| it.helps.clone()).collect();
    assert_eq!(helps, ["did you mean `counter`?"]);
    let checked = check_text(&in_function("return v.cuont;"));
    let helps: Vec<_> = checked.diagnostics.iter().flat_map(|it| it.helps.clone()).collect();
    assert_eq!(helps, ["did you mean `count`?"]);
}

#[test]
fn declarations() {
    refused("int a = 1; int a = 2;", "`a` is defined twice");
    refused("int a; double a;", "conflicting types for `a`");
    refused("int f(int); int f(double);", "conflicting types for `f`");
    refused("int f(void) { return 0; } int f(void) { return 0; }", "`f` is defined twice");
    refused(
        "int f(void); static int f(void) { return 0; }",
        "`f` is declared `static` after it was declared without",
    );
    refused("struct s { int a; }; struct s { int a; };", "`s` is defined twice");
    refused("struct s { int a; int a; };", "member `a` is declared twice");
    refused("struct s { int a; }; union s *p;", "tag `s` is of another kind");
    refused("enum { A, B, A };", "`A` is defined twice");
    refused("typedef int t; typedef long t;", "conflicting types for `t`");
    refused("struct s x;", "`x` has incomplete type `struct s`");
    refused("void x;", "`x` is declared `void`");
    refused("int a[-1];", "size of array is negative");
    refused("int n; int a[n];", "size of array at file scope is not a constant");
    refused("struct s { int a : 40; };", "width of bit-field `a` is more than its type has");
    refused("_Static_assert(sizeof(int) == 8, \"wide\");", "static assertion failed: wide");
    stmt_refused("int i; double i;", "`i` is defined twice");
    stmt_refused("struct open o;", "`o` has incomplete type `struct open`");
    accepted(
        "int a; int a; extern int a; int a = 3; int f(); int f(int); typedef int t; typedef int t;",
    );
    accepted(
        "static int a[]; static int a[4]; extern int b[]; int b[] = {1, 2}; int f(void) { return sizeof b; }",
    );
    accepted("int x; int f(int x) { { extern int x; return x; } }");
}

#[test]
fn expressions() {
    stmt_refused("return v + 1;", "invalid operands to `+`: `struct s` and `int`");
    stmt_refused("return p * 2;", "invalid operands to `*`: `int *` and `int`");
    stmt_refused("return n % 1.5;", "invalid operands to `%`: `int` and `double`");
    stmt_refused("return *n;", "invalid operand to `*`: `int`");
    stmt_refused("return &3 != 0;", "`&` needs an object, and this is a value");
    stmt_refused("return &v.bits != 0;", "address of bit-field `bits`");
    stmt_refused("3 = n;", "assignment needs an object, and this is a value");
    stmt_refused("*cp = 1;", "this object is read-only");
    stmt_refused("const int k = 1; k++;", "`k` is read-only");
    stmt_refused("v.fixed = 1;", "member `fixed` is read-only");
    stmt_refused("return n[3];", "`int` cannot be indexed");
    stmt_refused("return p[1.5];", "index has type `double`, not an integer type");
    stmt_refused("if (v) return 1;", "`struct s` is used where a number or pointer is needed");
    stmt_refused("return nothing();", "a `void` value is used");
    stmt_refused("return nothing() + 1;", "a `void` value is used");
    stmt_refused("return n(3);", "`int` is called, but is not a function");
    stmt_refused("return g(1);", "too few arguments to `g`: 1 given, 2 expected");
    stmt_refused("return g(1, 2, 3);", "too many arguments to `g`: 3 given, 2 expected");
    stmt_refused(
        "return g(v, 1);",
        "incompatible types in passing argument 1: `int` from `struct s`",
    );
    stmt_refused("p = v;", "incompatible types in assignment: `int *` from `struct s`");
    stmt_refused("return (struct s) n != 0;", "`int` cannot be cast to `struct s`");
    stmt_refused(
        "return _Generic(n, long: 1, char: 2);",
        "no association of `_Generic` fits `int`",
    );
    stmt_refused(
        "struct open *o; return o->x;",
        "object with member `x` has incomplete type `struct open`",
    );
    stmt_refused("return 08;", "invalid digit `8` in octal constant");
}

#[test]
fn one_fault_gives_one_message() {
    stmt_refused(
        "int r = (m + 1) * n; r += m[3].x->y(2); return r ? m : r;",
        "`m` is not declared",
    );
    refused(
        "struct s x; int f(void) { return x.a + x.b; }",
        "object with member `a` has incomplete type `struct s`",
    );
}

#[test]
fn statements() {
    stmt_refused("break;", "`break` outside a loop or `switch`");
    stmt_refused("continue;", "`continue` outside a loop");
    stmt_refused("case 1: return 1;", "`case` outside a `switch`");
    stmt_refused("switch (n) { case 1: case 2: case 1: break; }", "case 1 occurs twice");
    stmt_refused("switch (n) { case 1 ... 5: case 3: break; }", "case 3 occurs twice");
    stmt_refused("switch (n) { case n: break; }", "value of `case` is not a constant");
    stmt_refused(
        "switch (n) { default: default: break; }",
        "`default` occurs twice in one `switch`",
    );
    stmt_refused("switch (1.5) { }", "`switch` over `double`, not an integer type");
}

#[test]
fn initializers() {
    refused(
        "int n; int a = n;",
        "initial value of an object with static storage is not a constant",
    );
    refused(
        "int g(void); static int a = g();",
        "initial value of an object with static storage is not a constant",
    );
    refused("int a[3] = 1;", "invalid initialiser for `int [3]`");
    refused("struct s { int x; } a = { .y = 1 };", "`struct s` has no member `y`");
    refused("int a[3] = { [5] = 1 };", "index of a designator is outside the array");
    accepted("struct s { int x; } a = { 1 }, *p = &a; int *q = &a.x; char *t = \"x\" + 1;
        double d[3] = { 1, [2] = 3 }; int z = (int) 2.5 * sizeof(struct s); int (*h)(void) = 0;
        int w[] = { [0 ... 3] = 1, 2 }; _Static_assert(sizeof w == 20, \"\");
        struct t { int a, b; struct s in[2]; } x[] = { 1, 2, 3, 4, { 5, 6, { { 7 }, 8 } } };
        _Static_assert(sizeof x == 2 * sizeof(struct t), \"\"); char c[] = {\"abc\"};
        _Static_assert(sizeof c == 4, \"\"); struct u { union { int i; float f; }; int j; } y = { .f = 1, 2 };");
}

#[test]
fn doubts_are_warnings() {
    warned("p = n; return 0;", "assignment makes a pointer from an integer without a cast");
    warned("n = p; return n;", "assignment makes an integer from a pointer without a cast");
    warned("double *d = p; return *d > 0;", "initialisation from an incompatible pointer type");
    warned("p = cp; return 0;", "assignment discards a qualifier of the pointer's target");
    warned("return unheard_of(1);", "function `unheard_of` is called before it is declared");
    warned("return printf(\"\");", "function `printf` is used without its header");
    warned("return;", "`return` without a value in a function that returns one");
    warned("int a[2] = {1, 2, 3}; return a[0];", "more initialisers than elements");
}

#[test]
fn what_c_and_gnu_allow() {
    accepted("int f(int n) { int a[n][n + 1]; return sizeof a + sizeof(int[n]) + a[0][0]; }");
    accepted(
        "int f(int n, double a[n][n]) { return a[1][2] > 0; } void g(int m, double (*p)[m]) { f(m, p); }",
    );
    accepted("int f(void) { __label__ out; goto out; out: return ({ int k = 3; k; }); }");
    accepted("int f(int n) { void *to = &&end; goto *to; end: return n ?: 1; }");
    accepted("int f(a, b) char *a; { return *a + b; } int g(void) { return f(\"x\", 2); }");
    accepted(
        "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n);
        int k = __builtin_va_arg(l, int); __builtin_va_end(l); return k; }",
    );
    accepted(
        "typedef float v4 __attribute__((vector_size(16))); v4 f(v4 a, v4 b) { return a * b + 2.0f; }",
    );
    accepted(
        "typedef union { int *i; float *f; } any __attribute__((transparent_union));
        void f(any); void g(int *p, float *q) { f(p); f(q); }",
    );
    accepted("enum e { A = 1, B = A << 3 }; int t[B]; _Static_assert(sizeof t == 32, \"\");");
    accepted("struct s { int a; char b[]; }; int f(struct s *p) { return (int) &((struct s *) 0)->b + p->b[1]; }
        int k[(long) &((struct s *) 0)->b];");
    accepted(
        "int f(void) { __auto_type x = 1.5; __typeof__(x) y = x; return _Generic(y, double: 1, default: 0); }",
    );
    accepted(
        "int f(int *p) { return __sync_fetch_and_add(p, 1) + __atomic_load_n(p, 5) +
        __builtin_expect(*p, 0) + __builtin_popcount(3); }",
    );
    accepted(
        "int f(int n) { switch (n) { case 'a' ... 'z': return 1; default: return 0; case 3:; } return 2; }",
    );
    accepted(
        "_Thread_local int t; static inline int g(void) { return t; } extern inline int h(void) { return g(); }",
    );
    accepted(
        "int f(int x) { int r; __asm__ volatile (\"mov %1, %0\" : \"=r\"(r) : \"r\"(x) : \"memory\"); return r; }",
    );
    accepted("_Complex double z = 1.0 + 2.0i; double f(void) { return __real__ z; }");
}

#[test]
fn what_is_declared_late_or_returned_in_vain_is_still_typed() {
    let text = "int g(void) { return late(1); } void late(int n) { return n; }";
    assert_eq!(messages(text, Severity::Error), [] as [&str; 0]);
    assert_eq!(messages(text, Severity::Warning).len(), 3);
    assert_eq!(ir::verify::verify(&check_text(text).program), []);
}

#[test]
fn braces_may_be_left_out_behind_a_designator() {
    let checked = check_text("struct p { int x, y; } a[4] = { [1] = 3, 4, [2 ... 3] = 5, 6 };");
    let lengths: Vec<usize> = checked
        .program
        .inits
        .iter()
        .filter_map(|(_, it)| match it {
            ir::program::Init::List(_, elements) => Some(elements.len()),
            ir::program::Init::Expr(_) => None,
        })
        .collect();
    assert_eq!(lengths, [2, 2, 2]);
}

#[test]
fn elements_without_members_come_to_an_end() {
    let text = "struct open; struct open a[4] = { [1 ... 2] = { 3 }, [3] = 4 };
        struct none {} b[4] = { [1] = 2, 3 }, c[] = { 1, 2 };";
    assert!(!messages(text, Severity::Error).is_empty());
}

#[test]
fn the_highest_trees_are_walked() {
    let sum = "1 + ".repeat(9_000);
    let ladder = "if (n) n--; else ".repeat(9_000);
    let commas = "n, ".repeat(9_000);
    let text = format!(
        "int k[{sum} 1]; int f(int n) {{ {ladder} n++; return {sum} ({commas} n); }}
         static int x = {sum} 2; _Static_assert({sum} 1 == 9001, \"\");"
    );
    let errors = syntax::with_stack(|| messages(&text, Severity::Error));
    assert_eq!(errors, [] as [&str; 0]);
}

#[test]
fn storage_classes_have_their_place() {
    refused("int f(static int x) { return x; }", "`static` is not possible on parameter `x` here");
    refused("int f(extern int);", "`extern` is not possible on a parameter here");
    refused("int f(x) auto int x; { return x; }", {
        "`auto` is not possible on parameter `x` here"
    });
    stmt_refused("static int h(void);", "`static` is not possible on function `h` here");
    accepted("int f(register int x) { extern int h(void); register int y = x; return y + h(); }");
}

#[test]
fn a_register_has_no_address() {
    stmt_refused("register int r = 1; g(*&r, 2);", {
        "address of `r`, which is declared `register`"
    });
    stmt_refused("register struct s r; p = &r.count;", {
        "address of `r`, which is declared `register`"
    });
    refused("int *f(register int x) { return &x; }", {
        "address of `x`, which is declared `register`"
    });
    accepted("int *f(register int *x) { return &x[2]; }");
    accepted("int f(void) { register int a[2] = { 1, 2 }; return a[1]; }");
}

#[test]
fn jumps_do_not_skip_a_size() {
    let skipped = "`goto` jumps past the declaration of an array of variable length";
    stmt_refused("goto in; { int a[n]; in: a[0] = 1; } return 0;", skipped);
    stmt_refused("goto in; int (*a)[n]; in: return 0;", skipped);
    stmt_refused("{ int a[n]; goto in; } { int b[n]; in: b[0] = 1; } return 0;", skipped);
    stmt_refused("switch (n) { int a[n]; case 1: a[0] = 1; } return 0;", {
        "`switch` jumps past the declaration of an array of variable length"
    });
    accepted(&in_function("again: ; int a[n]; a[0] = n; if (a[0]) goto again; return 0;"));
    accepted(&in_function("int a[n]; { int b[n]; b[0] = 1; goto out; } out: return a[0];"));
    accepted(&in_function("switch (n) { case 1: ; int a[2]; default: a[0] = 1; } return 0;"));
    accepted(&in_function("int a[n]; switch (n) { case 1: { int b[n]; b[0] = 2; } } return a[0];"));
}

#[test]
fn a_computed_goto_needs_an_address() {
    stmt_refused("goto *n;", "`goto *` to `int`, not a pointer");
    accepted(&in_function("void *to = &&out; goto *to; out: return 0;"));
}

#[test]
fn a_condition_and_a_body_are_scopes() {
    accepted(
        "int f(void) { struct t { int a; };
           if (sizeof(struct t { int a, b; }) > 4) return sizeof(struct t { char c; });
           while (sizeof(struct t { int d; }) > 4) return sizeof(enum { one });
           do ; while (sizeof(struct t { char e; }) > 1);
           struct t x = { 1 }; int one = x.a; return one; }",
    );
}

#[test]
fn an_inline_definition_yields_to_the_real_one() {
    accepted("extern inline int f(void) { return 0; } inline int f(void) { return 1; }");
    accepted("extern inline int f(void) { return 0; } int f(void) { return 1; }");
    refused("static inline int f(void) { return 0; } static inline int f(void) { return 1; }", {
        "`f` is defined twice"
    });
}

#[test]
fn old_definitions_agree_with_their_prototype() {
    accepted("float f(float, char); float f(x, y) float x; char y; { return x + y; }");
    accepted("typedef const int fixed; fixed f(void); const int f(void);");
    refused("float f(float); float f(x) char x; { return x; }", "conflicting types for `f`");
}

#[test]
fn atomic_records_take_plain_ones() {
    accepted("struct p { int x, y; }; _Atomic struct p a; void f(struct p v) { a = v; }");
}

#[test]
fn no_value_is_in_an_empty_range() {
    accepted(&in_function("switch (n) { case 4 ... 2: return 1; default: return 0; }"));
}

#[test]
fn only_objects_have_initial_values() {
    refused("typedef int t = 1;", "a `typedef` cannot have an initial value");
    refused("int f(void) = 0;", "a function cannot have an initial value");
    stmt_refused("extern int e = 1;", {
        "an `extern` declaration in a block cannot have an initial value"
    });
    accepted("extern int (*f)(void); int g(void); int (*f)(void) = g;");
}

#[test]
fn a_record_that_holds_itself_has_an_end() {
    let twice = "struct t { long l; struct t { long m; }; };";
    refused(twice, "`t` is defined twice");
    let text = format!("{twice} long f(struct t *p) {{ return p->none; }}");
    assert!(!messages(&text, Severity::Error).is_empty());
}

#[test]
fn storage_fits_its_place() {
    refused("auto int a;", "`auto` is not possible on `a` here");
    refused("register int a;", "`register` is not possible on `a` here");
    accepted("register long sp __asm__(\"rsp\");");
    stmt_refused("_Thread_local int a; return 0;", "`_Thread_local` is not possible on `a` here");
    stmt_accepted("static _Thread_local int a; extern _Thread_local int b; auto int c; return 0;");
    stmt_refused("static int a[n]; return 0;", "size of array `a` is not a constant");
    stmt_refused("extern int (*a)[n]; return 0;", "size of array `a` is not a constant");
    stmt_accepted("static int (*a)[n]; int b[n]; return 0;");
}

#[test]
fn qualifiers_can_be_left_out() {
    stmt_refused("__typeof__(*cp) a = 1; a = 2; return a;", "`a` is read-only");
    stmt_accepted(
        "typeof_unqual(*cp) a = 1; a = 2; __typeof_unqual__(const int) b; b = a; return b;",
    );
}
