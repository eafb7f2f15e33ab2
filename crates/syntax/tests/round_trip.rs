//! The printer against the parser and against the host compiler.
//!
//! Each text is parsed, printed and parsed again; the second print must equal the first, and the
//! host compiler must make the same assembly of both texts, so that nothing is lost on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use syntax::ast::{Stmt, StmtKind, Tree};
use syntax::pragma::NoDirectives;
use syntax::print::{print, print_stmt};

#[track_caller]
fn parse(text: &str) -> Tree {
    let parsed = syntax::parse(text.as_bytes(), 1, &mut NoDirectives);
    assert_eq!(parsed.diagnostics.errors(), 0, "{:#?}\n{text}", parsed.diagnostics);
    parsed.tree
}

/// The printed text, after it was found to print the same again.
#[track_caller]
fn printed(text: &str) -> String {
    let once = print(&parse(text));
    let twice = print(&parse(&once));
    assert_eq!(once, twice, "not stable");
    once
}

/// Runs the host compiler over a preprocessed text.
#[track_caller]
fn cc(text: &str, flags: &[&str], out: &Path) {
    let input = out.with_extension("i");
    std::fs::write(&input, text).unwrap();
    let mut command = Command::new("cc");
    command.args(["-w", "-O1", "-x", "cpp-output"]).args(flags).arg(&input).arg("-o").arg(out);
    let done = command.output().expect("a C compiler is needed");
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
}

/// Parses, prints, and compares the assembly of both texts.
#[track_caller]
fn same_assembly(text: &str) {
    let text = &text.replace("\n        ", "\n");
    let printed = printed(text);
    let dir = tempfile::tempdir().unwrap();
    let assembly = |text: &str| {
        let out = dir.path().join("it.s");
        cc(text, &["-S"], &out);
        let text = std::fs::read_to_string(out).unwrap();
        // The compiler notes the line of each `__asm__`.
        text.lines().filter(|it| !it.starts_with("# ")).collect::<Vec<_>>().join("\n")
    };
    assert!(assembly(text) == assembly(&printed), "other assembly:\n{printed}");
}

#[test]
fn declarators() {
    same_assembly(
        "int a, *b, **c, d[3], *e[3], (*f)[3];
        int g(void), *h(int, char), (*i)(void), (*j(void))[3];
        char *(*(*x[3])(int))(void);
        int (*(*k)(int (*)(void), int[], int (*)[2]))(double);
        const int *const volatile l = &a;
        int *__restrict const m = &a;
        void n(int p[static 3], int q[const], int r, int s[r][*]);
        void o(int p[static const 3], int q[const 4], int r, int s[r][r]) { s[0][1] = p[1] + q[1]; }
        int variadic(const char *, ...);
        int unspecified();
        int names(a, b, c) int a; char *b; double c; { return a + b[0] + (int)c; }
        _Atomic int t;
        _Atomic(long) u;
        int *_Atomic (*v)[3];
        int take(int (int), int (*)(int), unsigned (x));
        int (parens) = 3;",
    );
}

#[test]
fn specifiers() {
    same_assembly(
        "typedef unsigned long long int ull; typedef ull *pull;
        static inline __attribute__((always_inline)) int f(void) { return 3; }
        _Noreturn void g(void); _Thread_local int h; static __thread int i; extern _Thread_local int j;
        _Alignas(16) char k[3]; _Alignas(double) char l[3]; _Alignas(8) _Alignas(32) int m;
        signed char n; unsigned char o; short p; unsigned short q; long int r; unsigned s; long long t;
        __int128 u; unsigned __int128 v; float w; double x; long double y; _Bool z;
        _Float32 aa; _Float64 ab; _Float128 ac; _Float32x ad; _Float64x ae; __float128 af; _Float16 ag;
        _Complex double ah; float _Complex ai; long double _Complex aj;
        __builtin_va_list ak; volatile const int al = 4;
        __typeof__(1 + 2.0) am; __typeof__(int *[3]) an; typeof(am) ao;
        __extension__ typedef struct { int a; } ap; ap aq;
        implicit() { auto int v = 1; register int w = 2; __auto_type x = 3.0; return v + w + x; }
        static unspecified;
        int main(void) { return f() + i + n + m; }",
    );
}

#[test]
fn records_and_enums() {
    same_assembly(
        "struct a { int x, *y; unsigned b : 3, : 2, c : 4; union { int i; float f; }; struct { char q; } r; };
        union u { struct a a; char bytes[64]; } __attribute__((aligned(32))) u1;
        struct __attribute__((packed)) p { char c; int i; } p1;
        struct p2 { char c; int i __attribute__((packed)); int w : 3 __attribute__((packed)); } p2;
        typedef struct { char c; long l; } __attribute__((packed, aligned(2))) p3; p3 p4;
        __attribute__((aligned(64))) struct al { int z; } al1;
        struct flexible { int n; double data[]; }; struct zero { int data[0]; }; struct empty {};
        struct sa { int x; _Static_assert(sizeof(int) == 4, \"int\"); };
        enum e { A, B = 3, C, D __attribute__((deprecated)) = A + 10 }; enum e e1 = D;
        enum { Q = -1 } e2; enum __attribute__((packed)) small { R } e3;
        struct later; struct later *later1; struct later { struct later *next; };
        _Static_assert(sizeof(struct p) == 5, \"packed\"); _Static_assert(1);
        #pragma pack(push, 1)
        struct packed { char c; int i; } packed1;
        #pragma pack(pop)
        struct unpacked { char c; int i; } unpacked1;
        int sizes[] = { sizeof(struct a), sizeof u1, sizeof p1, sizeof p2, sizeof p4, sizeof al1,
            sizeof(struct flexible), sizeof e3, sizeof packed1, sizeof unpacked1,
            _Alignof(p3), __alignof__(u1), __alignof__ al1 };",
    );
}

#[test]
fn initialisers() {
    same_assembly(
        "struct s { int a, b[4]; struct { char c; } d; };
        struct s s1 = { 1, { 2, 3 }, { 'x' } }, s2 = { .d.c = 'y', .b[2] = 7, .b = { [1 ... 2] = 9 }, .a = 3 };
        int a[] = { [3] = 1, [0] = 2, 5, [7 ... 9] = 4 }, b[2][2] = { { 1, 2 }, { 3 } };
        char text[] = \"ab\" \"cd\\n\\x41\", *more = u8\"e\\0\"; int wide[] = L\"wide\"; unsigned short u[] = u\"u\";
        struct s *p = &(struct s){ 1, { 2 }, {} };
        struct s old = { a: 4, d: { 'z' } };
        int long_list[] = { 1000000, 1000001, 1000002, 1000003, 1000004, 1000005, 1000006, 1000007, 1000008,
            1000009, 1000010, 1000011, 1000012, 1000013 };
        int f(void) { return (struct s){ .a = 5 }.a + ((int[]){ 1, 2 })[1] + sizeof(int[3]){ 0 }; }",
    );
}

#[test]
fn expressions() {
    same_assembly(
        "typedef int T; struct s { int m; struct s *n; int a[4]; };
        int g(int, int); double _Complex z; extern int x[], *p; int k;
        int unary(int a, int b) {
            return - -a + + +b - -a + ~b * !a - - --a + + ++b + a++ - b-- & *&a && (__extension__ a) + __real__ z;
        }
        int binary(int a, int b, int c) {
            a = b = c; a += b -= c; a *= 2; a /= 3; a %= 5; a <<= 1; a >>= 1; a &= b; a ^= c; a |= 1;
            return a * b / c % 7 + a - b << 2 >> 1 < c > 0 <= a >= b == c != 1 & a ^ b | c && a || b, c;
        }
        int grouping(int a, int b, int c) {
            return (a + b) * c - (a - (b - c)) / (a * (b % c)) + (a, b) + (a ? b : c ? a : b) + (a ?: b) + (a = 3);
        }
        long casts(int a, void *v) {
            return (T)-a + (T)(a) + (long)(T)1.5 + *(T *)v + ((struct s *)v)->m + sizeof(T) * 2 + sizeof a
                + sizeof(T)-1 + (sizeof (T)) + sizeof -a + ((T (*)(int))v)(3) + (T)+a + sizeof (a)[&a];
        }
        int postfix(struct s *q, struct s v) { return q->n->a[v.m] + v.a[1]++ + q[0].m + g(1, (2, 3)) + (*q).m + (&v)->m; }
        int misc(int n, __builtin_va_list ap) {
            int r = _Generic(n, int: 1, char *: 2, default: 3) + _Generic(1.0, default: 4, float: 5);
            r += ({ int t = n; if (t) t++; else t--; t * 2; });
            r += __builtin_va_arg(ap, int) + __builtin_offsetof(struct s, a[2]) + __builtin_offsetof(struct s, m);
            r += __builtin_types_compatible_p(int, T) + __builtin_choose_expr(1, n, \"x\");
            typedef float v4 __attribute__((vector_size(16))); typedef int i4 __attribute__((vector_size(16)));
            v4 f = { 1, 2, 3, 4 }; i4 i = __builtin_convertvector(f, i4);
            return r + i[1] + 'a' + 'ab' + L'x' + 0x1fUL + 0b11 + 017 + (int)1.5e3f + (int)0x1p4 + (int)__imag__ z;
        }",
    );
}

#[test]
fn statements() {
    same_assembly(
        "void g(int); int v[100];
        int loops(int n) {
            int s = 0;
            for (int i = 0, j = 1; i < n; i++, j++) s += i * j;
            for (;;) { if (s > 3) break; else continue; }
            for (n = 0; ; ) if (n++ > 5) break;
            while (n) n--; do n++; while (n < 10); do { n += 2; } while (n < 20);
            ;
            return s;
        }
        void dangling(int a, int b) {
            if (a) { if (b) g(1); } else g(2);
            if (a) if (b) g(3); else g(4);
            if (a) { for (;;) if (b) break; } else g(5);
            if (a) g(6); else if (b) g(7); else { g(8); }
            if (a) { while (b) if (a) { g(9); } else if (b--) g(10); } else g(11);
        }
        int jumps(int n) {
            __label__ local; static void *table[] = { &&one, &&two };
            switch (n) { case 1: case 2: g(1); break; case 3 ... 5: { g(2); } __attribute__((fallthrough)); default: g(3); case 9:; }
            switch (n) default: g(4);
            goto *table[n & 1];
            one: __attribute__((unused)) g(5); goto local;
            two: g(6); goto *(&&one);
            local: return n;
        }
        void assembly(int a, int *b) {
            __asm__(\"nop\"); __asm__ volatile(\"\" : : : \"memory\"); __asm__ __volatile__(\"\" :);
            __asm__(\"addl %1, %0\" : \"+r\"(a) : \"r\"(*b), \"i\"(3) : \"cc\", \"memory\");
            __asm__ volatile(\"movl %[in], %[out]\" : [out] \"=r\"(*b) : [in] \"r\"(a + 1));
            __asm__ goto(\"\" : : : : done);
            g(a);
            done:;
        }
        __asm__(\".globl marker\\nmarker:\");
        int renamed(void) __asm__(\"other_name\") __attribute__((noinline, cold));
        int renamed(void) { return 1; }
        void tail(int a) { _Static_assert(1, \"yes\"); struct local { int x; } l = { a }; extern int far; g(l.x + far); }",
    );
}

#[test]
fn attributes() {
    same_assembly(
        "__attribute__((noinline)) static int f(int a __attribute__((unused)), int b) { return b; }
        int g(void) __attribute__((pure)), h(void) __attribute__((alias(\"real\"))); int real(void) { return 1; }
        void k(const char *, ...) __attribute__((__format__(__printf__, 1, 2), nonnull(1)));
        int s __attribute__((section(\".mine\"), aligned(32))) = 4, __attribute__((used)) t;
        typedef int v4 __attribute__((vector_size(16))); v4 v; typedef int __attribute__((mode(DI))) di; di d;
        int *__attribute__((aligned(64))) p; void (*q)(void) __attribute__((noreturn));
        [[gnu::noinline]] int m(int n [[maybe_unused]]) { return f(n, 2); }
        void w(void) __attribute__(()); void weak(void) __attribute__((weak, visibility(\"hidden\")));
        int use(void) { weak(); return g() + h() + sizeof(di); }",
    );
}

#[test]
fn pragmas_are_lines_of_their_own() {
    let text = "#pragma first a  b
        int a;
        #pragma GCC diagnostic push
        int f(int n)
        {
        #pragma GCC unroll 4
            for (int i = 0; i < n; i++)
                a += i;
            if (n)
        #pragma inner
                a = 1;
            else
        #pragma other
                a = 2;
            switch (n) {
            case 1:
        #pragma label
                a = 3;
            }
            a = ({
        #pragma inside
                3; });
        #pragma last
        }";
    same_assembly(text);
    let text = printed(&text.replace("\n        ", "\n"));
    assert!(text.lines().all(|it| !it.contains("#pragma") || it.starts_with("#pragma")), "{text}");
    assert_eq!(text.matches("#pragma").count(), 8, "{text}");
}

/// Programs whose output depends on how they group and nest.
#[test]
fn printed_programs_run_alike() {
    let programs = [
        "int printf(const char *, ...);
        int main(void) {
            int a = 7, b = 3, c = 2;
            printf(\"%d %d %d\\n\", a - (b - c), a - b - c, a / (b * c) + a % b * c);
            printf(\"%d %d %d\\n\", - -a, a - -b, ~-!b);
            printf(\"%d\\n\", a ? b ? 1 : 2 : 3); printf(\"%d\\n\", (a, b) + (a > b ?: c));
            for (int i = 0; i < 4; i++) if (i & 1) { if (i == 3) printf(\"three\\n\"); } else printf(\"even %d\\n\", i);
            int (*p)[2] = (int[2][2]){ { 1, 2 }, { 3, 4 } }; int *q[2] = { p[1], p[0] };
            printf(\"%d %d %d\\n\", *p[1], (*p)[1], *q[0]);
            return a << b >> c & 0xff;
        }",
        "int printf(const char *, ...);
        struct node { struct node *next; int value : 5; unsigned char tag[3]; };
        static int sum(const struct node *n) { return n ? n->value + sum(n->next) : 0; }
        static int (*pick(int k))(const struct node *) { return k ? sum : (int (*)(const struct node *))0; }
        int old(a, b) int a; short b; { return a * 10 + b; }
        int main(int argc, char **argv) {
            struct node c = { 0, -3, \"ab\" }, b = { &c, .value = 12 }, a = { &b, 7, { [1 ... 2] = 'q' } };
            printf(\"%d %d %c %zu\\n\", pick(1)(&a), old(argc, 2), a.tag[2], sizeof a);
            int n = 3, vla[n][n + 1]; printf(\"%zu %zu\\n\", sizeof vla, sizeof(int[n]) / sizeof(int));
            int total = ({ int t = 0; for (int i = 0; i < n; i++) { vla[i][i] = i * i; t += vla[i][i]; } t; });
            void *jump[] = { &&out, &&again };
            again: total++; goto *jump[total < 9];
            out: printf(\"%d\\n\", total); return total;
        }",
    ];
    for text in programs {
        let text = &text.replace("\n        ", "\n");
        let dir = tempfile::tempdir().unwrap();
        let run = |text: &str| {
            let out = dir.path().join("it");
            cc(text, &[], &out);
            let done = Command::new(&out).output().unwrap();
            (done.status.code(), String::from_utf8(done.stdout).unwrap())
        };
        let printed = printed(text);
        assert_eq!(run(text), run(&printed), "{printed}");
    }
}

/// A pass may take out the braces that the text had.
#[test]
fn an_else_stays_with_its_if() {
    let mut tree = parse("int f(int a, int b) { if (a) while (b) if (b) a = 1; else a = 2; }");
    let is_inner = |it: &StmtKind| matches!(it, StmtKind::If(_, _, Some(_)));
    let (inner, _) = tree.stmts.iter().find(|(_, it)| is_inner(&it.kind)).unwrap();
    let is_outer = |it: &StmtKind| matches!(it, StmtKind::If(_, _, None));
    let (outer, _) = tree.stmts.iter().find(|(_, it)| is_outer(&it.kind)).unwrap();
    let StmtKind::If(condition, then, Some(last)) = tree.stmts[inner].kind else { unreachable!() };
    tree.stmts[inner].kind = StmtKind::If(condition, then, None);
    let StmtKind::If(condition, then, _) = tree.stmts[outer].kind else { unreachable!() };
    let span = tree.stmts[outer].span;
    let moved = Stmt { kind: StmtKind::If(condition, then, Some(last)), span };
    let moved = tree.stmts.push(moved);
    let expect = "\
if (a) {
    while (b)
        if (b)
            a = 1;
} else
    a = 2;
";
    assert_eq!(print_stmt(&tree, moved), expect);
}

/// Chains as long as the parser takes them.
#[test]
fn long_chains_need_no_deep_stack() {
    let sum = vec!["a"; 9_000].join(" + ");
    let assign = "a = ".repeat(300) + "1";
    let labels: String = (0..3_000).map(|it| format!("case {it}: ")).collect();
    let elses = "if (a) a = 1; else ".repeat(3_000) + ";";
    let text =
        format!("int f(int a) {{ {assign}; switch (a) {{ {labels}; }} {elses} return {sum}; }}");
    let printed = syntax::with_stack(|| printed(&text));
    assert!(printed.len() > text.len());
}
