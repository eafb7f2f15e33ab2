//! Declarations become the right trees.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

mod common;

use common::{check_ok, decl};

/// The last item of the text prints as `expected`.
#[track_caller]
fn check(text: &str, expected: &str) {
    let tree = check_ok(text);
    assert_eq!(decl(&tree, *tree.items.last().unwrap()), expected, "{text}");
}

#[test]
fn declarators_read_from_the_name_outwards() {
    check("int *a[3];", "a: array 3 of pointer to Int;");
    check("int (*a)[3];", "a: pointer to array 3 of Int;");
    check("char *const *volatile p;", "p: volatile pointer to const pointer to Char;");
    check("int (*f(int a, double))(char *);", {
        "f: function(a: Int, Double) to pointer to function(pointer to Char) to Int;"
    });
    check("void (*signal(int, void (*)(int)))(int);", {
        "signal: function(Int, pointer to function(Int) to Void) to pointer to function(Int) to Void;"
    });
    check("int f(), g(void), h(int, ...);", {
        "f: function(?) to Int; g: function() to Int; h: function(Int, ...) to Int;"
    });
    check("void f(int a[static 3], int b[const *], int c[restrict], int d[]);", {
        "f: function(a: array static 3 of Int, b: const array * of Int, c: restrict array ? of Int, \
         d: array ? of Int) to Void;"
    });
    check("typedef int T; void f(int (T), int (x), T);", {
        "f: function(function(T) to Int, x: Int, T) to Void;"
    });
    check("int a[0], b[];", "a: array 0 of Int; b: array ? of Int;");
}

#[test]
fn keywords_make_types_in_any_order() {
    check("long unsigned int long x;", "x: ULongLong;");
    check("int short const unsigned x;", "x: const UShort;");
    check("char signed x;", "x: SChar;");
    check("double long _Complex x;", "x: ComplexLongDouble;");
    check("__complex__ x;", "x: ComplexDouble;");
    check("unsigned __int128 x; __uint128_t y;", "y: UInt128;");
    check("_Float16 a; __bf16 b; _Float32 c; _Float64x d; __float128 e;", "e: Float128;");
    // What the C library says where the compiler lacks the type.
    check("typedef float _Float32; _Float32 e;", "e: Float32;");
    check("typedef long double _Float64x; _Float64x e;", "e: Float64x;");
    check("__builtin_va_list ap;", "ap: VaList;");
    check("_Atomic(int) *p; _Atomic int q;", "q: atomic Int;");
    check("extern __thread int x;", "x: extern thread Int;");
    check(
        "_Noreturn static __inline__ void f(void);",
        "f: function() to static inline noreturn Void;",
    );
    check("_Alignas(16) _Alignas(double) int x;", "x: alignas Int;");
    check("__typeof__(1 + 2) x; typeof(int *) y;", "y: typeof(pointer to Int);");
    check("typeof_unqual(int *) y;", "y: typeof_unqual(pointer to Int);");
    check("__typeof_unqual__(int *) y;", "y: typeof_unqual(pointer to Int);");
    check("int x; __auto_type y = x;", "y: auto = x;");
    check("__signed__ char __const x; int *__restrict p;", "p: restrict pointer to Int;");
}

#[test]
fn records_and_enumerations_are_read() {
    check("struct s { int a, *b; unsigned c : 3, : 0; union { int x; }; int f[]; } v;", {
        "v: struct s {a: Int; b: pointer to Int; c: UInt:3; UInt:0; union {x: Int;} \
         f: array ? of Int;};"
    });
    check("enum e { A, B = A + 1, C __attribute__((unused)), };", {
        "enum e {A B=(Add A 1) @unused C}"
    });
    check("struct s; union u *p;", "p: pointer to union u;");
    check("struct { _Static_assert(1, \"x\"); ; int a; } x;", "x: struct {assert 1; a: Int;};");
    check("struct {} x;", "x: struct {};");
}

#[test]
fn packing_is_what_the_pragmas_say() {
    let text = "#pragma pack(push, 2)\nstruct a { int x; } v;";
    check(text, "v: struct a pack(2) {x: Int;};");
    check(
        &format!("{text}\n#pragma pack(pop)\nstruct b {{ int x; }} v;"),
        "v: struct b {x: Int;};",
    );
    check("#pragma pack(1)\n#pragma pack()\nstruct b { int x; } v;", "v: struct b {x: Int;};");
    check(
        "#pragma pack(push, here, 1)\n#pragma pack(4)\n#pragma pack(pop, here)\nstruct { int x; } v;",
        "v: struct {x: Int;};",
    );
}

#[test]
fn attributes_are_kept_where_they_stand() {
    check("int x __attribute__((aligned(16), section(\".data\")));", {
        "x: @aligned(16) @section(\".data\") Int;"
    });
    check("struct __attribute__((packed)) s { char c; } __attribute__((aligned(sizeof(int))));", {
        "@packed @aligned((sizeof-type Int)) struct s {c: Char;}"
    });
    check("[[nodiscard, gnu::pure]] int f(void);", "f: function() to @nodiscard @gnu::pure Int;");
    check("int x [[maybe_unused]];", "x: @maybe_unused Int;");
    check(
        "typedef float v4 __attribute__((vector_size(16)));",
        "v4: @vector_size(16) typedef Float;",
    );
    check("__attribute__((noreturn, format(printf, 1, 2))) void f(const char *, ...);", {
        "f: function(pointer to const Char, ...) to @noreturn @format(printf 1 2) Void;"
    });
    check("void f(int x __attribute__((unused)));", "f: function(x: @unused Int) to Void;");
    check("int *__attribute__((may_alias)) p;", "p: @may_alias pointer to Int;");
    check("int (__attribute__((cdecl)) *f)(void);", "f: @cdecl pointer to function() to Int;");
    check("int a, __attribute__((unused)) b;", "a: Int; b: @unused Int;");
    check("int f(int) __asm__(\"g\") __attribute__((nothrow));", {
        "f: @nothrow @asm function(Int) to Int;"
    });
    check("void __attribute__(()) f(void);", "f: function() to Void;");
    check("[[deprecated(\"old\")]] int x;", "x: @deprecated(\"old\") Int;");
    check("int x __attribute__((availability(os, introduced : 10.4)));", "x: @availability() Int;");
}

#[test]
fn functions_have_bodies() {
    check("static int f(int a) { return a; }", "f: function(a: Int) to static Int {(return a)}");
    check("int f(a, b) int a; char *b; { }", {
        "f: function(a, b) to Int a: Int; b: pointer to Char; {}"
    });
    check(
        "int (*f(int a))(double) { }",
        "f: function(a: Int) to pointer to function(Double) to Int {}",
    );
    check("typedef int T; void f(int T) { T * 2; }", "f: function(T: Int) to Void {(Mul T 2)}");
    check("void f(int, char *) {}", "f: function(Int, pointer to Char) to Void {}");
}

#[test]
fn initialisers_have_designators() {
    check("int a[] = { 1, [3] = 2, [5 ... 7] = 3, [9] 4, };", {
        "a: array ? of Int = {1 [3]=2 [5 ... 7]=3 [9]=4};"
    });
    check("struct s x = { .a = 1, b: 2, .c.d[1] = { 0 }, {} };", {
        "x: struct s = {.a=1 .b=2 .c .d [1]={0} {}};"
    });
    check(
        "char *s = (char[]){ \"x\" };",
        "s: pointer to Char = (literal array ? of Char {\"x\"});",
    );
}

#[test]
fn other_things_stand_at_file_scope() {
    check("_Static_assert(sizeof(int) == 4, \"size\");", "assert (Eq (sizeof-type Int) 4)");
    check("_Static_assert(1);", "assert 1");
    check("__asm__(\"nop\");", "asm");
    check(";", ";");
    check("__extension__ typedef struct { int a; } T;", "T: typedef extension struct {a: Int;};");
    check("# 1 \"f.c\"\n#ident \"x\"\n#define A 1\nint x;", "x: Int;");
}
