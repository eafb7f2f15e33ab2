//! Integer expressions as sums of products of variables, by which subscripts and bounds are compared.
//!
//! In: an expression of signed integers. Out: a [`Poly`], if all in it stays as it is while a loop runs, or counts for one of
//! its loops.

use std::collections::BTreeMap;

use ir::program::{BinaryOp, ExprId, ExprKind, Program, UnaryOp, VarId};
use rustc_hash::FxHashSet;

/// A sum of products of variables and constants; the empty product is the constant.
pub(super) type Poly = BTreeMap<Vec<VarId>, i64>;

/// What is known of variables.
pub(super) struct Terms<'a> {
    pub(super) program: &'a Program,
    /// Variables that count for the loops.
    pub(super) counters: &'a [VarId],
    /// Variables that the loops change.
    pub(super) changed: &'a FxHashSet<VarId>,
    /// Variables that nothing else can reach.
    pub(super) own: &'a dyn Fn(VarId) -> bool,
}

impl Terms<'_> {
    /// An expression of signed integers as a polynomial of variables that stay, and counters.
    pub(super) fn poly(&self, e: ExprId) -> Option<Poly> {
        let program = self.program;
        let expr = &program.exprs[e];
        let kind = program.types.integer_kind(expr.ty)?;
        if !program.model.int_signed(kind) {
            return None;
        }
        match &expr.kind {
            ExprKind::Int(value) => Some(constant(*value)),
            ExprKind::EnumConst(..) => kernel::count::constant(program, e).map(constant),
            ExprKind::Var(var) => {
                let stays = !self.changed.contains(var) && (self.own)(*var);
                (stays || self.counters.contains(var)).then(|| variable(*var))
            }
            ExprKind::Cast(_, of) => {
                let from = program.types.integer_kind(program.exprs[*of].ty)?;
                let widens = program.model.int_bits(kind) >= program.model.int_bits(from);
                if widens { self.poly(*of) } else { None }
            }
            ExprKind::Unary(UnaryOp::Plus, of) => self.poly(*of),
            ExprKind::Unary(UnaryOp::Minus, of) => product(&self.poly(*of)?, &constant(-1)),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.poly(*a)?, self.poly(*b)?);
                match op {
                    BinaryOp::Add => sum(a, &b),
                    BinaryOp::Sub => difference(a, &b),
                    BinaryOp::Mul => product(&a, &b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// A number.
pub(super) fn constant(value: i64) -> Poly {
    let mut poly = Poly::new();
    if value != 0 {
        poly.insert(Vec::new(), value);
    }
    poly
}

/// A variable.
pub(super) fn variable(var: VarId) -> Poly {
    Poly::from([(vec![var], 1)])
}

/// The number that a polynomial is, if it is one.
pub(super) fn number(poly: &Poly) -> Option<i64> {
    match poly.iter().next() {
        None => Some(0),
        Some((vars, by)) if vars.is_empty() && poly.len() == 1 => Some(*by),
        Some(_) => None,
    }
}

/// `a + b`
pub(super) fn sum(mut a: Poly, b: &Poly) -> Option<Poly> {
    for (vars, by) in b {
        let entry = a.entry(vars.clone()).or_insert(0);
        *entry = entry.checked_add(*by)?;
    }
    a.retain(|_, it| *it != 0);
    Some(a)
}

/// `a - b`
pub(super) fn difference(a: Poly, b: &Poly) -> Option<Poly> {
    sum(a, &product(b, &constant(-1))?)
}

/// `a * b`
pub(super) fn product(a: &Poly, b: &Poly) -> Option<Poly> {
    let mut made = Poly::new();
    for (x, by) in a {
        for (y, with) in b {
            let mut vars: Vec<VarId> = x.iter().chain(y).copied().collect();
            vars.sort_unstable();
            made = sum(made, &Poly::from([(vars, by.checked_mul(*with)?)]))?;
        }
    }
    Some(made)
}
