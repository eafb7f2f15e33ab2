//! Which of the conversions in the program C makes by itself.
//!
//! In: an expression and where it stands. Out: the expression to print there: the same, or what is
//! under its [`CastKind::Implicit`], if C would convert that to the same type. In doubt the
//! conversion is written.

use ir::program::{CastKind, ExprId, ExprKind};
use ir::types::{Ty, TypeKind};

use syntax::print::Level;

use super::Printer;

impl Printer<'_> {
    pub(super) fn ty(&self, expr: ExprId) -> Option<Ty> {
        self.program.exprs.find(expr).map(|it| it.ty)
    }

    /// What an implied conversion converts.
    fn under(&self, expr: ExprId) -> Option<ExprId> {
        let node = self.program.exprs.find(expr)?;
        if let ExprKind::Cast(CastKind::Implicit, inner) = node.kind { Some(inner) } else { None }
    }

    /// The same type, names and top qualifiers aside.
    fn is_same(&self, a: Ty, b: Ty) -> bool {
        self.value_shape(a) == self.value_shape(b)
    }

    fn value_shape(&self, ty: Ty) -> &TypeKind {
        self.program.types.shape(ty)
    }

    /// A value on its way into an object of type `to`: an assignment, argument, initialiser or
    /// result.
    pub(super) fn assigned(&self, expr: ExprId, to: Ty) -> ExprId {
        let (Some(inner), Some(ty)) = (self.under(expr), self.ty(expr)) else { return expr };
        if self.is_same(ty, to) && self.is_silent(inner, ty) { inner } else { expr }
    }

    /// The same as text, where nothing looser than `least` may stand: where pointers to arrays of computed length are
    /// others, what leads to one is converted.
    pub(super) fn put_assigned(&self, expr: ExprId, to: Ty, least: Level, out: &mut String) {
        let inner = self.assigned(expr, to);
        let types = &self.program.types;
        let is_computed = |ty: Ty| types.is_pointer(ty) && types.is_variably_modified(ty);
        if self.grid.is_some()
            && let Some(from) = self.ty(inner)
            && (is_computed(to) || is_computed(from))
            && self.type_name(to.plain()) != self.type_name(from.plain())
        {
            out.push_str(&format!("({})", self.type_name(to.plain())));
            return out.push_str(&self.operand(inner, Level::Cast));
        }
        out.push_str(&self.operand(inner, least));
    }

    /// An argument that no parameter is declared for.
    pub(super) fn passed(&self, expr: ExprId) -> ExprId {
        let (Some(inner), Some(ty)) = (self.under(expr), self.ty(expr)) else { return expr };
        let Some(from) = self.ty(inner) else { return expr };
        let types = &self.program.types;
        let became = match types.is_real_floating(from) {
            true => Some(self.program.model.promote_argument(types, from)),
            false => self.promoted(inner),
        };
        if became.as_ref() == Some(types.shape(ty)) { inner } else { expr }
    }

    /// The operand of an operator that promotes it.
    pub(super) fn promoted_operand(&self, expr: ExprId) -> ExprId {
        let (Some(inner), Some(ty)) = (self.under(expr), self.ty(expr)) else { return expr };
        match self.promoted(inner) {
            Some(kind) if kind == *self.program.types.shape(ty) => inner,
            _ => expr,
        }
    }

    /// The operands of an operator that brings them to a common type.
    pub(super) fn balanced(&self, a: ExprId, b: ExprId) -> (ExprId, ExprId) {
        if self.is_record_there(a) || self.is_record_there(b) {
            return (a, b);
        }
        let (under_a, under_b) = (self.under(a).unwrap_or(a), self.under(b).unwrap_or(b));
        for (x, y) in [(under_a, under_b), (under_a, b), (a, under_b)] {
            if (x, y) != (a, b) && self.gives(x, y, a) && self.gives(x, y, b) {
                return (x, y);
            }
        }
        (a, b)
    }

    /// Whether a number is a record in this language, which converts nothing to others by itself.
    fn is_record_there(&self, e: ExprId) -> bool {
        self.is_cpp() && self.ty(e).is_some_and(|it| self.program.types.is_complex(it))
    }

    /// Whether C brings `x` and `y` to the type of `wanted`.
    fn gives(&self, x: ExprId, y: ExprId, wanted: ExprId) -> bool {
        let (Some(x), Some(y), Some(wanted)) =
            (self.promoted(x), self.promoted(y), self.ty(wanted))
        else {
            return false;
        };
        let common = self.program.model.common(&x, &y);
        common.is_some_and(|it| it == *self.program.types.shape(wanted))
    }

    /// The right side of `a op= b`, which is computed in type `within`.
    pub(super) fn balanced_right(&self, a: ExprId, b: ExprId, within: Ty) -> ExprId {
        let Some(inner) = self.under(b).filter(|_| !self.is_record_there(b)) else { return b };
        let (Some(x), Some(y)) = (self.promoted(a), self.promoted(inner)) else { return b };
        let common = self.program.model.common(&x, &y);
        let agrees = common.is_some_and(|it| it == *self.program.types.shape(within));
        let is_meant = self.ty(b).is_some_and(|it| self.is_same(it, within));
        if agrees && is_meant { inner } else { b }
    }

    /// Pointers that are compared: one side may be null or point to anything.
    pub(super) fn compared(&self, a: ExprId, b: ExprId) -> (ExprId, ExprId) {
        let strip = |it: ExprId, other: ExprId| {
            let inner = self.under(it)?;
            let ty = self.ty(it)?;
            let is_pointer = |it| self.ty(it).is_some_and(|it| self.program.types.is_pointer(it));
            (is_pointer(other) && self.is_silent(inner, ty)).then_some(inner)
        };
        match (strip(a, b), strip(b, a)) {
            (Some(a), None) => (a, b),
            (None, Some(b)) => (a, b),
            (Some(_), Some(_)) | (None, None) => (a, b),
        }
    }

    /// The promoted type of an arithmetic value.
    fn promoted(&self, expr: ExprId) -> Option<TypeKind> {
        let node = self.program.exprs.find(expr)?;
        let types = &self.program.types;
        if !types.is_arithmetic(node.ty) {
            return None;
        }
        let model = self.program.model;
        if let ExprKind::Member(_, record, at) = node.kind {
            let fields = types.records.find(record)?.fields.as_ref()?;
            if let Some(bits) = fields.get(at as usize)?.bits {
                // Of fields wider than `int` gcc makes types of their own; left alone, it does again.
                return Some(model.promote_bit_field(types, node.ty, bits));
            }
        }
        Some(model.promote(types, node.ty))
    }

    /// Whether C converts to `to` in an assignment without a word, in any mode of the language.
    fn is_silent(&self, from: ExprId, to: Ty) -> bool {
        let types = &self.program.types;
        let Some(node) = self.program.exprs.find(from) else { return false };
        if types.is_arithmetic(to) && types.is_arithmetic(node.ty) {
            return !self.is_record_there(from) || types.is_complex(to);
        }
        if types.is_bool(to) {
            return types.is_scalar(node.ty);
        }
        let Some(to) = types.pointee(to) else {
            // A value for one member of a transparent union.
            return types.is_record(to);
        };
        if matches!(node.kind, ExprKind::Int(0)) && types.integer_kind(node.ty).is_some() {
            return true;
        }
        let Some(from) = types.pointee(node.ty) else { return false };
        let (to, from) = (types.resolve(to), types.resolve(from));
        let is_void = types.is_void(to) || types.is_void(from) && !self.is_cpp();
        let functions = types.is_function(to) || types.is_function(from);
        to.quals.covers(from.quals)
            && (is_void && !functions || types.compatible(to.plain(), from.plain()))
    }
}
