//! Operators with two operands, assignments and the conditional.

use ir::program::{BinaryOp, ExprId, ExprKind};
use ir::types::{Ty, TypeKind};
use source::Span;
use syntax::ast;
use syntax::ast::BinaryOp as Op;

use crate::Cx;
use crate::convert::Goal;
use crate::messages;

impl Cx<'_> {
    pub(super) fn binary(
        &mut self,
        op: Op,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
    ) -> ExprId {
        let Some(op) = both_computed(op) else { return self.special(op, left, right, span) };
        let left = self.value(left);
        let right = self.value(right);
        self.operate(op, left, right, span)
    }

    /// `&&`, `||` and the comma.
    fn special(&mut self, op: Op, left: ast::ExprId, right: ast::ExprId, span: Span) -> ExprId {
        let left = self.value(left);
        if op == Op::Comma {
            let right = self.value(right);
            let ty = self.value_ty(right);
            return self.make(ExprKind::Comma(left, right), ty, span);
        }
        let left = self.condition(left);
        let right = self.value(right);
        let right = self.condition(right);
        let ty = self.basics.int;
        let kind = match op {
            Op::And => ExprKind::And(left, right),
            _ => ExprKind::Or(left, right),
        };
        self.make(kind, ty, span)
    }

    /// `left op right`, both of them values.
    pub(crate) fn operate(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> ExprId {
        let (a, b) = (self.ty(left), self.ty(right));
        if self.is_error(a) || self.is_error(b) {
            return self.wrong(span);
        }
        if self.is_arithmetic(a) && self.is_arithmetic(b) {
            return self.arithmetic(op, left, right, span);
        }
        if let Some(expr) = self.vectors(op, left, right, span) {
            return expr;
        }
        if let Some(expr) = self.pointers(op, left, right, span) {
            return expr;
        }
        self.refuse_operands(op, left, right, span)
    }

    fn refuse_operands(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> ExprId {
        let (a, b) = (self.ty(left), self.ty(right));
        let void = [left, right].into_iter().find(|it| self.is_void(self.ty(*it)));
        let fault = match void {
            Some(void) => messages::void_value(self.span(void)),
            None => messages::invalid_operands(spelling(op), &self.show(a), &self.show(b), span),
        };
        self.refuse(fault, span)
    }

    fn arithmetic(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> ExprId {
        use BinaryOp as O;
        let (a, b) = (self.ty(left), self.ty(right));
        let (integers, complex) =
            (self.is_integer(a) && self.is_integer(b), self.is_complex(a) || self.is_complex(b));
        let fits = match op {
            O::Mul | O::Div | O::Add | O::Sub | O::Eq | O::Ne => true,
            O::Rem | O::Shl | O::Shr | O::BitAnd | O::BitXor | O::BitOr => integers,
            O::Lt | O::Gt | O::Le | O::Ge => !complex,
        };
        if !fits {
            return self.refuse_operands(op, left, right, span);
        }
        if matches!(op, O::Shl | O::Shr) {
            let left = self.promoted(left);
            let right = self.promoted(right);
            let ty = self.value_ty(left);
            return self.make(ExprKind::Binary(op, left, right), ty, span);
        }
        let common = self.common_ty(left, right);
        let left = self.convert(left, common);
        let right = self.convert(right, common);
        let ty = match is_comparison(op) {
            true => self.basics.int,
            false => common,
        };
        self.make(ExprKind::Binary(op, left, right), ty, span)
    }

    /// The usual arithmetic conversions of two values.
    pub(crate) fn common_ty(&mut self, left: ExprId, right: ExprId) -> Ty {
        let (a, b) = (self.promoted_ty(left), self.promoted_ty(right));
        self.usual(a, b)
    }

    fn vectors(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> Option<ExprId> {
        use BinaryOp as O;
        let (a, b) = (self.value_ty(left), self.value_ty(right));
        let (is_a, is_b) = (self.is_vector(a), self.is_vector(b));
        let ty = match (is_a, is_b) {
            (true, true) if self.size_of(a) == self.size_of(b) => a,
            (true, false) if self.is_arithmetic(b) => a,
            (false, true) if self.is_arithmetic(a) => b,
            _ => return None,
        };
        let elem = self.vector_element(ty)?;
        let needs_integers =
            matches!(op, O::Rem | O::Shl | O::Shr | O::BitAnd | O::BitXor | O::BitOr);
        if needs_integers && !self.is_integer(elem) {
            return None;
        }
        let left = self.convert(left, ty);
        let right = self.convert(right, ty);
        let ty = if is_comparison(op) { self.comparison_vector(ty) } else { ty };
        Some(self.make(ExprKind::Binary(op, left, right), ty, span))
    }

    /// Comparing vectors gives a vector of integers as wide as the elements.
    pub(crate) fn comparison_vector(&mut self, ty: Ty) -> Ty {
        let TypeKind::Vector(elem, lanes) = *self.shape(ty) else { return self.basics.int };
        let bits = self.size_of(elem).unwrap_or(4) * 8;
        let kind = self.program.model.int_of(bits as u32, true).unwrap_or(ir::types::IntKind::Int);
        let elem = self.program.types.get(TypeKind::Int(kind));
        self.program.types.get(TypeKind::Vector(elem, lanes))
    }

    fn pointers(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Option<ExprId> {
        use BinaryOp as O;
        let (a, b) = (self.value_ty(left), self.value_ty(right));
        let (to_a, to_b) = (self.pointee(a), self.pointee(b));
        match (op, to_a, to_b) {
            (O::Add | O::Sub, Some(to), None) if self.is_integer(b) => {
                self.require_known_size(to, span);
                Some(self.make(ExprKind::Binary(op, left, right), a, span))
            }
            (O::Add, None, Some(to)) if self.is_integer(a) => {
                self.require_known_size(to, span);
                Some(self.make(ExprKind::Binary(op, left, right), b, span))
            }
            (O::Sub, Some(x), Some(y)) => {
                if !self.is_compatible(self.unqualified(x), self.unqualified(y)) {
                    return None;
                }
                self.require_known_size(x, span);
                let ty = self.basics.ptrdiff;
                Some(self.make(ExprKind::Binary(op, left, right), ty, span))
            }
            (O::Eq | O::Ne | O::Lt | O::Gt | O::Le | O::Ge, ..)
                if to_a.is_some() || to_b.is_some() =>
            {
                self.compare_pointers(op, left, right, span)
            }
            _ => None,
        }
    }

    fn compare_pointers(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Option<ExprId> {
        let (a, b) = (self.value_ty(left), self.value_ty(right));
        let (mut left, mut right) = (left, right);
        match (self.pointee(a), self.pointee(b)) {
            (Some(x), Some(y)) => {
                let fits = self.is_void(x)
                    || self.is_void(y)
                    || self.is_compatible(self.unqualified(x), self.unqualified(y))
                    || self.is_null(left)
                    || self.is_null(right);
                if !fits {
                    let (a, b) = (self.show(a), self.show(b));
                    self.report(messages::pointer_mismatch("comparison", &a, &b, span));
                }
                if self.is_void(x) || !self.is_void(y) {
                    right = self.convert(right, a);
                } else {
                    left = self.convert(left, b);
                }
            }
            (Some(_), None) if self.is_integer(b) => {
                if !self.is_null(right) {
                    let (a, b) = (self.show(a), self.show(b));
                    self.report(messages::pointer_mismatch("comparison", &a, &b, span));
                }
                right = self.convert(right, a);
            }
            (None, Some(_)) if self.is_integer(a) => {
                if !self.is_null(left) {
                    let (a, b) = (self.show(a), self.show(b));
                    self.report(messages::pointer_mismatch("comparison", &a, &b, span));
                }
                left = self.convert(left, b);
            }
            _ => return None,
        }
        let ty = self.basics.int;
        Some(self.make(ExprKind::Binary(op, left, right), ty, span))
    }

    pub(super) fn assign(&mut self, left: ast::ExprId, right: ast::ExprId, span: Span) -> ExprId {
        let left = self.expr(left);
        let right = self.value(right);
        if !self.require_writable(left, "assignment") {
            return self.wrong(span);
        }
        let ty = self.ty(left);
        self.require_complete(ty, "assigned object", span);
        let right = self.assign_to(right, ty, Goal::Assign);
        let ty = self.unqualified(ty);
        self.make(ExprKind::Assign(left, right), ty, span)
    }

    pub(super) fn assign_op(
        &mut self,
        op: Op,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
    ) -> ExprId {
        let left = self.expr(left);
        let right = self.value(right);
        let Some(op) = both_computed(op) else { return self.wrong(span) };
        if !self.require_writable(left, "assignment") || self.is_error(self.ty(right)) {
            return self.wrong(span);
        }
        // The operation is typed as if it stood alone; its nodes then fall away.
        let result = self.operate(op, left, right, span);
        let ExprKind::Binary(_, _, right) = self.program.exprs[result].kind else { return result };
        let computed = self.ty(result);
        let ty = self.value_ty(left);
        let fits = self.is_same(computed, ty)
            || self.is_arithmetic(computed) && self.is_arithmetic(ty)
            || self.is_vector(computed) && self.size_of(computed) == self.size_of(ty)
            || self.pointee(computed).is_some() && self.pointee(ty).is_some();
        if !fits {
            if self.is_scalar(computed) && self.is_scalar(ty) {
                // gcc only doubts `integer -= pointer` and the like.
                self.report(messages::integer_from_pointer(Goal::Assign, span));
            } else {
                return self.refuse_operands(op, left, right, span);
            }
        }
        self.make(ExprKind::AssignOp(op, left, right, computed), ty, span)
    }

    pub(super) fn conditional(
        &mut self,
        cond: ast::ExprId,
        yes: Option<ast::ExprId>,
        no: ast::ExprId,
        span: Span,
    ) -> ExprId {
        let cond = self.value(cond);
        if self.is_vector(self.ty(cond)) {
            let yes = yes.map(|it| self.value(it));
            let no = self.value(no);
            let ty = self.value_ty(yes.unwrap_or(cond));
            return self.make(ExprKind::Conditional(cond, yes, no), ty, span);
        }
        let cond = self.condition(cond);
        let yes_value = yes.map(|it| self.value(it));
        let no = self.value(no);
        let first = yes_value.unwrap_or(cond);
        let Some(ty) = self.choice_ty(first, no, span) else { return self.wrong(span) };
        let is_void = self.is_void(ty);
        let mut fit = |it: ExprId| if is_void { it } else { self.convert(it, ty) };
        let yes = yes_value.map(&mut fit);
        let no = fit(no);
        self.make(ExprKind::Conditional(cond, yes, no), ty, span)
    }

    /// The type of `c ? yes : no`.
    fn choice_ty(&mut self, yes: ExprId, no: ExprId, span: Span) -> Option<Ty> {
        let (a, b) = (self.value_ty(yes), self.value_ty(no));
        if self.is_error(a) || self.is_error(b) {
            return None;
        }
        if self.is_arithmetic(a) && self.is_arithmetic(b) {
            return Some(if self.is_same(a, b) && self.is_same(a, self.promoted_ty(yes)) {
                a
            } else {
                self.common_ty(yes, no)
            });
        }
        if self.is_void(a) || self.is_void(b) {
            return Some(self.basics.void);
        }
        match (self.pointee(a), self.pointee(b)) {
            (Some(x), Some(y)) => Some(self.pointer_choice((yes, a, x), (no, b, y), span)),
            (Some(_), None) if self.is_integer(b) => {
                self.doubt_choice(no, a, b, span);
                Some(a)
            }
            (None, Some(_)) if self.is_integer(a) => {
                self.doubt_choice(yes, a, b, span);
                Some(b)
            }
            _ if self.is_compatible(a, b) => Some(a),
            _ if self.is_vector(a) && self.is_vector(b) => Some(a),
            _ => {
                let fault = messages::invalid_operands("?:", &self.show(a), &self.show(b), span);
                self.report(fault);
                None
            }
        }
    }

    fn doubt_choice(&mut self, integer: ExprId, a: Ty, b: Ty, span: Span) {
        if !self.is_null(integer) {
            let (a, b) = (self.show(a), self.show(b));
            self.report(messages::pointer_mismatch("`?:`", &a, &b, span));
        }
    }

    /// Of two pointers: the one that is not null, `void *`, or what both are, with all qualifiers.
    fn pointer_choice(
        &mut self,
        (yes, a, x): (ExprId, Ty, Ty),
        (no, b, y): (ExprId, Ty, Ty),
        span: Span,
    ) -> Ty {
        if self.is_null(no) && self.is_void(y) {
            return a;
        }
        if self.is_null(yes) && self.is_void(x) {
            return b;
        }
        let types = &self.program.types;
        let quals = types.resolve(x).quals.with(types.resolve(y).quals);
        let (plain_x, plain_y) = (self.unqualified(x), self.unqualified(y));
        let to = if self.is_compatible(plain_x, plain_y) {
            self.composite(plain_x, plain_y)
        } else if self.is_void(x) || self.is_void(y) {
            self.basics.void
        } else {
            let (a, b) = (self.show(a), self.show(b));
            self.report(messages::pointer_mismatch("`?:`", &a, &b, span));
            return self.basics.void_ptr;
        };
        self.program.types.pointer_to(to.qualified(quals))
    }
}

fn both_computed(op: Op) -> Option<BinaryOp> {
    Some(match op {
        Op::Mul => BinaryOp::Mul,
        Op::Div => BinaryOp::Div,
        Op::Rem => BinaryOp::Rem,
        Op::Add => BinaryOp::Add,
        Op::Sub => BinaryOp::Sub,
        Op::Shl => BinaryOp::Shl,
        Op::Shr => BinaryOp::Shr,
        Op::Lt => BinaryOp::Lt,
        Op::Gt => BinaryOp::Gt,
        Op::Le => BinaryOp::Le,
        Op::Ge => BinaryOp::Ge,
        Op::Eq => BinaryOp::Eq,
        Op::Ne => BinaryOp::Ne,
        Op::BitAnd => BinaryOp::BitAnd,
        Op::BitXor => BinaryOp::BitXor,
        Op::BitOr => BinaryOp::BitOr,
        Op::And | Op::Or | Op::Comma => return None,
    })
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp as O;
    matches!(op, O::Lt | O::Gt | O::Le | O::Ge | O::Eq | O::Ne)
}

fn spelling(op: BinaryOp) -> &'static str {
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
