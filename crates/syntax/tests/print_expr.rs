//! Random expression trees without parentheses: what is printed reads back as the same tree.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

use proptest::prelude::*;
use source::Span;
use syntax::ast::{
    BinaryOp, DeclKind, Declarator, Expr, ExprId, ExprKind, Ident, Init, InitItem, Quals, Section,
    Specs, StmtKind, Tree, TypeName, TypeNameId, TypeSpec, UnaryOp,
};
use syntax::pragma::NoDirectives;
use syntax::print::{print_expr, print_type_name};

/// An expression to build.
#[derive(Clone, Debug)]
enum Plan {
    Leaf(&'static str),
    Unary(UnaryOp, Box<Plan>),
    Binary(BinaryOp, Box<Plan>, Box<Plan>),
    Assign(Option<BinaryOp>, Box<Plan>, Box<Plan>),
    Conditional(Box<Plan>, Option<Box<Plan>>, Box<Plan>),
    Cast(Box<Plan>),
    Literal(Vec<Plan>),
    SizeofExpr(Box<Plan>),
    SizeofType,
    AlignofExpr(Box<Plan>),
    Index(Box<Plan>, Box<Plan>),
    Call(Box<Plan>, Vec<Plan>),
    Member(Box<Plan>, bool),
    Generic(Box<Plan>, Box<Plan>),
}

fn unary_op() -> impl Strategy<Value = UnaryOp> {
    use UnaryOp::{AddrOf, BitNot, Deref, Extension, Imag, Minus, Not, Plus, PostDec, PostInc};
    use UnaryOp::{PreDec, PreInc, Real};
    proptest::sample::select(vec![
        Plus, Minus, Not, BitNot, Deref, AddrOf, PreInc, PreDec, PostInc, PostDec, Real, Imag,
        Extension,
    ])
}

fn arithmetic() -> Vec<BinaryOp> {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
    vec![Mul, Div, Rem, Add, Sub, Shl, Shr, BitAnd, BitXor, BitOr]
}

fn binary_op() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::{And, Comma, Eq, Ge, Gt, Le, Lt, Ne, Or};
    let mut all = arithmetic();
    all.extend([Lt, Gt, Le, Ge, Eq, Ne, And, Or, Comma]);
    proptest::sample::select(all)
}

fn plan() -> impl Strategy<Value = Plan> {
    let leaf = prop_oneof![
        proptest::sample::select(vec!["a", "b", "1", "2.5", "'c'", "\"s\"", "&&l"])
            .prop_map(Plan::Leaf),
        Just(Plan::SizeofType),
    ];
    leaf.prop_recursive(8, 64, 3, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let (two, three, four) = (one.clone(), one.clone(), one.clone());
        let boxed = move || one.clone();
        prop_oneof![
            (unary_op(), boxed()).prop_map(|(op, a)| Plan::Unary(op, a)),
            (binary_op(), boxed(), boxed()).prop_map(|(op, a, b)| Plan::Binary(op, a, b)),
            (proptest::option::of(proptest::sample::select(arithmetic())), boxed(), boxed())
                .prop_map(|(op, a, b)| Plan::Assign(op, a, b)),
            (boxed(), proptest::option::of(two), boxed())
                .prop_map(|(a, b, c)| Plan::Conditional(a, b, c)),
            boxed().prop_map(Plan::Cast),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Plan::Literal),
            boxed().prop_map(Plan::SizeofExpr),
            boxed().prop_map(Plan::AlignofExpr),
            (boxed(), boxed()).prop_map(|(a, b)| Plan::Index(a, b)),
            (three, proptest::collection::vec(inner, 0..3)).prop_map(|(f, a)| Plan::Call(f, a)),
            (four, any::<bool>()).prop_map(|(a, arrow)| Plan::Member(a, arrow)),
            (boxed(), boxed()).prop_map(|(a, b)| Plan::Generic(a, b)),
        ]
    })
}

fn ident(tree: &mut Tree, text: &str) -> Ident {
    Ident { name: tree.names.intern(text), span: Span::NONE }
}

fn type_name(tree: &mut Tree) -> TypeNameId {
    let ty = TypeSpec::Typedef(tree.names.intern("T"));
    let specs = tree.specs.push(Specs {
        storage: None,
        thread_local: false,
        inline: false,
        noreturn: false,
        extension: false,
        quals: Quals::default(),
        ty,
        alignas: Box::default(),
        attrs: Box::default(),
        span: Span::NONE,
    });
    let declarator = tree.declarators.push(Declarator {
        name: None,
        parts: Box::default(),
        attrs: Box::default(),
        asm_label: None,
        span: Span::NONE,
    });
    tree.type_names.push(TypeName { specs, declarator, span: Span::NONE })
}

fn build(tree: &mut Tree, plan: &Plan) -> ExprId {
    let kind = match plan {
        Plan::Leaf(text) => match text.chars().next() {
            Some('\'') => ExprKind::Char(tree.names.intern(text)),
            Some('"') => ExprKind::Str(Box::new([tree.names.intern(text)])),
            Some('&') => ExprKind::LabelAddr(ident(tree, "l")),
            Some('0'..='9') => ExprKind::Number(tree.names.intern(text)),
            _ => ExprKind::Name(tree.names.intern(text)),
        },
        Plan::Unary(op, a) => ExprKind::Unary(*op, build(tree, a)),
        Plan::Binary(op, a, b) => ExprKind::Binary(*op, build(tree, a), build(tree, b)),
        Plan::Assign(op, a, b) => ExprKind::Assign(*op, build(tree, a), build(tree, b)),
        Plan::Conditional(a, b, c) => {
            let (a, b) = (build(tree, a), b.as_ref().map(|it| build(tree, it)));
            ExprKind::Conditional(a, b, build(tree, c))
        }
        Plan::Cast(a) => ExprKind::Cast(type_name(tree), build(tree, a)),
        Plan::Literal(values) => {
            let ty = type_name(tree);
            let mut items = Vec::new();
            for value in values {
                let value = Init::Expr(build(tree, value));
                let value = tree.inits.push(value);
                items.push(InitItem { designators: Box::default(), value });
            }
            let init = tree.inits.push(Init::List(items.into(), Span::NONE));
            ExprKind::CompoundLiteral(ty, init)
        }
        Plan::SizeofExpr(a) => ExprKind::SizeofExpr(build(tree, a)),
        Plan::SizeofType => ExprKind::SizeofType(type_name(tree)),
        Plan::AlignofExpr(a) => ExprKind::AlignofExpr(build(tree, a)),
        Plan::Index(a, b) => ExprKind::Index(build(tree, a), build(tree, b)),
        Plan::Call(f, args) => {
            let f = build(tree, f);
            ExprKind::Call(f, args.iter().map(|it| build(tree, it)).collect())
        }
        Plan::Member(a, arrow) => {
            let (a, m) = (build(tree, a), ident(tree, "m"));
            if *arrow { ExprKind::Arrow(a, m) } else { ExprKind::Member(a, m) }
        }
        Plan::Generic(a, b) => {
            let (a, b) = (build(tree, a), build(tree, b));
            ExprKind::Generic(a, Box::new([(Some(type_name(tree)), b), (None, a)]))
        }
    };
    tree.exprs.push(Expr { kind, span: Span::NONE })
}

/// The structure of an expression, every group visible and `Paren` left out.
fn shape(tree: &Tree, expr: ExprId) -> String {
    let of = |it: ExprId| shape(tree, it);
    let all = |ids: &[ExprId]| ids.iter().map(|it| shape(tree, *it)).collect::<Vec<_>>().join(" ");
    match &tree.exprs[expr].kind {
        ExprKind::Paren(inner) => of(*inner),
        ExprKind::Unary(op, a) => format!("({op:?} {})", of(*a)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", of(*a), of(*b)),
        ExprKind::Assign(op, a, b) => format!("(Assign {op:?} {} {})", of(*a), of(*b)),
        ExprKind::Conditional(a, b, c) => {
            format!("(If {} {:?} {})", of(*a), b.map(of), of(*c))
        }
        ExprKind::Cast(ty, a) => format!("(Cast {} {})", print_type_name(tree, *ty), of(*a)),
        ExprKind::CompoundLiteral(ty, init) => {
            let Init::List(items, _) = &tree.inits[*init] else { panic!("braces expected") };
            let values = items.iter().map(|it| match &tree.inits[it.value] {
                Init::Expr(value) => of(*value),
                Init::List(..) => panic!("no list expected"),
            });
            let values: Vec<String> = values.collect();
            format!("(Literal {} {})", print_type_name(tree, *ty), values.join(" "))
        }
        ExprKind::SizeofExpr(a) => format!("(Sizeof {})", of(*a)),
        ExprKind::AlignofExpr(a) => format!("(Alignof {})", of(*a)),
        ExprKind::Index(a, b) => format!("(Index {} {})", of(*a), of(*b)),
        ExprKind::Call(f, args) => format!("(Call {} : {})", of(*f), all(args)),
        ExprKind::Member(a, _) => format!("(Member {})", of(*a)),
        ExprKind::Arrow(a, _) => format!("(Arrow {})", of(*a)),
        ExprKind::Generic(a, arms) => {
            let arms: Vec<String> = arms.iter().map(|(_, value)| of(*value)).collect();
            format!("(Generic {} : {})", of(*a), arms.join(" "))
        }
        _ => print_expr(tree, expr),
    }
}

/// Parses `text` as an expression where `T` is a type, `a` and `b` are not.
#[track_caller]
fn read(text: &str) -> (Tree, ExprId) {
    let program = format!("typedef int T; void f(int a, int b) {{ {text}; }}");
    let parsed = syntax::parse(program.as_bytes(), 1, &mut NoDirectives);
    assert_eq!(parsed.diagnostics.errors(), 0, "{:?}\n{text}", parsed.diagnostics);
    let tree = parsed.tree;
    let DeclKind::Function(def) = &tree.decls[tree.items[1]].kind else { panic!("{text}") };
    let StmtKind::Block(stmts) = &tree.stmts[def.body].kind else { panic!("{text}") };
    let StmtKind::Expr(expr) = tree.stmts[stmts[0]].kind else { panic!("{text}") };
    (tree, expr)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn printed_expressions_keep_their_structure(plan in plan()) {
        let mut tree = Tree::default();
        let expr = build(&mut tree, &plan);
        let text = print_expr(&tree, expr);
        let (back, again) = read(&text);
        prop_assert_eq!(shape(&tree, expr), shape(&back, again), "{}", text);
    }
}

#[test]
fn parentheses_are_added_only_where_needed() {
    for text in [
        "- -a",
        "a - -b",
        "& &&l",
        "+ ++a",
        "a - (b - 1)",
        "(a, b) ? (a, b), a : b",
        "sizeof ((T)a)",
        "sizeof (T){1}.m",
        "(T)a[b]",
        "((T)a)[b]",
        "(*a)(b, (a, b))",
        "a ?: b",
        "(a = b) + 1",
        "a = b = 1",
        "(a ? b : 1) ? a : b ? 1 : 2",
        "a < b == 1 << 2",
    ] {
        let (tree, expr) = read(text);
        // Without the `Paren` nodes the printer has to find all of them itself.
        let mut bare = tree.clone();
        let expr = strip(&mut bare, expr);
        let expect = text.replace("(a, b), a :", "a, b, a :");
        assert_eq!(print_expr(&bare, expr), expect);
    }
}

/// The same expression without `Paren` nodes.
fn strip(tree: &mut Tree, expr: ExprId) -> ExprId {
    let mut kind = tree.exprs[expr].kind.clone();
    match &mut kind {
        ExprKind::Paren(inner) => return strip(tree, *inner),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(_, a)
        | ExprKind::SizeofExpr(a)
        | ExprKind::Member(a, _) => *a = strip(tree, *a),
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
            (*a, *b) = (strip(tree, *a), strip(tree, *b));
        }
        ExprKind::Conditional(a, b, c) => {
            (*a, *b) = (strip(tree, *a), b.map(|it| strip(tree, it)));
            *c = strip(tree, *c);
        }
        ExprKind::Call(f, args) => {
            *f = strip(tree, *f);
            for arg in args {
                *arg = strip(tree, *arg);
            }
        }
        _ => {}
    }
    tree.exprs.push(Expr { kind, span: Span::NONE })
}

#[test]
fn sections_and_shapes() {
    let mut tree = Tree::default();
    let mut leaf = |text| build(&mut tree, &Plan::Leaf(text));
    let (a, b, one) = (leaf("a"), leaf("b"), leaf("1"));
    let mut check = |kind, expect: &str| {
        let expr = tree.exprs.push(Expr { kind, span: Span::NONE });
        assert_eq!(print_expr(&tree, expr), expect);
    };
    let section = Section {
        base: a,
        lower: Some(b),
        length: Some(one),
        stride: None,
        has_stride_colon: false,
    };
    check(ExprKind::Section(Box::new(section.clone())), "a[b:1]");
    let all = Section { lower: None, length: None, ..section.clone() };
    check(ExprKind::Section(Box::new(all)), "a[:]");
    let strided = Section { length: None, stride: Some(one), ..section };
    check(ExprKind::Section(Box::new(strided)), "a[b: :1]");
    check(ExprKind::Shaped(Box::new([one, b]), a), "([1][b])a");
}
