//! Expressions and initialisers. Every operator with two operands has its parentheses.

use super::Printer;
use crate::program::{
    BinaryOp, CastKind, ExprId, ExprKind, Init, InitId, LabelId, OffsetStep, StepOp, UnaryOp,
};
use crate::types::{ArrayLen, IntKind, RecordId, Ty, TypeKind};

impl Printer<'_> {
    pub(super) fn exprs(&self, list: &[ExprId]) -> String {
        let shown: Vec<String> = list.iter().map(|&it| self.expr(it)).collect();
        shown.join(", ")
    }

    fn maybe(&self, expr: Option<ExprId>) -> String {
        expr.map(|it| self.expr(it)).unwrap_or_default()
    }

    pub(super) fn expr(&self, id: ExprId) -> String {
        let Some(expr) = self.program.exprs.find(id) else { return "<no expression>".to_owned() };
        match &expr.kind {
            ExprKind::Error => "<error>".to_owned(),
            ExprKind::Int(value) => self.int(i128::from(*value), expr.ty),
            ExprKind::WideInt(value) => self.int(**value, expr.ty),
            ExprKind::Float(text) => self.text(*text).to_owned(),
            ExprKind::Str(pieces) => {
                let pieces: Vec<&str> = pieces.iter().map(|&it| self.text(it)).collect();
                pieces.join(" ")
            }
            ExprKind::EnumConst(id, at) => {
                let known = self.program.types.enums.find(*id);
                let constants = known.and_then(|it| it.constants.as_ref());
                let found = constants.and_then(|it| it.get(*at as usize));
                found.map_or("<no constant>", |it| self.text(it.0)).to_owned()
            }
            ExprKind::Var(var) => self.var(*var).to_owned(),
            ExprKind::Function(function) => self.function(*function),
            ExprKind::Unary(op, e) => {
                let word = match op {
                    UnaryOp::Plus => "+",
                    UnaryOp::Minus => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Real => "real ",
                    UnaryOp::Imag => "imag ",
                };
                format!("{word}{}", self.operand(*e))
            }
            ExprKind::Deref(e) => format!("*{}", self.operand(*e)),
            ExprKind::AddrOf(e) => format!("&{}", self.operand(*e)),
            ExprKind::Step(op, e) => {
                let e = self.operand(*e);
                match op {
                    StepOp::PreInc => format!("++{e}"),
                    StepOp::PreDec => format!("--{e}"),
                    StepOp::PostInc => format!("{e}++"),
                    StepOp::PostDec => format!("{e}--"),
                }
            }
            ExprKind::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(*a), binary(*op), self.expr(*b))
            }
            ExprKind::And(a, b) => format!("({} && {})", self.expr(*a), self.expr(*b)),
            ExprKind::Or(a, b) => format!("({} || {})", self.expr(*a), self.expr(*b)),
            ExprKind::Assign(a, b) => format!("{} = {}", self.expr(*a), self.expr(*b)),
            ExprKind::AssignOp(op, a, b, ty) => {
                let (a, b, ty) = (self.expr(*a), self.expr(*b), self.ty(*ty));
                format!("{a} {}=<{ty}> {b}", binary(*op))
            }
            ExprKind::Conditional(c, a, b) => {
                format!("({} ? {} : {})", self.expr(*c), self.maybe(*a), self.expr(*b))
            }
            ExprKind::Comma(a, b) => format!("({}, {})", self.expr(*a), self.expr(*b)),
            ExprKind::Cast(CastKind::Explicit, e) => {
                format!("({}){}", self.ty(expr.ty), self.operand(*e))
            }
            ExprKind::Cast(CastKind::Implicit, e) => {
                format!("<{}>{}", self.ty(expr.ty), self.operand(*e))
            }
            ExprKind::Cast(CastKind::ArrayToPointer | CastKind::FunctionToPointer, e) => {
                format!("decay({})", self.expr(*e))
            }
            ExprKind::Index(base, index) => {
                format!("{}[{}]", self.operand(*base), self.expr(*index))
            }
            ExprKind::Member(e, record, field) => {
                format!("{}.{}", self.operand(*e), self.field(*record, *field))
            }
            ExprKind::Call(callee, args) => {
                format!("{}({})", self.callee(*callee), self.exprs(args))
            }
            ExprKind::Sizeof(ty) => format!("sizeof({})", self.ty_with_lengths(*ty)),
            ExprKind::Alignof(ty) => format!("alignof({})", self.ty(*ty)),
            ExprKind::Offsetof(ty, path) => {
                let mut text = format!("offsetof({}, ", self.ty(*ty));
                for step in path {
                    text.push_str(&match step {
                        OffsetStep::Field(record, at) => format!(".{}", self.field(*record, *at)),
                        OffsetStep::Index(index) => format!("[{}]", self.expr(*index)),
                    });
                }
                text + ")"
            }
            ExprKind::CompoundLiteral(id) => match self.program.vars.find(*id) {
                Some(var) => format!("literal({})", self.declared(*id, var)),
                None => self.var(*id).to_owned(),
            },
            ExprKind::StmtExpr(body) => self.statement_expression(*body),
            ExprKind::LabelAddr(label) => format!("&&{}", self.label(*label)),
            ExprKind::VaArg(e) => format!("va_arg({}, {})", self.expr(*e), self.ty(expr.ty)),
            ExprKind::ConvertVector(e) => {
                format!("convert_vector({}, {})", self.expr(*e), self.ty(expr.ty))
            }
            ExprKind::Section(it) => {
                let (lower, length) = (self.maybe(it.lower), self.maybe(it.length));
                let stride = it.stride.map(|it| format!(" : {}", self.expr(it)));
                let stride = stride.unwrap_or_default();
                format!("{}[{lower} : {length}{stride}]", self.operand(it.base))
            }
            ExprKind::Shaped(shape, e) => {
                let shape: Vec<String> =
                    shape.iter().map(|&it| format!("[{}]", self.expr(it))).collect();
                format!("({}){}", shape.concat(), self.operand(*e))
            }
        }
    }

    /// An expression where an operator follows or precedes it directly.
    fn operand(&self, id: ExprId) -> String {
        let text = self.expr(id);
        let is_loose = match self.program.exprs.find(id).map(|it| &it.kind) {
            Some(
                ExprKind::Unary(..)
                | ExprKind::Deref(_)
                | ExprKind::AddrOf(_)
                | ExprKind::Step(..)
                | ExprKind::Assign(..)
                | ExprKind::AssignOp(..)
                | ExprKind::Cast(CastKind::Explicit | CastKind::Implicit, _)
                | ExprKind::LabelAddr(_)
                | ExprKind::Shaped(..),
            ) => true,
            Some(ExprKind::Int(_) | ExprKind::WideInt(_)) => text.starts_with(['-', '(']),
            _ => false,
        };
        if is_loose { format!("({text})") } else { text }
    }

    /// A function called by name is written as such; that it becomes a pointer says nothing.
    fn callee(&self, id: ExprId) -> String {
        if let Some(expr) = self.program.exprs.find(id)
            && let ExprKind::Cast(CastKind::FunctionToPointer, e) = expr.kind
        {
            return self.operand(e);
        }
        self.operand(id)
    }

    /// An integer with C's suffix, or a cast where there is none for its type.
    fn int(&self, value: i128, ty: Ty) -> String {
        let kind = self.program.types.shape(ty);
        let suffix = if let TypeKind::Int(kind) = kind { suffix(*kind) } else { None };
        let Some(suffix) = suffix else { return format!("({}){value}", self.ty(ty)) };
        let is_unsigned = suffix.starts_with('u');
        let value = if is_unsigned && value < 0 { i128::from(value as u64) } else { value };
        format!("{value}{suffix}")
    }

    fn field(&self, record: RecordId, at: u32) -> String {
        let record = self.program.types.records.find(record);
        let field = record.and_then(|it| it.fields.as_ref()).and_then(|it| it.get(at as usize));
        match field.map(|it| it.name) {
            Some(Some(name)) => self.text(name).to_owned(),
            Some(None) => format!("<member {at}>"),
            None => "<no member>".to_owned(),
        }
    }

    pub(super) fn label(&self, id: LabelId) -> &str {
        self.program.labels.find(id).map_or("<no label>", |it| self.text(it.name))
    }

    /// The type with the expressions of its computed lengths.
    pub(super) fn ty_with_lengths(&self, ty: Ty) -> String {
        let mut text = self.ty(ty);
        let mut ty = ty;
        let mut lengths = Vec::new();
        while let TypeKind::Array(element, len) = self.program.types.shape(ty) {
            if let ArrayLen::Variable(Some(len)) = len {
                lengths.push(self.expr(*len));
            }
            ty = *element;
        }
        if !lengths.is_empty() {
            text.push_str(&format!(" where * is {}", lengths.join(", ")));
        }
        text
    }

    pub(super) fn init(&self, id: InitId) -> String {
        match self.program.inits.find(id) {
            None => "<no initialiser>".to_owned(),
            Some(Init::Expr(e)) => self.expr(*e),
            Some(Init::List(_, elements)) => {
                let mut next = 0;
                let mut shown = Vec::with_capacity(elements.len());
                for element in elements {
                    let value = self.init(element.value);
                    shown.push(if element.first != element.last {
                        format!("[{} ... {}] = {value}", element.first, element.last)
                    } else if element.first == next {
                        value
                    } else {
                        format!("[{}] = {value}", element.first)
                    });
                    next = element.last.saturating_add(1);
                }
                format!("{{{}}}", shown.join(", "))
            }
        }
    }
}

/// What C writes behind a constant of this type, if it can have one.
fn suffix(kind: IntKind) -> Option<&'static str> {
    match kind {
        IntKind::Int => Some(""),
        IntKind::UInt => Some("u"),
        IntKind::Long => Some("l"),
        IntKind::ULong => Some("ul"),
        IntKind::LongLong => Some("ll"),
        IntKind::ULongLong => Some("ull"),
        IntKind::Char
        | IntKind::SChar
        | IntKind::UChar
        | IntKind::Short
        | IntKind::UShort
        | IntKind::Int128
        | IntKind::UInt128 => None,
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Gt => ">",
        BinaryOp::Le => "<=",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
    }
}
