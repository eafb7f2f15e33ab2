//! Operators with one operand.

use ir::program::{ExprId, ExprKind, StepOp, UnaryOp};
use ir::types::{Ty, TypeKind};
use source::Span;
use syntax::ast;
use syntax::ast::UnaryOp as Op;

use crate::Cx;
use crate::messages;

impl Cx<'_> {
    pub(super) fn unary(&mut self, op: Op, operand: ast::ExprId, span: Span) -> ExprId {
        match op {
            Op::Plus => self.sign(UnaryOp::Plus, "+", operand, span),
            Op::Minus => self.sign(UnaryOp::Minus, "-", operand, span),
            Op::BitNot => self.sign(UnaryOp::BitNot, "~", operand, span),
            Op::Not => {
                let operand = self.value(operand);
                if let TypeKind::Vector(..) = self.shape(self.ty(operand)) {
                    let ty = self.comparison_vector(self.ty(operand));
                    return self.make(ExprKind::Unary(UnaryOp::Not, operand), ty, span);
                }
                let operand = self.condition(operand);
                let ty = self.basics.int;
                self.make(ExprKind::Unary(UnaryOp::Not, operand), ty, span)
            }
            Op::Deref => self.deref(operand, span),
            Op::AddrOf => self.address_of(operand, span),
            Op::PreInc => self.step(StepOp::PreInc, operand, span),
            Op::PreDec => self.step(StepOp::PreDec, operand, span),
            Op::PostInc => self.step(StepOp::PostInc, operand, span),
            Op::PostDec => self.step(StepOp::PostDec, operand, span),
            Op::Real => self.part(UnaryOp::Real, "__real__", operand, span),
            Op::Imag => self.part(UnaryOp::Imag, "__imag__", operand, span),
            Op::Extension => self.expr(operand),
        }
    }

    /// `+e`, `-e`, `~e`
    fn sign(&mut self, op: UnaryOp, word: &str, operand: ast::ExprId, span: Span) -> ExprId {
        let operand = self.value(operand);
        let ty = self.value_ty(operand);
        let fits = match (op, self.shape(ty)) {
            (_, TypeKind::Error | TypeKind::Vector(..)) => true,
            // On a complex number, `~` is its conjugate.
            (UnaryOp::BitNot, TypeKind::Float(_)) => false,
            _ => self.is_arithmetic(ty),
        };
        if !fits {
            let fault = match self.is_void(ty) {
                true => messages::void_value(span),
                false => messages::invalid_operand(word, &self.show(ty), span),
            };
            return self.refuse(fault, span);
        }
        let operand = self.promoted(operand);
        let ty = self.value_ty(operand);
        self.make(ExprKind::Unary(op, operand), ty, span)
    }

    /// `__real__ e`: an object if `e` is one.
    fn part(&mut self, op: UnaryOp, word: &str, operand: ast::ExprId, span: Span) -> ExprId {
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        let part = match self.shape(ty) {
            TypeKind::Complex(kind) => Some(TypeKind::Float(*kind)),
            TypeKind::ComplexInt(kind) => Some(TypeKind::Int(*kind)),
            _ => None,
        };
        let part = match part {
            Some(kind) => {
                let quals = self.program.types.resolve(ty).quals;
                self.program.types.get(kind).qualified(quals)
            }
            None if self.is_arithmetic(ty) || self.is_error(ty) => self.value_ty(operand),
            None => {
                let fault = messages::invalid_operand(word, &self.show(ty), span);
                return self.refuse(fault, span);
            }
        };
        self.make(ExprKind::Unary(op, operand), part, span)
    }

    fn deref(&mut self, operand: ast::ExprId, span: Span) -> ExprId {
        let operand = self.value(operand);
        let ty = self.ty(operand);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        let Some(to) = self.pointee(ty) else {
            let fault = messages::invalid_operand("*", &self.show(ty), span);
            return self.refuse(fault, span);
        };
        self.make(ExprKind::Deref(operand), to, span)
    }

    fn address_of(&mut self, operand: ast::ExprId, span: Span) -> ExprId {
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        let is_function = matches!(self.shape(ty), TypeKind::Function(_));
        if !is_function && !self.is_lvalue(operand) && !self.is_array(ty) {
            return self.refuse(messages::not_lvalue("`&`", span), span);
        }
        self.refuse_bit_field(operand, "address");
        self.refuse_register(operand, span);
        let pointer = self.program.types.pointer_to(ty);
        self.make(ExprKind::AddrOf(operand), pointer, span)
    }

    /// A variable in a register, or a part of one, has no address.
    fn refuse_register(&mut self, operand: ExprId, span: Span) {
        let mut at = operand;
        loop {
            at = match self.program.exprs[at].kind {
                ExprKind::Member(base, ..) => base,
                ExprKind::Unary(UnaryOp::Real | UnaryOp::Imag, base) => base,
                ExprKind::Index(base, _) if self.is_array(self.ty(base)) => base,
                ExprKind::Var(var) if self.registers.contains(&var) => {
                    let it = &self.program.vars[var];
                    let name = it.name.map_or("", |it| self.program.names.text(it));
                    let fault = messages::register_address(name, span, it.span);
                    return self.report(fault);
                }
                _ => return,
            };
        }
    }

    fn step(&mut self, op: StepOp, operand: ast::ExprId, span: Span) -> ExprId {
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        let (word, what) = match op {
            StepOp::PreInc | StepOp::PostInc => ("++", "increment"),
            StepOp::PreDec | StepOp::PostDec => ("--", "decrement"),
        };
        let is_vector = matches!(self.shape(ty), TypeKind::Vector(..));
        if !self.is_scalar(ty) && !is_vector {
            let fault = messages::invalid_operand(word, &self.show(ty), span);
            return self.refuse(fault, span);
        }
        if !self.require_writable(operand, what) {
            return self.wrong(span);
        }
        if let Some(to) = self.pointee(ty) {
            self.require_known_size(to, span);
        }
        let ty = self.value_ty(operand);
        self.make(ExprKind::Step(op, operand), ty, span)
    }

    /// Whether an expression is an object.
    pub(crate) fn is_lvalue(&self, expr: ExprId) -> bool {
        match &self.program.exprs[expr].kind {
            ExprKind::Var(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Str(_)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..)
            | ExprKind::Error => true,
            ExprKind::Member(base, ..) | ExprKind::Unary(UnaryOp::Real | UnaryOp::Imag, base) => {
                self.is_lvalue(*base)
            }
            _ => false,
        }
    }

    /// Whether an expression may be assigned to; reports if not.
    pub(crate) fn require_writable(&mut self, expr: ExprId, what: &str) -> bool {
        let (ty, span) = (self.ty(expr), self.span(expr));
        if self.is_error(ty) {
            return false;
        }
        if !self.is_lvalue(expr) || self.is_array(ty) {
            self.report(messages::not_lvalue(what, span));
            return false;
        }
        if self.is_const(ty) {
            let what = match &self.program.exprs[expr].kind {
                ExprKind::Var(var) => match self.program.vars[*var].name {
                    Some(name) => format!("`{}`", self.program.names.text(name)),
                    None => "this object".to_owned(),
                },
                ExprKind::Member(_, record, at) => match self.field_name(*record, *at) {
                    Some(name) => format!("member `{}`", self.program.names.text(name)),
                    None => "this member".to_owned(),
                },
                _ => "this object".to_owned(),
            };
            self.report(messages::read_only(&what, span));
            return false;
        }
        true
    }

    /// Whether the object or, for records, any of its members is `const`.
    fn is_const(&self, ty: Ty) -> bool {
        if self.program.types.resolve(ty).quals.is_const {
            return true;
        }
        match self.shape(ty) {
            TypeKind::Record(record) => {
                let fields = self.program.types.records[*record].fields.iter().flatten();
                fields.into_iter().any(|it| self.is_const(it.ty))
            }
            TypeKind::Array(elem, _) => self.is_const(*elem),
            _ => false,
        }
    }

    pub(crate) fn refuse_bit_field(&mut self, expr: ExprId, what: &str) {
        if let ExprKind::Member(_, record, at) = self.program.exprs[expr].kind
            && self.bit_field_width(expr).is_some()
        {
            let name = self.field_name(record, at).map(|it| self.program.names.text(it));
            let fault =
                messages::bit_field_address(what, name.unwrap_or_default(), self.span(expr));
            self.report(fault);
        }
    }
}
