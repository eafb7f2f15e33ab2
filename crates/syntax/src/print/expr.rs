//! Expressions as text.
//!
//! Each kind is a list of [`Piece`]s from left to right; a work list puts them out in order, so the
//! depth of an expression costs no stack. Every operand says which [`Level`] its place takes
//! without parentheses; an operand below it gets them.

use super::{ERROR, Level, Printer};
use crate::ast::{
    BinaryOp, Designator, ExprId, ExprKind, Ident, Init, InitId, Section, StmtId, TypeNameId,
    UnaryOp,
};

/// What is still to be printed of an expression.
enum Piece<'t> {
    Text(&'t str),
    /// An operand, and the loosest level its place takes bare.
    Expr(ExprId, Level),
    /// The operand in front of `.`: a bare number would swallow the dot.
    Object(ExprId),
    TypeName(TypeNameId),
    Init(InitId),
    Block(StmtId),
}

/// Initialisers longer than this go on in the next line.
const INIT_WIDTH: usize = 92;

impl<'t> Printer<'t> {
    /// `expr` at a place that takes `level` and tighter bare.
    pub(super) fn expr(&mut self, expr: ExprId, level: Level) {
        self.run(vec![Piece::Expr(expr, level)]);
    }

    /// Prints `rest`, last piece first.
    fn run(&mut self, mut rest: Vec<Piece<'t>>) {
        let mut pieces = Vec::new();
        while let Some(piece) = rest.pop() {
            match piece {
                Piece::Text(text) => self.put(text),
                Piece::TypeName(id) => self.type_name(id),
                Piece::Init(id) => self.init(id),
                Piece::Block(id) => self.block(id),
                Piece::Expr(id, level) => {
                    let is_bare = level_of(&self.tree.exprs[id].kind) >= level;
                    self.pieces(id, is_bare, &mut pieces);
                    rest.extend(pieces.drain(..).rev());
                }
                Piece::Object(id) => {
                    let kind = &self.tree.exprs[id].kind;
                    let is_number = matches!(kind, ExprKind::Number(_));
                    let is_bare = level_of(kind) >= Level::Postfix && !is_number;
                    self.pieces(id, is_bare, &mut pieces);
                    rest.extend(pieces.drain(..).rev());
                }
            }
        }
    }

    /// Lists the pieces of one expression.
    fn pieces(&self, expr: ExprId, is_bare: bool, out: &mut Vec<Piece<'t>>) {
        use Piece::{Expr, Object, Text, TypeName};
        let tree = self.tree;
        if !is_bare {
            out.push(Text("("));
        }
        match &tree.exprs[expr].kind {
            ExprKind::Error => out.push(Text(ERROR)),
            ExprKind::Name(name) | ExprKind::Number(name) | ExprKind::Char(name) => {
                out.push(Text(tree.names.text(*name)));
            }
            ExprKind::Str(parts) => {
                let texts = parts.iter().map(|it| tree.names.text(*it));
                list(out, " ", texts, |out, text| out.push(Text(text)));
            }
            ExprKind::Paren(inner) => {
                out.extend([Text("("), Expr(*inner, Level::Comma), Text(")")]);
            }
            ExprKind::Unary(op, operand) => match op {
                UnaryOp::PostInc | UnaryOp::PostDec => {
                    out.extend([Expr(*operand, Level::Postfix), Text(unary(*op))]);
                }
                UnaryOp::PreInc | UnaryOp::PreDec => {
                    out.extend([Text(unary(*op)), Expr(*operand, Level::Unary)]);
                }
                UnaryOp::Plus
                | UnaryOp::Minus
                | UnaryOp::Not
                | UnaryOp::BitNot
                | UnaryOp::Deref
                | UnaryOp::AddrOf
                | UnaryOp::Real
                | UnaryOp::Imag
                | UnaryOp::Extension => {
                    out.extend([Text(unary(*op)), Expr(*operand, Level::Cast)]);
                }
            },
            ExprKind::Binary(op, left, right) => {
                let infix = binary(*op);
                let space = if *op == BinaryOp::Comma { "" } else { " " };
                out.extend([Expr(*left, infix.level), Text(space), Text(infix.text)]);
                out.extend([Text(" "), Expr(*right, infix.right)]);
            }
            ExprKind::Assign(op, left, right) => {
                out.extend([Expr(*left, Level::Unary), Text(" ")]);
                out.extend(op.map(|op| Text(binary(op).text)));
                out.extend([Text("= "), Expr(*right, Level::Assign)]);
            }
            ExprKind::Conditional(condition, middle, otherwise) => {
                out.push(Expr(*condition, Level::Or));
                match middle {
                    Some(then) => {
                        out.extend([Text(" ? "), Expr(*then, Level::Comma), Text(" : ")]);
                    }
                    None => out.push(Text(" ?: ")),
                }
                out.push(Expr(*otherwise, Level::Conditional));
            }
            ExprKind::Cast(ty, operand) => {
                out.extend([Text("("), TypeName(*ty), Text(")"), Expr(*operand, Level::Cast)]);
            }
            ExprKind::CompoundLiteral(ty, init) => {
                out.extend([Text("("), TypeName(*ty), Text(")"), Piece::Init(*init)]);
            }
            ExprKind::SizeofExpr(operand) => {
                out.extend([Text("sizeof "), Expr(*operand, Level::Unary)]);
            }
            ExprKind::SizeofType(ty) => {
                out.extend([Text("sizeof("), TypeName(*ty), Text(")")]);
            }
            // Standard `_Alignof` takes types only.
            ExprKind::AlignofExpr(operand) => {
                out.extend([Text("__alignof__ "), Expr(*operand, Level::Unary)]);
            }
            ExprKind::AlignofType(ty) => {
                out.extend([Text("_Alignof("), TypeName(*ty), Text(")")]);
            }
            ExprKind::Index(base, index) => {
                out.extend([Expr(*base, Level::Postfix), Text("[")]);
                out.extend([Expr(*index, Level::Comma), Text("]")]);
            }
            ExprKind::Section(section) => section_pieces(section, out),
            ExprKind::Shaped(lengths, pointer) => {
                out.push(Text("("));
                for length in lengths {
                    out.extend([Text("["), Expr(*length, Level::Comma), Text("]")]);
                }
                out.extend([Text(")"), Expr(*pointer, Level::Cast)]);
            }
            ExprKind::Call(callee, args) => {
                out.extend([Expr(*callee, Level::Postfix), Text("(")]);
                list(out, ", ", args, |out, arg| out.push(Expr(*arg, Level::Assign)));
                out.push(Text(")"));
            }
            ExprKind::Member(object, member) => {
                out.extend([Object(*object), Text("."), Text(tree.names.text(member.name))]);
            }
            ExprKind::Arrow(pointer, member) => {
                out.extend([Expr(*pointer, Level::Postfix), Text("->")]);
                out.push(Text(tree.names.text(member.name)));
            }
            ExprKind::Generic(control, arms) => {
                out.extend([Text("_Generic("), Expr(*control, Level::Assign)]);
                for (ty, value) in arms {
                    out.extend([Text(", "), ty.map_or(Text("default"), TypeName), Text(": ")]);
                    out.push(Expr(*value, Level::Assign));
                }
                out.push(Text(")"));
            }
            ExprKind::StmtExpr(block) => {
                out.extend([Text("("), Piece::Block(*block), Text(")")]);
            }
            ExprKind::LabelAddr(label) => {
                out.extend([Text("&&"), Text(tree.names.text(label.name))]);
            }
            ExprKind::VaArg(list, ty) => {
                out.extend([Text("__builtin_va_arg("), Expr(*list, Level::Assign)]);
                out.extend([Text(", "), TypeName(*ty), Text(")")]);
            }
            ExprKind::Offsetof(ty, path) => {
                out.extend([Text("__builtin_offsetof("), TypeName(*ty), Text(", ")]);
                for (at, step) in path.iter().enumerate() {
                    self.designator_pieces(step, at == 0, out);
                }
                out.push(Text(")"));
            }
            ExprKind::TypesCompatible(left, right) => {
                out.extend([Text("__builtin_types_compatible_p("), TypeName(*left)]);
                out.extend([Text(", "), TypeName(*right), Text(")")]);
            }
            ExprKind::ChooseExpr(condition, then, otherwise) => {
                out.push(Text("__builtin_choose_expr("));
                list(out, ", ", [condition, then, otherwise], |out, it| {
                    out.push(Expr(*it, Level::Assign));
                });
                out.push(Text(")"));
            }
            ExprKind::ConvertVector(value, ty) => {
                out.extend([Text("__builtin_convertvector("), Expr(*value, Level::Assign)]);
                out.extend([Text(", "), TypeName(*ty), Text(")")]);
            }
        }
        if !is_bare {
            out.push(Text(")"));
        }
    }

    /// `.x`, `[i]`, `[lo ... hi]`; the first step of `offsetof` has no dot.
    fn designator_pieces(&self, step: &Designator, is_bare: bool, out: &mut Vec<Piece<'t>>) {
        match step {
            Designator::Field(Ident { name, .. }) => {
                let dot = if is_bare { "" } else { "." };
                out.extend([Piece::Text(dot), Piece::Text(self.tree.names.text(*name))]);
            }
            Designator::Index(index) => {
                out.extend([Piece::Text("["), Piece::Expr(*index, Level::Assign)]);
                out.push(Piece::Text("]"));
            }
            Designator::Range(low, high) => {
                out.extend([Piece::Text("["), Piece::Expr(*low, Level::Assign)]);
                out.extend([Piece::Text(" ... "), Piece::Expr(*high, Level::Assign)]);
                out.push(Piece::Text("]"));
            }
        }
    }

    /// `e`, or `{1, .x = 2, [3 ... 4] = {5}}`.
    pub(super) fn init(&mut self, init: InitId) {
        let tree = self.tree;
        let items = match &tree.inits[init] {
            Init::Expr(value) => return self.expr(*value, Level::Assign),
            Init::List(items, _) => items,
        };
        self.put("{");
        self.indented(|it| {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    it.put(",");
                    if it.column() > INIT_WIDTH {
                        it.out.push('\n');
                        it.begin_line();
                    } else {
                        it.put(" ");
                    }
                }
                let mut pieces = Vec::new();
                for step in &item.designators {
                    it.designator_pieces(step, false, &mut pieces);
                }
                if !item.designators.is_empty() {
                    pieces.push(Piece::Text(" = "));
                }
                pieces.push(Piece::Init(item.value));
                pieces.reverse();
                it.run(pieces);
            }
        });
        self.put("}");
    }
}

/// `base[lower:length:stride]`
fn section_pieces(section: &Section, out: &mut Vec<Piece<'_>>) {
    // A comma would be read as the end of the section's list item.
    let bound = |it: &Option<ExprId>| it.map(|it| Piece::Expr(it, Level::Assign));
    out.extend([Piece::Expr(section.base, Level::Postfix), Piece::Text("[")]);
    out.extend(bound(&section.lower));
    out.push(Piece::Text(":"));
    out.extend(bound(&section.length));
    if section.has_stride_colon || section.stride.is_some() {
        // `::` is one token to newer compilers.
        let colon = if section.length.is_some() { ":" } else { " :" };
        out.push(Piece::Text(colon));
        out.extend(bound(&section.stride));
    }
    out.push(Piece::Text("]"));
}

/// Lists `items` with `separator` between them.
fn list<'t, T>(
    out: &mut Vec<Piece<'t>>,
    separator: &'t str,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut Vec<Piece<'t>>, T),
) {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(Piece::Text(separator));
        }
        push(out, item);
    }
}

/// How tightly an expression binds as a whole.
fn level_of(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Error
        | ExprKind::Name(_)
        | ExprKind::Number(_)
        | ExprKind::Char(_)
        | ExprKind::Str(_)
        | ExprKind::Paren(_)
        | ExprKind::Generic(..)
        | ExprKind::StmtExpr(_)
        | ExprKind::VaArg(..)
        | ExprKind::Offsetof(..)
        | ExprKind::TypesCompatible(..)
        | ExprKind::ChooseExpr(..)
        | ExprKind::ConvertVector(..) => Level::Primary,
        ExprKind::CompoundLiteral(..)
        | ExprKind::Index(..)
        | ExprKind::Section(_)
        | ExprKind::Call(..)
        | ExprKind::Member(..)
        | ExprKind::Arrow(..)
        | ExprKind::Unary(UnaryOp::PostInc | UnaryOp::PostDec, _) => Level::Postfix,
        ExprKind::Unary(..)
        | ExprKind::SizeofExpr(_)
        | ExprKind::SizeofType(_)
        | ExprKind::AlignofExpr(_)
        | ExprKind::AlignofType(_)
        | ExprKind::LabelAddr(_) => Level::Unary,
        ExprKind::Cast(..) | ExprKind::Shaped(..) => Level::Cast,
        ExprKind::Binary(op, ..) => binary(*op).level,
        ExprKind::Conditional(..) => Level::Conditional,
        ExprKind::Assign(..) => Level::Assign,
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
        UnaryOp::Deref => "*",
        UnaryOp::AddrOf => "&",
        UnaryOp::PreInc | UnaryOp::PostInc => "++",
        UnaryOp::PreDec | UnaryOp::PostDec => "--",
        UnaryOp::Real => "__real__ ",
        UnaryOp::Imag => "__imag__ ",
        UnaryOp::Extension => "__extension__ ",
    }
}

/// How an operator with two operands is written.
struct Infix {
    text: &'static str,
    /// Of the whole, and of what the left operand may be.
    level: Level,
    /// Of what the right operand may be; all of them group to the left.
    right: Level,
}

fn binary(op: BinaryOp) -> Infix {
    let (text, level) = match op {
        BinaryOp::Mul => ("*", Level::Product),
        BinaryOp::Div => ("/", Level::Product),
        BinaryOp::Rem => ("%", Level::Product),
        BinaryOp::Add => ("+", Level::Sum),
        BinaryOp::Sub => ("-", Level::Sum),
        BinaryOp::Shl => ("<<", Level::Shift),
        BinaryOp::Shr => (">>", Level::Shift),
        BinaryOp::Lt => ("<", Level::Relation),
        BinaryOp::Gt => (">", Level::Relation),
        BinaryOp::Le => ("<=", Level::Relation),
        BinaryOp::Ge => (">=", Level::Relation),
        BinaryOp::Eq => ("==", Level::Equality),
        BinaryOp::Ne => ("!=", Level::Equality),
        BinaryOp::BitAnd => ("&", Level::BitAnd),
        BinaryOp::BitXor => ("^", Level::BitXor),
        BinaryOp::BitOr => ("|", Level::BitOr),
        BinaryOp::And => ("&&", Level::And),
        BinaryOp::Or => ("||", Level::Or),
        BinaryOp::Comma => (",", Level::Comma),
    };
    Infix { text, level, right: level.tighter() }
}
