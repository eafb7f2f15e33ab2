//! Arrays whose length is computed, in languages that have none.
//!
//! There such an array, and what points to one, is a pointer to its first part whose size is known; steps
//! from row to row are counted in such parts. Who declares the array makes room for it, and says by what
//! name its lengths go ([`Printer::substitute_expr`]).

use ir::program::{BinaryOp, Expr, ExprId, ExprKind, StepOp};
use ir::types::{ArrayLen, Ty, TypeKind};
use syntax::print::Level;

use super::Printer;

impl Printer<'_> {
    /// The part of an array whose size is known: what the array's pointer points to.
    pub fn known_part(&self, ty: Ty) -> Ty {
        let types = &self.program.types;
        let mut ty = ty;
        while types.is_vla(ty) {
            let Some(element) = types.element(ty) else { break };
            ty = element.qualified(types.resolve(ty).quals);
        }
        ty
    }

    /// A length as it is computed, and not by its name.
    pub(crate) fn computed(&self, length: ExprId) -> String {
        let mut printer = self.clone();
        printer.lengths.remove(&length);
        printer.primary(length)
    }

    /// How many such parts an array has.
    pub fn known_parts(&self, ty: Ty) -> String {
        let types = &self.program.types;
        let (mut ty, mut factors) = (ty, Vec::new());
        while types.is_vla(ty)
            && let TypeKind::Array(element, len) = types.shape(ty)
        {
            factors.push(match len {
                ArrayLen::Known(len) => format!("{len}l"),
                ArrayLen::Variable(Some(len)) => format!("(long){}", self.primary(*len)),
                ArrayLen::Variable(None) | ArrayLen::Unknown => "1l".to_owned(),
            });
            ty = *element;
        }
        match factors.is_empty() {
            true => "1l".to_owned(),
            false => format!("({})", factors.join(" * ")),
        }
    }

    /// An expression in which such arrays take part, as an operand for anywhere; none if it is as in C.
    pub(super) fn without_lengths(&self, node: &Expr) -> Option<String> {
        let types = &self.program.types;
        let is_array = |ty: Ty| types.is_vla(ty);
        let row = |e: ExprId| types.pointee(self.ty(e)?).filter(|it| is_array(*it));
        let text = |e: ExprId| self.operand(e, Level::Primary);
        let rows = |e: ExprId, ty: Ty| format!("(long){} * {}", text(e), self.known_parts(ty));
        match &node.kind {
            ExprKind::Index(of, at) if is_array(node.ty) => {
                Some(format!("({} + {})", text(*of), rows(*at, node.ty)))
            }
            ExprKind::Deref(of) if is_array(node.ty) => Some(text(*of)),
            ExprKind::AddrOf(of) if self.ty(*of).is_some_and(is_array) => Some(text(*of)),
            ExprKind::Sizeof(ty) if is_array(*ty) => {
                let part = self.type_name(self.known_part(*ty));
                Some(format!("((unsigned long){} * sizeof({part}))", self.known_parts(*ty)))
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                let word = super::operator(*op);
                Some(match (row(*a), row(*b)) {
                    (Some(ty), Some(_)) => {
                        format!("(({} {word} {}) / {})", text(*a), text(*b), self.known_parts(ty))
                    }
                    (Some(ty), None) => format!("({} {word} {})", text(*a), rows(*b, ty)),
                    (None, Some(ty)) => format!("({} {word} {})", text(*b), rows(*a, ty)),
                    (None, None) => return None,
                })
            }
            ExprKind::AssignOp(op, a, b, _) => row(*a)
                .map(|ty| format!("({} {}= {})", text(*a), super::operator(*op), rows(*b, ty))),
            ExprKind::Step(op, of) => {
                let parts = self.known_parts(row(*of)?);
                let of = text(*of);
                Some(match op {
                    StepOp::PreInc => format!("({of} += {parts})"),
                    StepOp::PreDec => format!("({of} -= {parts})"),
                    StepOp::PostInc => format!("(({of} += {parts}) - {parts})"),
                    StepOp::PostDec => format!("(({of} -= {parts}) + {parts})"),
                })
            }
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Unary(..)
            | ExprKind::Deref(_)
            | ExprKind::AddrOf(_)
            | ExprKind::Binary(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Assign(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Cast(..)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::Call(..)
            | ExprKind::Sizeof(_)
            | ExprKind::Alignof(_)
            | ExprKind::Offsetof(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::StmtExpr(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..) => None,
        }
    }
}
