//! What the tests share: a short notation for trees, and faults as lines of text.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail that way"
)]

use syntax::ast::*;
use syntax::pragma::{NoDirectives, PragmaReader, Shape};
use syntax::{Parsed, Parser};

pub(crate) fn parse(text: &str) -> Parsed {
    syntax::parse(text.as_bytes(), 0, &mut NoDirectives)
}

/// Each fault as `line:column code message`.
pub(crate) fn faults(text: &str, parsed: &Parsed) -> Vec<String> {
    let line = |fault: &source::Diagnostic| {
        let at = fault.primary.as_ref().map_or(0, |it| it.span.start as usize);
        let before = &text.as_bytes()[..at.min(text.len())];
        let line = before.iter().filter(|&&it| it == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&it| it != b'\n').count() + 1;
        format!("{line}:{column} {} {}", fault.code, fault.message)
    };
    parsed.diagnostics.iter().map(line).collect()
}

/// The text has no fault at all.
#[track_caller]
pub(crate) fn check_ok(text: &str) -> Tree {
    let parsed = parse(text);
    assert_eq!(faults(text, &parsed), Vec::<String>::new(), "{text}");
    parsed.tree
}

/// The text has exactly these faults.
#[track_caller]
pub(crate) fn check_faults(text: &str, expected: &[&str]) {
    let parsed = parse(text);
    assert_eq!(faults(text, &parsed), expected, "{text}");
}

/// The body of a function `f` prints as `expected`, one statement a line.
#[track_caller]
pub(crate) fn check_body(before: &str, body: &str, expected: &[&str]) {
    let tree = check_ok(&format!("{before} void f(void) {{ {body}\n}}"));
    let last = *tree.items.last().unwrap();
    let DeclKind::Function(function) = &tree.decls[last].kind else { panic!("no function") };
    let StmtKind::Block(items) = &tree.stmts[function.body].kind else { panic!("no block") };
    let lines: Vec<String> = items.iter().map(|it| stmt(&tree, *it)).collect();
    assert_eq!(lines, expected, "{body}");
}

/// An expression prints as `expected`.
#[track_caller]
pub(crate) fn check_expr(before: &str, text: &str, expected: &str) {
    check_body(before, &format!("{text};"), &[expected]);
}

/// Reads words after `dir` as shapes: `dir prefix`, `dir alone`, …; `dir items a, b` reads a list.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) items: Vec<String>,
}

impl PragmaReader for Words {
    fn read(&mut self, parser: &mut Parser<'_>, _: PragmaId) -> Shape {
        let word = |parser: &mut Parser<'_>| {
            let text = parser.word().map(|it| parser.text(it).to_owned()).unwrap_or_default();
            parser.bump();
            text
        };
        if word(parser) != "dir" {
            return Shape::Foreign;
        }
        match word(parser).as_str() {
            "prefix" => Shape::Prefix,
            "opens" => Shape::Opens,
            "closes" => Shape::Closes,
            "items" => {
                while !parser.at_end() {
                    let item = parser.list_item();
                    self.items.push(expr(parser.tree(), item));
                    if !parser.eat(syntax::TokenKind::Comma) {
                        break;
                    }
                }
                Shape::Standalone
            }
            _ => Shape::Standalone,
        }
    }
}

// ---------------------------------------------------------------- the notation

fn name(tree: &Tree, ident: &Ident) -> String {
    tree.names.text(ident.name).to_owned()
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(" ")
}

pub(crate) fn expr(tree: &Tree, id: ExprId) -> String {
    let e = |id: &ExprId| expr(tree, *id);
    let opt = |id: &Option<ExprId>| id.as_ref().map_or("_".to_owned(), e);
    let text = |it: &source::Name| tree.names.text(*it).to_owned();
    match &tree.exprs[id].kind {
        ExprKind::Error => "error".to_owned(),
        ExprKind::Name(it) | ExprKind::Number(it) | ExprKind::Char(it) => text(it),
        ExprKind::Str(parts) => list(parts, text),
        ExprKind::Paren(a) => format!("<{}>", e(a)),
        ExprKind::Unary(op, a) => format!("({op:?} {})", e(a)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", e(a), e(b)),
        ExprKind::Assign(None, a, b) => format!("(= {} {})", e(a), e(b)),
        ExprKind::Assign(Some(op), a, b) => format!("({op:?}= {} {})", e(a), e(b)),
        ExprKind::Conditional(a, b, c) => format!("(? {} {} {})", e(a), opt(b), e(c)),
        ExprKind::Cast(ty, a) => format!("(cast {} {})", type_name(tree, *ty), e(a)),
        ExprKind::CompoundLiteral(ty, init) => {
            format!("(literal {} {})", type_name(tree, *ty), self::init(tree, *init))
        }
        ExprKind::SizeofExpr(a) => format!("(sizeof {})", e(a)),
        ExprKind::SizeofType(ty) => format!("(sizeof-type {})", type_name(tree, *ty)),
        ExprKind::AlignofExpr(a) => format!("(alignof {})", e(a)),
        ExprKind::AlignofType(ty) => format!("(alignof-type {})", type_name(tree, *ty)),
        ExprKind::Index(a, b) => format!("(index {} {})", e(a), e(b)),
        ExprKind::Section(it) => {
            let stride = if it.has_stride_colon { opt(&it.stride) } else { "-".to_owned() };
            format!("(section {} {} {} {stride})", e(&it.base), opt(&it.lower), opt(&it.length))
        }
        ExprKind::Shaped(extents, a) => format!("(shaped [{}] {})", list(extents, e), e(a)),
        ExprKind::Call(f, args) if args.is_empty() => format!("(call {})", e(f)),
        ExprKind::Call(f, args) => format!("(call {} {})", e(f), list(args, e)),
        ExprKind::Member(a, it) => format!("(. {} {})", e(a), name(tree, it)),
        ExprKind::Arrow(a, it) => format!("(-> {} {})", e(a), name(tree, it)),
        ExprKind::Generic(a, choices) => {
            let choice = |(ty, value): &(Option<TypeNameId>, ExprId)| {
                let ty = ty.map_or("default".to_owned(), |it| type_name(tree, it));
                format!("({ty}: {})", e(value))
            };
            format!("(generic {} {})", e(a), list(choices, choice))
        }
        ExprKind::StmtExpr(block) => format!("(block {})", stmt(tree, *block)),
        ExprKind::LabelAddr(label) => format!("(label {})", name(tree, label)),
        ExprKind::VaArg(a, ty) => format!("(va_arg {} {})", e(a), type_name(tree, *ty)),
        ExprKind::Offsetof(ty, path) => {
            format!("(offsetof {} {})", type_name(tree, *ty), list(path, |it| designator(tree, it)))
        }
        ExprKind::TypesCompatible(a, b) => {
            format!("(compatible {} {})", type_name(tree, *a), type_name(tree, *b))
        }
        ExprKind::ChooseExpr(a, b, c) => format!("(choose {} {} {})", e(a), e(b), e(c)),
        ExprKind::ConvertVector(a, ty) => format!("(convert {} {})", e(a), type_name(tree, *ty)),
    }
}

fn designator(tree: &Tree, it: &Designator) -> String {
    match it {
        Designator::Field(field) => format!(".{}", name(tree, field)),
        Designator::Index(index) => format!("[{}]", expr(tree, *index)),
        Designator::Range(low, high) => format!("[{} ... {}]", expr(tree, *low), expr(tree, *high)),
    }
}

pub(crate) fn init(tree: &Tree, id: InitId) -> String {
    match &tree.inits[id] {
        Init::Expr(value) => expr(tree, *value),
        Init::List(items, _) => {
            let item = |it: &InitItem| {
                let path = list(&it.designators, |it| designator(tree, it));
                let equals = if path.is_empty() { "" } else { "=" };
                format!("{path}{equals}{}", init(tree, it.value))
            };
            format!("{{{}}}", list(items, item))
        }
    }
}

fn type_name(tree: &Tree, id: TypeNameId) -> String {
    let ty = &tree.type_names[id];
    declared(tree, ty.specs, ty.declarator)
}

fn quals(it: &Quals) -> String {
    let words = [
        (it.is_const, "const "),
        (it.is_volatile, "volatile "),
        (it.is_restrict, "restrict "),
        (it.is_atomic, "atomic "),
    ];
    words.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect()
}

fn specs(tree: &Tree, id: SpecsId) -> String {
    let it = &tree.specs[id];
    let storage = it.storage.map_or(String::new(), |it| format!("{it:?} ").to_lowercase());
    let flags = [
        (it.thread_local, "thread "),
        (it.inline, "inline "),
        (it.noreturn, "noreturn "),
        (it.extension, "extension "),
        (!it.alignas.is_empty(), "alignas "),
    ];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
    let ty = match it.ty {
        TypeSpec::Error => "error".to_owned(),
        TypeSpec::Missing => "missing".to_owned(),
        TypeSpec::Basic(Basic { kind, complex }) => {
            format!("{}{kind:?}", if complex { "Complex" } else { "" })
        }
        TypeSpec::Typedef(it) => tree.names.text(it).to_owned(),
        TypeSpec::Record(id) => record(tree, id),
        TypeSpec::Enum(id) => enumeration(tree, id),
        TypeSpec::TypeofExpr(it) => format!("typeof({})", expr(tree, it)),
        TypeSpec::TypeofType(it) => format!("typeof({})", type_name(tree, it)),
        TypeSpec::TypeofUnqualExpr(it) => format!("typeof_unqual({})", expr(tree, it)),
        TypeSpec::TypeofUnqualType(it) => format!("typeof_unqual({})", type_name(tree, it)),
        TypeSpec::Atomic(it) => format!("atomic({})", type_name(tree, it)),
        TypeSpec::AutoType => "auto".to_owned(),
    };
    format!("{storage}{flags}{}{}{ty}", attrs(tree, &it.attrs), quals(&it.quals))
}

fn attrs(tree: &Tree, list: &[AttrId]) -> String {
    let attr = |id: &AttrId| {
        let it = &tree.attrs[*id];
        let scope = it.scope.map_or(String::new(), |it| format!("{}::", name(tree, &it)));
        let args = it.args.as_ref().map_or(String::new(), |args| {
            let arg = |arg: &AttrArg| match arg {
                AttrArg::Expr(it) => expr(tree, *it),
                AttrArg::Type(it) => type_name(tree, *it),
            };
            format!("({})", self::list(args, arg))
        });
        format!("@{scope}{}{args} ", name(tree, &it.ident))
    };
    list.iter().map(attr).collect()
}

fn record(tree: &Tree, id: RecordId) -> String {
    let it = &tree.records[id];
    let word = if it.is_union { "union" } else { "struct" };
    let tag = it.tag.map_or(String::new(), |tag| format!(" {}", name(tree, &tag)));
    let pack = it.pack.map_or(String::new(), |it| format!(" pack({it})"));
    let members = it.members.as_ref().map_or(String::new(), |members| {
        let member = |member: &Member| match member {
            Member::Fields(base, fields) if fields.is_empty() => specs(tree, *base),
            Member::Fields(base, fields) => list(fields, |field| {
                let width = field.width.map_or(String::new(), |it| format!(":{}", expr(tree, it)));
                format!("{}{width};", declared(tree, *base, field.declarator))
            }),
            Member::StaticAssert(condition, _) => format!("assert {};", expr(tree, *condition)),
        };
        format!(" {{{}}}", list(members, member))
    });
    format!("{}{word}{tag}{pack}{members}", attrs(tree, &it.attrs))
}

fn enumeration(tree: &Tree, id: EnumId) -> String {
    let it = &tree.enums[id];
    let tag = it.tag.map_or(String::new(), |tag| format!(" {}", name(tree, &tag)));
    let constants = it.constants.as_ref().map_or(String::new(), |constants| {
        let constant = |it: &EnumConstant| {
            let value = it.value.map_or(String::new(), |it| format!("={}", expr(tree, it)));
            format!("{}{}{value}", attrs(tree, &it.attrs), name(tree, &it.ident))
        };
        format!(" {{{}}}", list(constants, constant))
    });
    format!("enum{tag}{constants}")
}

/// `x: array 3 of pointer to Int`
pub(crate) fn declared(tree: &Tree, base: SpecsId, id: DeclaratorId) -> String {
    let it = &tree.declarators[id];
    let name = it.name.map_or(String::new(), |it| format!("{}: ", name(tree, &it)));
    let label = if it.asm_label.is_some() { "@asm " } else { "" };
    let part = |part: &Derived| match part {
        Derived::Pointer(q, list) => format!("{}{}pointer to ", attrs(tree, list), quals(q)),
        Derived::Array(array) => {
            let at_least = if array.is_static { "static " } else { "" };
            let size = match array.size {
                ArraySize::Unknown => "?".to_owned(),
                ArraySize::Star => "*".to_owned(),
                ArraySize::Expr(size) => expr(tree, size),
            };
            format!("{}array {at_least}{size} of ", quals(&array.quals))
        }
        Derived::Function(params) => {
            let mut list = match &params.kind {
                ParamKind::Unspecified => vec!["?".to_owned()],
                ParamKind::List(list) => {
                    list.iter().map(|it| declared(tree, it.specs, it.declarator)).collect()
                }
                ParamKind::Names(names) => names.iter().map(|it| self::name(tree, it)).collect(),
            };
            list.extend(params.variadic.then(|| "...".to_owned()));
            format!("function({}) to ", list.join(", "))
        }
    };
    let parts: String = it.parts.iter().map(part).collect();
    format!("{name}{}{label}{parts}{}", attrs(tree, &it.attrs), specs(tree, base))
}

pub(crate) fn decl(tree: &Tree, id: DeclId) -> String {
    match &tree.decls[id].kind {
        DeclKind::Error => "error".to_owned(),
        DeclKind::Empty => ";".to_owned(),
        DeclKind::Declare(base, list) if list.is_empty() => specs(tree, *base),
        DeclKind::Declare(base, list) => self::list(list, |it| {
            let value = it.init.map_or(String::new(), |it| format!(" = {}", init(tree, it)));
            format!("{}{value};", declared(tree, *base, it.declarator))
        }),
        DeclKind::Function(it) => {
            let old: String =
                it.old_params.iter().map(|it| format!(" {}", decl(tree, *it))).collect();
            let head = declared(tree, it.specs, it.declarator);
            format!("{head}{old} {}", stmt(tree, it.body))
        }
        DeclKind::StaticAssert(condition, _) => format!("assert {}", expr(tree, *condition)),
        DeclKind::Asm(_) => "asm".to_owned(),
        DeclKind::Pragma(id, body) => {
            let body = body.map_or(String::new(), |it| format!(" -> {}", decl(tree, it)));
            format!("{}{body}", pragma(tree, *id))
        }
    }
}

fn pragma(tree: &Tree, id: PragmaId) -> String {
    let it = &tree.pragmas[id];
    format!("{:?}[{}]", it.shape, tree.names.text(it.text))
}

pub(crate) fn stmt(tree: &Tree, id: StmtId) -> String {
    let s = |id: &StmtId| stmt(tree, *id);
    let e = |id: &ExprId| expr(tree, *id);
    match &tree.stmts[id].kind {
        StmtKind::Error => "error".to_owned(),
        StmtKind::Empty => ";".to_owned(),
        StmtKind::Block(items) => format!("{{{}}}", list(items, s)),
        StmtKind::Decl(it) => decl(tree, *it),
        StmtKind::Expr(it) => e(it),
        StmtKind::If(c, a, None) => format!("(if {} {})", e(c), s(a)),
        StmtKind::If(c, a, Some(b)) => format!("(if {} {} else {})", e(c), s(a), s(b)),
        StmtKind::While(c, a) => format!("(while {} {})", e(c), s(a)),
        StmtKind::DoWhile(a, c) => format!("(do {} {})", s(a), e(c)),
        StmtKind::For(it) => {
            let opt = |it: &Option<ExprId>| it.as_ref().map_or("_".to_owned(), e);
            let init = match it.init {
                ForInit::Nothing => "_".to_owned(),
                ForInit::Expr(it) => expr(tree, it),
                ForInit::Decl(it) => decl(tree, it),
            };
            format!("(for {init} {} {} {})", opt(&it.cond), opt(&it.step), s(&it.body))
        }
        StmtKind::Switch(c, a) => format!("(switch {} {})", e(c), s(a)),
        StmtKind::Case(low, None, a) => format!("(case {} {})", e(low), s(a)),
        StmtKind::Case(low, Some(high), a) => format!("(case {}...{} {})", e(low), e(high), s(a)),
        StmtKind::Default(a) => format!("(default {})", s(a)),
        StmtKind::Label(it, list, a) => {
            format!("({}: {}{})", name(tree, it), attrs(tree, list), s(a))
        }
        StmtKind::LocalLabels(labels) => format!("(labels {})", list(labels, |it| name(tree, it))),
        StmtKind::Goto(it) => format!("(goto {})", name(tree, it)),
        StmtKind::GotoExpr(it) => format!("(goto* {})", e(it)),
        StmtKind::Continue => "continue".to_owned(),
        StmtKind::Break => "break".to_owned(),
        StmtKind::Return(None) => "return".to_owned(),
        StmtKind::Return(Some(it)) => format!("(return {})", e(it)),
        StmtKind::Asm(id) => {
            let it = &tree.asms[*id];
            let operand = |it: &AsmOperand| {
                let name = it.name.map_or(String::new(), |it| format!("[{}]", name(tree, &it)));
                format!("{name}{}({})", e(&it.constraint), e(&it.value))
            };
            let flags =
                [(it.is_volatile, " volatile"), (it.is_goto, " goto"), (it.is_inline, " inline")];
            let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
            format!(
                "(asm{flags} {} :{} {} | {} | {} | {})",
                e(&it.template),
                it.colons,
                list(&it.outputs, operand),
                list(&it.inputs, operand),
                list(&it.clobbers, e),
                list(&it.labels, |it| name(tree, it)),
            )
        }
        StmtKind::Attributes(list) => attrs(tree, list).trim().to_owned(),
        StmtKind::Pragma(id, body) => {
            let body = body.map_or(String::new(), |it| format!(" -> {}", s(&it)));
            format!("{}{body}", pragma(tree, *id))
        }
    }
}
