//! Conversions: what C does to a value between where it is made and where it is used.
//!
//! Each change of type becomes a [`ExprKind::Cast`]; reading an object does not, its qualifiers
//! simply no longer count. Whether gcc refuses a conversion or only doubts it is decided here.

use ir::program::{CastKind, ExprId, ExprKind};
use ir::types::{Quals, Ty, TypeKind};
use source::Span;

use crate::Cx;
use crate::messages;

/// Where a value goes, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    Assign,
    Init,
    Return,
    /// Position from 1.
    Argument(usize),
}

/// What stands between a value and a type.
enum Doubt {
    None,
    PointerFromInteger,
    IntegerFromPointer,
    OtherPointee,
    LosesQualifiers,
    Refused,
}

impl Cx<'_> {
    /// The value of an expression: arrays and functions become pointers.
    pub(crate) fn decay(&mut self, expr: ExprId) -> ExprId {
        let ty = self.ty(expr);
        let (kind, to) = match self.shape(ty) {
            TypeKind::Array(elem, _) => {
                let quals = self.program.types.resolve(ty).quals;
                (CastKind::ArrayToPointer, elem.qualified(quals))
            }
            TypeKind::Function(_) => (CastKind::FunctionToPointer, ty),
            _ => return expr,
        };
        let pointer = self.program.types.pointer_to(to);
        let span = self.span(expr);
        self.make(ExprKind::Cast(kind, expr), pointer, span)
    }

    /// The type of the value of an expression: without qualifiers and `_Atomic`.
    pub(crate) fn value_ty(&self, expr: ExprId) -> Ty {
        self.unqualified(self.ty(expr))
    }

    /// Without qualifiers and `_Atomic`, typedef names kept where they say the same.
    pub(crate) fn unqualified(&self, ty: Ty) -> Ty {
        let resolved = self.program.types.resolve(ty);
        match self.program.types.kind(resolved.id) {
            TypeKind::Atomic(inner) => self.unqualified(*inner),
            _ if resolved.quals == ty.quals => ty.plain(),
            _ => resolved.plain(),
        }
    }

    /// Whether both are one type, names and top qualifiers aside.
    pub(crate) fn is_same(&self, a: Ty, b: Ty) -> bool {
        let types = &self.program.types;
        a.id == b.id || types.resolve(a).id == types.resolve(b).id
    }

    /// A conversion that C implies; nothing where the type is already right.
    pub(crate) fn convert(&mut self, expr: ExprId, to: Ty) -> ExprId {
        let from = self.value_ty(expr);
        if self.is_same(from, to) || self.is_error(from) || self.is_error(to) {
            return expr;
        }
        let (to, span) = (self.unqualified(to), self.span(expr));
        if let Some(constant) = self.narrowed(expr, to, span) {
            return constant;
        }
        self.make(ExprKind::Cast(CastKind::Implicit, expr), to, span)
    }

    /// Integer promotion of a value.
    pub(crate) fn promoted(&mut self, expr: ExprId) -> ExprId {
        let to = self.promoted_ty(expr);
        self.convert(expr, to)
    }

    pub(crate) fn promoted_ty(&self, expr: ExprId) -> Ty {
        let ty = self.value_ty(expr);
        match self.bit_field_width(expr) {
            Some(bits) => self.promote_bits(ty, bits),
            None => self.promote(ty),
        }
    }

    /// What an argument without a parameter becomes.
    pub(crate) fn default_argument(&mut self, expr: ExprId) -> ExprId {
        let to = match self.shape(self.ty(expr)) {
            TypeKind::Float(ir::types::FloatKind::Float) => self.basics.double,
            _ => self.promoted_ty(expr),
        };
        self.convert(expr, to)
    }

    /// A value that is tested for being zero; void and records are refused.
    pub(crate) fn condition(&mut self, expr: ExprId) -> ExprId {
        let expr = self.decay(expr);
        let ty = self.ty(expr);
        if !self.is_scalar(ty) && !self.is_error(ty) {
            let (shown, span) = (self.show(ty), self.span(expr));
            let fault = match self.is_void(ty) {
                true => messages::void_value(span),
                false => messages::not_scalar(&shown, span),
            };
            return self.refuse(fault, span);
        }
        expr
    }

    /// A value on its way into an object of type `to`.
    pub(crate) fn assign_to(&mut self, expr: ExprId, to: Ty, goal: Goal) -> ExprId {
        let expr = self.decay(expr);
        let from = self.value_ty(expr);
        if self.is_same(from, to) {
            return expr;
        }
        let span = self.span(expr);
        match self.doubt(expr, from, to) {
            Doubt::None => {}
            Doubt::Refused => {
                if self.is_void(from) {
                    return self.refuse(messages::void_value(span), span);
                }
                if let Some(member) = self.transparent_member(expr, to) {
                    let member = self.convert(expr, member);
                    return self.convert(member, to);
                }
                let (from, to) = (self.show(from), self.show(to));
                return self.refuse(messages::incompatible(goal, &to, &from, span), span);
            }
            Doubt::PointerFromInteger => {
                self.report(messages::pointer_from_integer(goal, span));
            }
            Doubt::IntegerFromPointer => {
                self.report(messages::integer_from_pointer(goal, span));
            }
            Doubt::OtherPointee => {
                let (from, to) = (self.show(from), self.show(to));
                self.report(messages::other_pointee(goal, &to, &from, span));
            }
            Doubt::LosesQualifiers => {
                let (from, to) = (self.show(from), self.show(to));
                self.report(messages::loses_qualifiers(goal, &to, &from, span));
            }
        }
        self.convert(expr, to)
    }

    fn doubt(&self, expr: ExprId, from: Ty, to: Ty) -> Doubt {
        use TypeKind as K;
        if self.is_error(from) || self.is_error(to) {
            return Doubt::None;
        }
        if self.is_arithmetic(to) && self.is_arithmetic(from) {
            return Doubt::None;
        }
        match (self.shape(to), self.shape(from)) {
            (K::Bool, K::Pointer(_)) => Doubt::None,
            (K::Pointer(to), K::Pointer(from)) => self.pointer_doubt(expr, *to, *from),
            // gcc refuses enumerations and `_Bool` here, of all integers.
            (K::Pointer(_), K::Int(_)) => match self.is_null(expr) {
                true => Doubt::None,
                false => Doubt::PointerFromInteger,
            },
            (_, K::Pointer(_)) if self.is_integer(to) => Doubt::IntegerFromPointer,
            (K::Vector(..), K::Vector(..)) if self.size_of(to) == self.size_of(from) => Doubt::None,
            (K::VaList, K::VaList) => Doubt::None,
            // On targets where it is an array, a parameter of this type is a pointer.
            (K::VaList, K::Pointer(_)) | (K::Pointer(_), K::VaList) => Doubt::None,
            _ if self.is_compatible(from, self.unqualified(to)) => Doubt::None,
            _ => Doubt::Refused,
        }
    }

    fn pointer_doubt(&self, expr: ExprId, to: Ty, from: Ty) -> Doubt {
        let (to_q, from_q) = (self.pointee_quals(to), self.pointee_quals(from));
        let is_void = |ty| self.is_void(ty);
        if !is_void(to) && !is_void(from) && !self.is_compatible(to.plain(), from.plain()) {
            // gcc passes over a difference of sign without -Wpointer-sign's help in most code.
            return match self.differ_in_sign(to, from) {
                true => Doubt::None,
                false if self.is_null(expr) => Doubt::None,
                false => Doubt::OtherPointee,
            };
        }
        let kept = Quals { is_restrict: true, ..to_q };
        let is_function = matches!(self.shape(from), TypeKind::Function(_));
        match kept.covers(from_q) || is_function || self.is_null(expr) {
            true => Doubt::None,
            false => Doubt::LosesQualifiers,
        }
    }

    /// The qualifiers of a pointee, those of an array's elements included.
    fn pointee_quals(&self, ty: Ty) -> Quals {
        let ty = self.program.types.resolve(ty);
        match self.program.types.kind(ty.id) {
            TypeKind::Array(elem, _) => ty.quals.with(self.pointee_quals(*elem)),
            _ => ty.quals,
        }
    }

    fn differ_in_sign(&self, a: Ty, b: Ty) -> bool {
        self.is_integer(a) && self.is_integer(b) && self.size_of(a) == self.size_of(b)
    }

    /// The member of a transparent union that takes this argument.
    fn transparent_member(&self, expr: ExprId, to: Ty) -> Option<Ty> {
        let TypeKind::Record(record) = self.shape(to) else { return None };
        let record = &self.program.types.records[*record];
        let from = self.value_ty(expr);
        let fields = record.fields.as_ref().filter(|_| record.transparent)?;
        let fits = |to: &Ty| matches!(self.doubt(expr, from, *to), Doubt::None);
        fields.iter().map(|it| it.ty).find(fits)
    }

    /// `(T) e`
    pub(crate) fn cast(&mut self, expr: ExprId, to: Ty, span: Span) -> ExprId {
        let expr = self.decay(expr);
        let from = self.value_ty(expr);
        if self.is_error(from) || self.is_error(to) {
            return self.make(ExprKind::Cast(CastKind::Explicit, expr), to, span);
        }
        if let Some(fault) = self.cast_fault(expr, from, to, span) {
            return self.refuse(fault, span);
        }
        let to = self.unqualified(to);
        if let Some(constant) = self.narrowed(expr, to, span) {
            return constant;
        }
        self.make(ExprKind::Cast(CastKind::Explicit, expr), to, span)
    }

    fn cast_fault(&self, expr: ExprId, from: Ty, to: Ty, span: Span) -> Option<source::Diagnostic> {
        use TypeKind as K;
        if self.is_void(to) {
            return None;
        }
        if self.is_void(from) {
            return Some(messages::void_value(self.span(expr)));
        }
        let (scalar_to, scalar_from) = (self.is_scalar(to), self.is_scalar(from));
        let fits = match (self.shape(to), self.shape(from)) {
            (K::Array(..) | K::Function(_), _) => false,
            (K::Record(_), _) => {
                // GNU: a cast to a union from the type of a member.
                self.is_compatible(from, to) || self.union_takes(to, from)
            }
            (K::Pointer(_), K::Float(_) | K::Complex(_) | K::ComplexInt(_))
            | (K::Float(_) | K::Complex(_), K::Pointer(_)) => false,
            (K::VaList, _) | (_, K::VaList) => true,
            (K::Vector(..), _) | (_, K::Vector(..)) => self.size_of(to) == self.size_of(from),
            _ => scalar_to && scalar_from,
        };
        (!fits).then(|| messages::cast_refused(&self.show(to), &self.show(from), span))
    }

    fn union_takes(&self, to: Ty, from: Ty) -> bool {
        let TypeKind::Record(record) = self.shape(to) else { return false };
        let record = &self.program.types.records[*record];
        let mut fields = record.fields.iter().flatten();
        record.is_union && fields.any(|it| self.is_compatible(self.unqualified(it.ty), from))
    }
}
