//! Which elements of which object a transfer is about, and how many bytes that is.
//!
//! In: what a region maps of a variable. Out: a [`Shape`]: the object, and for each dimension the first
//! element and their number, as polynomials over variables as they are at the entry of the region.

use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, Program, VarId};
use ir::types::{ArrayLen, Ty, TypeKind};

use crate::access::Base;
use crate::normal;
use crate::poly::{Poly, Value};

/// Part of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) base: Base,
    /// First element and number of elements of each dimension, outermost first; none where it is not known.
    pub(crate) dims: Option<Vec<(Poly, Poly)>>,
    /// What an element is.
    pub(crate) element: Ty,
}

impl Shape {
    /// What an item of a clause means; the whole variable if there is none.
    pub(crate) fn new(program: &Program, var: VarId, item: Option<ExprId>) -> Option<Shape> {
        let declared = &program.vars[var];
        let types = &program.types;
        let Some(item) = item else {
            let (of, first) = match types.pointee(declared.ty) {
                // A parameter that was declared as an array.
                Some(of) => (of, Some(length(program, declared.declared_len.as_ref()?))),
                None => (declared.ty, None),
            };
            let base = if first.is_some() { Base::Pointee(var) } else { Base::Var(var) };
            let first = first.map(|it| it.map(|it| (Poly::default(), it)));
            return Shape::of(program, base, first.into_iter().collect(), of);
        };
        let mut sections = Vec::new();
        let mut at = item;
        loop {
            let expr = &program.exprs[at];
            if let ExprKind::Section(it) = &expr.kind {
                sections.push((it.lower, it.length, it.stride.is_none()));
                at = it.base;
            } else if let ExprKind::Cast(CastKind::ArrayToPointer | CastKind::Implicit, inner) =
                expr.kind
            {
                at = inner;
            } else if let ExprKind::Var(it) = expr.kind {
                if it != var || sections.is_empty() {
                    return None;
                }
                break;
            } else {
                return None;
            }
        }
        sections.reverse();
        let mut ty = declared.ty;
        let mut dims = Vec::new();
        let base = if types.is_pointer(ty) { Base::Pointee(var) } else { Base::Var(var) };
        for (lower, count, is_dense) in sections {
            let (inner, within) = match (types.shape(ty), types.pointee(ty)) {
                (_, Some(to)) if dims.is_empty() => (to, None),
                (TypeKind::Array(of, len), None) => (*of, length(program, len)),
                (_, _) => return None,
            };
            let first = lower.map_or(Some(Poly::default()), |it| polynomial(program, it));
            let rest = || within?.sub(first.as_ref()?);
            let count = count.map_or_else(rest, |it| polynomial(program, it));
            dims.push(first.clone().zip(count).filter(|_| is_dense));
            ty = inner;
        }
        Shape::of(program, base, dims, ty)
    }

    /// With the dimensions that are left of the type.
    fn of(
        program: &Program,
        base: Base,
        mut dims: Vec<Option<(Poly, Poly)>>,
        ty: Ty,
    ) -> Option<Shape> {
        let mut element = ty;
        while let TypeKind::Array(of, len) = program.types.shape(element) {
            dims.push(length(program, len).map(|it| (Poly::default(), it)));
            element = *of;
        }
        Some(Shape { base, dims: dims.into_iter().collect(), element: element.plain() })
    }

    /// How many bytes, if that is known.
    pub(crate) fn bytes(&self, program: &Program) -> Option<Poly> {
        let size = program.model.size_of(&program.types, self.element).ok()?;
        let start = Poly::constant(i128::from(size));
        self.dims.as_ref()?.iter().try_fold(start, |product, it| product.mul(&it.1))
    }
}

fn length(program: &Program, len: &ArrayLen) -> Option<Poly> {
    match len {
        ArrayLen::Known(len) => Some(Poly::constant(i128::from(*len))),
        ArrayLen::Unknown => None,
        ArrayLen::Variable(len) => polynomial(program, (*len)?),
    }
}

/// An expression over whole numbers, as long as nothing in it can be cut off.
pub(crate) fn polynomial(program: &Program, expr: ExprId) -> Option<Poly> {
    if let Some(value) = normal::constant(program, expr) {
        return Some(Poly::constant(value));
    }
    let size = |it: ExprId| {
        let ty = program.exprs[it].ty;
        let is_integer = program.types.is_integer(ty);
        program.model.size_of(&program.types, ty).ok().filter(|_| is_integer)
    };
    let kind = &program.exprs[expr].kind;
    if let ExprKind::Var(var) = *kind {
        size(expr)?;
        return Some(Poly::atom(Value::Entry(var)));
    }
    if let ExprKind::Sizeof(ty) = *kind {
        let size = program.model.size_of(&program.types, ty).ok()?;
        return Some(Poly::constant(i128::from(size)));
    }
    if let ExprKind::Cast(CastKind::Implicit | CastKind::Explicit, inner) = *kind {
        return if size(inner)? <= size(expr)? { polynomial(program, inner) } else { None };
    }
    let ExprKind::Binary(op, a, b) = *kind else { return None };
    let (a, b) = (polynomial(program, a)?, polynomial(program, b)?);
    if op == BinaryOp::Add {
        a.add(&b)
    } else if op == BinaryOp::Sub {
        a.sub(&b)
    } else if op == BinaryOp::Mul {
        a.mul(&b)
    } else {
        None
    }
}
