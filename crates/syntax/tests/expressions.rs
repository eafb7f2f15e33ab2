//! Expressions become the right trees.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

mod common;

use common::{check_body, check_expr};

#[test]
fn operators_bind_as_in_c() {
    check_expr("", "a + b * c - d", "(Sub (Add a (Mul b c)) d)");
    check_expr("", "a = b += c ? d : e, f", "(Comma (= a (Add= b (? c d e))) f)");
    check_expr("", "a || b && c | d ^ e & f == g < h << i", {
        "(Or a (And b (BitOr c (BitXor d (BitAnd e (Eq f (Lt g (Shl h i))))))))"
    });
    check_expr(
        "",
        "-a.b[1]->c++ * *p",
        "(Mul (Minus (PostInc (-> (index (. a b) 1) c))) (Deref p))",
    );
    check_expr("", "a ?: b", "(? a _ b)");
    check_expr("", "!~+-&*x", "(Not (BitNot (Plus (Minus (AddrOf (Deref x))))))");
    check_expr("", "a % b / c >> 1 >= 2 != 3 <= 4 > 5", {
        "(Ne (Ge (Shr (Div (Rem a b) c) 1) 2) (Gt (Le 3 4) 5))"
    });
    check_expr("", "++a, --b, c++, d--", {
        "(Comma (Comma (Comma (PreInc a) (PreDec b)) (PostInc c)) (PostDec d))"
    });
    check_expr("", "a *= b /= c %= d -= e <<= f >>= g &= h ^= i |= j", {
        "(Mul= a (Div= b (Rem= c (Sub= d (Shl= e (Shr= f (BitAnd= g (BitXor= h (BitOr= i j)))))))))"
    });
}

#[test]
fn a_type_in_parentheses_makes_a_cast() {
    let types = "typedef int T; int v;";
    check_expr(types, "(T)-1", "(cast T (Minus 1))");
    check_expr(types, "(v)-1", "(Sub <v> 1)");
    check_expr(types, "(T)(v)", "(cast T <v>)");
    check_expr(types, "(T){1}.x", "(. (literal T {1}) x)");
    check_expr(types, "sizeof(T)", "(sizeof-type T)");
    check_expr(types, "sizeof(v)[1]", "(sizeof (index <v> 1))");
    check_expr(types, "sizeof (T){1}", "(sizeof (literal T {1}))");
    check_expr(types, "_Alignof(T) + __alignof__(v)", "(Add (alignof-type T) (alignof <v>))");
    check_expr("", "(int (*)[3])p", "(cast pointer to array 3 of Int p)");
    check_expr("", "(void (*(*)(int))(void))p", {
        "(cast pointer to function(Int) to pointer to function() to Void p)"
    });
}

#[test]
fn gnu_expressions_are_read() {
    check_expr("", "({ int x = 1; x; })", "(block {x: Int = 1; x})");
    check_expr("", "__builtin_va_arg(ap, int *)", "(va_arg ap pointer to Int)");
    check_expr("", "__builtin_offsetof(struct s, a.b[2].c)", "(offsetof struct s .a .b [2] .c)");
    check_expr("", "__builtin_types_compatible_p(int, long)", "(compatible Int Long)");
    check_expr("", "__builtin_choose_expr(1, a, b)", "(choose 1 a b)");
    check_expr("", "__builtin_convertvector(v, float)", "(convert v Float)");
    check_expr("", "__real__ z + __imag__ z", "(Add (Real z) (Imag z))");
    check_expr("", "__extension__ 1", "(Extension 1)");
    check_expr("", "&&label", "(label label)");
    check_expr("", "_Generic(x, int: 1, char *: 2, default: 3)", {
        "(generic x (Int: 1) (pointer to Char: 2) (default: 3))"
    });
}

#[test]
fn literals_keep_their_spelling() {
    check_expr("", r#""a" L"b" u8"c\"d""#, r#""a" L"b" u8"c\"d""#);
    check_expr("", r"'\'' + u'x' + 0x1.8p-3f + 1'000 + 0b101ull + .5e+3", {
        r"(Add (Add (Add (Add (Add '\'' u'x') 0x1.8p-3f) 1'000) 0b101ull) .5e+3)"
    });
    check_expr("", "1.e5+2", "(Add 1.e5 2)");
    check_expr("", "0x1e+1", "0x1e+1");
}

#[test]
fn unusual_spellings_are_tokens_too() {
    check_expr("", "a<:0:>", "(index a 0)");
    check_body("", "<% x; %>", &["{x}"]);
    check_expr("", r"na\u00efve + $x + π", "(Add (Add naïve $x) π)");
    check_expr("", "ab\\\ncd + \"x\\\ny\" + 12\\\n3", "(Add (Add abcd \"xy\") 123)");
    check_expr("", "a /* c */ + // d\r\n b", "(Add a b)");
}

#[test]
fn names_of_types_follow_the_scopes() {
    let types = "typedef int T;";
    check_body(types, "T * x;", &["x: pointer to T;"]);
    check_body(
        types,
        "{ int T = 1; T * x; } T * y;",
        &["{T: Int = 1; (Mul T x)}", "y: pointer to T;"],
    );
    check_body(types, "{ enum { T }; T * x; } (T)1;", &["{enum {T} (Mul T x)}", "(cast T 1)"]);
    check_body(types, "struct { int T; } s; (T)1;", &["s: struct {T: Int;};", "(cast T 1)"]);
    check_body(types, "T: (T)1; goto T;", &["(T: (cast T 1))", "(goto T)"]);
    check_body(types, "for (int T = 0; T < 3; T++) T * x; T * y;", {
        &["(for T: Int = 0; (Lt T 3) (PostInc T) (Mul T x))", "y: pointer to T;"]
    });
    check_body(types, "int g(int T, int a[T * 2]); (T)1;", {
        &["g: function(T: Int, a: array (Mul T 2) of Int) to Int;", "(cast T 1)"]
    });
    check_body(types, "T T = 1; T * x;", &["T: T = 1;", "(Mul T x)"]);
    check_body(types, "int x = sizeof(T), T, y = T * 2;", {
        &["x: Int = (sizeof-type T); T: Int; y: Int = (Mul T 2);"]
    });
    check_body(types, "typedef char T; T x; unsigned y; T const z;", {
        &["T: typedef Char;", "x: T;", "y: UInt;", "z: const T;"]
    });
}
