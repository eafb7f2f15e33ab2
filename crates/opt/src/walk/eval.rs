//! Expressions: their values as polynomials and places, their reads and writes noted.
//!
//! Signed arithmetic that would overflow is undefined, so it is exact. Unsigned arithmetic goes round:
//! it is exact only where the facts show that it does not. With 64 bits a sum or product of
//! subscripts that goes round would need an object larger than memory; a difference is not
//! believed without proof.

use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, StepOp, UnaryOp, VarId};
use ir::types::{IntKind, Ty};
use source::Span;

use super::state::Val;
use super::{Held, Walk};
use crate::access::{Base, Place};
use crate::alias::called;
use crate::effects::{self, Target};
use crate::finding::Reason;
use crate::normal;
use crate::poly::{Poly, Value};
use crate::system::System;

impl Walk<'_> {
    /// Evaluates an expression, once.
    pub(super) fn eval(&mut self, id: ExprId) -> Val {
        let program = self.program;
        let expr = &program.exprs[id];
        let (ty, span) = (expr.ty, expr.span);
        match &expr.kind {
            ExprKind::Error => {
                self.obstacle(Reason::Faulty, span);
                Val::Other
            }
            ExprKind::Int(_) | ExprKind::EnumConst(..) => match normal::constant(program, id) {
                Some(value) => Val::Int(Poly::constant(value)),
                None => self.anything(ty),
            },
            ExprKind::Sizeof(of) => match program.model.size_of(&program.types, *of) {
                Ok(size) => Val::Int(Poly::constant(i128::from(size))),
                Err(_) => self.parts_then_anything(id),
            },
            ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::Alignof(_)
            | ExprKind::Offsetof(..)
            | ExprKind::LabelAddr(_) => self.anything(ty),
            ExprKind::Str(_) | ExprKind::Function(_) => Val::Addr(Place::start(Base::Nowhere)),
            ExprKind::Var(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::CompoundLiteral(_) => self.load(id),
            ExprKind::AddrOf(of) => Val::Addr(self.place(*of)),
            ExprKind::Unary(op, inner) => {
                let value = self.eval(*inner);
                match (op, value) {
                    (UnaryOp::Plus, value) => value,
                    (UnaryOp::Minus, Val::Int(it)) => self.arithmetic(it.negated(), ty),
                    (
                        UnaryOp::Minus
                        | UnaryOp::Not
                        | UnaryOp::BitNot
                        | UnaryOp::Real
                        | UnaryOp::Imag,
                        _,
                    ) => self.anything(ty),
                }
            }
            ExprKind::Step(op, to) => {
                let to = self.lvalue(*to);
                let old = self.read(&to, ty, span);
                let by = match op {
                    StepOp::PreInc | StepOp::PostInc => 1,
                    StepOp::PreDec | StepOp::PostDec => -1,
                };
                let new = self.stepped(&old, by, ty);
                self.write(to, new.clone(), ty, span);
                match op {
                    StepOp::PreInc | StepOp::PreDec => new,
                    StepOp::PostInc | StepOp::PostDec => old,
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.eval(*a), self.eval(*b));
                let types = (program.exprs[*a].ty, program.exprs[*b].ty);
                self.binary(*op, (left, types.0), (right, types.1), ty)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.eval(*a);
                let before = self.state.clone();
                self.assume(*a, matches!(expr.kind, ExprKind::And(..)));
                self.branch(|walk| walk.eval(*b));
                self.join(before);
                self.anything(ty)
            }
            ExprKind::Assign(to, value) => {
                let value = self.eval(*value);
                let to = self.lvalue(*to);
                self.write(to, value.clone(), ty, span);
                value
            }
            ExprKind::AssignOp(op, to, by, computed) => {
                let by_ty = program.exprs[*by].ty;
                let by = self.eval(*by);
                let to = self.lvalue(*to);
                let old = self.read(&to, ty, span);
                let new = match old {
                    Val::Int(it) => {
                        let it = self.converted(it, ty, *computed);
                        let new =
                            self.binary(*op, (Val::Int(it), *computed), (by, by_ty), *computed);
                        match new {
                            Val::Int(new) => Val::Int(self.converted(new, *computed, ty)),
                            Val::Addr(_) | Val::Other => self.anything(ty),
                        }
                    }
                    Val::Addr(_) => self.binary(*op, (old, ty), (by, by_ty), ty),
                    Val::Other => self.anything(ty),
                };
                self.write(to, new.clone(), ty, span);
                new
            }
            ExprKind::Conditional(cond, then, other) => {
                self.eval(*cond);
                let before = self.state.clone();
                self.assume(*cond, true);
                let yes = match then {
                    Some(then) => self.branch(|walk| walk.eval(*then)),
                    None => self.anything(ty),
                };
                let after = std::mem::replace(&mut self.state, before);
                self.assume(*cond, false);
                let no = self.branch(|walk| walk.eval(*other));
                self.join(after);
                if yes == no { yes } else { self.anything(ty) }
            }
            ExprKind::Comma(a, b) => {
                self.eval(*a);
                self.eval(*b)
            }
            ExprKind::Cast(kind, inner) => self.cast(*kind, *inner, ty),
            ExprKind::Call(callee, args) => {
                self.call(*callee, args, span);
                self.anything(ty)
            }
            ExprKind::StmtExpr(body) => {
                self.stmt(*body);
                self.anything(ty)
            }
            ExprKind::VaArg(_) => {
                self.obstacle(Reason::UnknownCall, span);
                self.anything(ty)
            }
            ExprKind::ConvertVector(_) | ExprKind::Section(_) | ExprKind::Shaped(..) => {
                self.parts_then_anything(id)
            }
        }
    }

    /// An integer expression's value.
    pub(super) fn int(&mut self, id: ExprId) -> Poly {
        match self.eval(id) {
            Val::Int(value) => value,
            Val::Addr(_) | Val::Other => self.fresh(),
        }
    }

    fn parts_then_anything(&mut self, id: ExprId) -> Val {
        let expr = &self.program.exprs[id];
        let mut inner = Vec::new();
        expr.kind.parts(&self.program.types, &mut |part| {
            if let ir::walk::Part::Expr(it) = part {
                inner.push(it);
            }
        });
        inner.into_iter().for_each(|it| _ = self.eval(it));
        self.anything(expr.ty)
    }

    /// The right side of `a = b`.
    pub(super) fn assigned_value(&self, id: ExprId) -> Option<ExprId> {
        if let ExprKind::Assign(_, value) = self.program.exprs[id].kind {
            Some(value)
        } else {
            None
        }
    }

    fn stepped(&mut self, old: &Val, by: i128, ty: Ty) -> Val {
        match old {
            Val::Int(it) => {
                let new = it.plus(by);
                self.arithmetic(new, ty)
            }
            Val::Addr(place) => match self.program.types.pointee(ty) {
                Some(to) => Val::Addr(place.clone().moved(self.program, &Poly::constant(by), to)),
                None => Val::Other,
            },
            Val::Other => Val::Other,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: (Val, Ty), right: (Val, Ty), ty: Ty) -> Val {
        match (left, right) {
            ((Val::Int(a), _), (Val::Int(b), _)) => self.integers(op, &a, &b, ty),
            ((Val::Addr(place), of), (Val::Int(by), _)) => {
                let by = match op {
                    BinaryOp::Add => Some(by),
                    BinaryOp::Sub => by.negated(),
                    BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::Lt
                    | BinaryOp::Gt
                    | BinaryOp::Le
                    | BinaryOp::Ge
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::BitAnd
                    | BinaryOp::BitXor
                    | BinaryOp::BitOr => None,
                };
                match (by, self.program.types.pointee(of)) {
                    (Some(by), Some(to)) => Val::Addr(place.moved(self.program, &by, to)),
                    _ => self.anything(ty),
                }
            }
            ((Val::Int(by), _), (Val::Addr(place), of)) if op == BinaryOp::Add => {
                match self.program.types.pointee(of) {
                    Some(to) => Val::Addr(place.moved(self.program, &by, to)),
                    None => self.anything(ty),
                }
            }
            ((Val::Int(_) | Val::Addr(_) | Val::Other, _), _) => self.anything(ty),
        }
    }

    fn integers(&mut self, op: BinaryOp, a: &Poly, b: &Poly, ty: Ty) -> Val {
        match op {
            BinaryOp::Add => self.arithmetic(a.add(b), ty),
            BinaryOp::Mul => self.arithmetic(a.mul(b), ty),
            BinaryOp::Sub => match self.unsigned(ty) {
                Some(kind) => {
                    let difference = a.sub(b);
                    match difference {
                        Some(it) if self.fits(&it, kind) => Val::Int(it),
                        Some(_) | None => self.anything(ty),
                    }
                }
                None => self.arithmetic(a.sub(b), ty),
            },
            BinaryOp::Shl => match b.as_constant() {
                Some(by @ 0..=62) => self.arithmetic(a.scaled(1 << by), ty),
                Some(_) | None => self.anything(ty),
            },
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr | BinaryOp::BitAnd => {
                match (a.as_constant(), b.as_constant()) {
                    (Some(a), Some(b)) if a >= 0 && b > 0 && op == BinaryOp::Div => {
                        Val::Int(Poly::constant(a / b))
                    }
                    (Some(a), Some(b)) if a >= 0 && b > 0 && op == BinaryOp::Rem => {
                        Val::Int(Poly::constant(a % b))
                    }
                    _ if a.is_invariant() && b.is_invariant() => {
                        let at = self.held(Held::Computed(op, a.clone(), b.clone()));
                        Val::Int(Poly::atom(Value::Held(at)))
                    }
                    _ => self.anything(ty),
                }
            }
            BinaryOp::BitXor
            | BinaryOp::BitOr
            | BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => self.anything(ty),
        }
    }

    /// A sum, product or negation in a type.
    fn arithmetic(&mut self, exact: Option<Poly>, ty: Ty) -> Val {
        let Some(exact) = exact else { return self.anything(ty) };
        let Some(kind) = self.unsigned(ty) else { return Val::Int(exact) };
        let is_wide = self.program.model.int_bits(kind) >= 64;
        let grows = exact.terms().all(|(_, factor)| factor >= 0);
        if (is_wide && grows) || self.fits(&exact, kind) {
            Val::Int(exact)
        } else {
            self.anything(ty)
        }
    }

    fn unsigned(&self, ty: Ty) -> Option<IntKind> {
        let kind = self.program.types.integer_kind(ty)?;
        (!self.program.model.int_signed(kind)).then_some(kind)
    }

    /// Whether a value is within the range of a type.
    fn fits(&self, value: &Poly, kind: IntKind) -> bool {
        let (low, high) = self.program.model.int_range(kind);
        let above = value.plus(low.wrapping_neg());
        let below = Poly::constant(high).sub(value);
        above.is_some_and(|it| self.proves(&it)) && below.is_some_and(|it| self.proves(&it))
    }

    /// Whether the facts show that something is not negative.
    fn proves(&self, poly: &Poly) -> bool {
        let mut bounds = self.state.facts.as_ref().clone();
        let mut known = std::collections::BTreeSet::new();
        let atoms: Vec<_> = poly.atoms().chain(bounds.iter().flat_map(Poly::atoms)).collect();
        for atom in atoms {
            if let Value::Entry(var) = atom.value
                && known.insert(var)
            {
                bounds.extend(self.range(var));
            }
        }
        System { zero: Vec::new(), at_least_zero: bounds }.implies_at_least_zero(poly)
    }

    /// What the type of a variable says of its value.
    fn range(&self, var: VarId) -> Vec<Poly> {
        let Some(kind) = self.program.types.integer_kind(self.program.vars[var].ty) else {
            return Vec::new();
        };
        let (low, high) = self.program.model.int_range(kind);
        let value = Poly::atom(Value::Entry(var));
        let bounds = [value.plus(low.wrapping_neg()), Poly::constant(high).sub(&value)];
        bounds.into_iter().flatten().collect()
    }

    /// A value converted from one integer type to another.
    fn converted(&mut self, value: Poly, from: Ty, to: Ty) -> Poly {
        let types = &self.program.types;
        let (Some(from), Some(to)) = (types.integer_kind(from), types.integer_kind(to)) else {
            return self.fresh();
        };
        let model = self.program.model;
        let ((low, high), (to_low, to_high)) = (model.int_range(from), model.int_range(to));
        if (to_low <= low && high <= to_high) || self.fits(&value, to) {
            value
        } else if value.is_invariant() && !self.is_entry {
            // The same in all iterations, whatever it is.
            let sign = i128::from(model.int_signed(to));
            let kind = Poly::constant(i128::from(model.int_bits(to)) * 2 + sign);
            let at = self.held(Held::Computed(BinaryOp::BitXor, value, kind));
            Poly::atom(Value::Held(at))
        } else {
            self.fresh()
        }
    }

    fn cast(&mut self, kind: CastKind, inner: ExprId, ty: Ty) -> Val {
        let program = self.program;
        match kind {
            CastKind::ArrayToPointer => {
                let array = program.exprs[inner].ty;
                let place = self.place(inner);
                match program.types.element(array) {
                    Some(element) if !place.anywhere => Val::Addr(place.element(
                        program,
                        Poly::default(),
                        element,
                        self.extent(array),
                    )),
                    Some(_) | None => Val::Addr(place),
                }
            }
            CastKind::FunctionToPointer => Val::Addr(Place::start(Base::Nowhere)),
            CastKind::Explicit | CastKind::Implicit => {
                let from = program.exprs[inner].ty;
                match self.eval(inner) {
                    Val::Int(value) if program.types.is_integer(ty) => {
                        Val::Int(self.converted(value, from, ty))
                    }
                    Val::Addr(place) if program.types.is_pointer(ty) => Val::Addr(place),
                    Val::Int(_) | Val::Addr(_) | Val::Other => self.anything(ty),
                }
            }
        }
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId], span: Span) {
        let program = self.program;
        let function = called(program, callee);
        if function.is_none() {
            self.eval(callee);
        }
        let values: Vec<Val> = args.iter().map(|&it| self.eval(it)).collect();
        let Some(function) = function else {
            return self.obstacle(Reason::IndirectCall, span);
        };
        let q = self.q;
        let stop = match q.effects.of(function) {
            Some(summary) => summary.stop,
            None => Some(Reason::UnknownCall),
        };
        if let Some(reason) = stop {
            if self.quiet == 0 {
                self.body.obstacles.push(effects::obstacle(program, function, reason, span));
            }
            return;
        }
        let Some(summary) = q.effects.of(function) else { return };
        for (targets, writes) in [(&summary.reads, false), (&summary.writes, true)] {
            for target in targets {
                let base = match *target {
                    Target::Var(var) => {
                        // A copy that an iteration has for itself is not seen by what it calls.
                        let is_counter = q.form.is_some_and(|it| it.var == var)
                            || q.scan.writes.contains_key(&var);
                        if self.is_own(var) || is_counter || q.reduced.contains(&var) {
                            let reason = Reason::EffectCall;
                            let it = effects::obstacle(program, function, reason, span);
                            self.body.obstacles.push(it);
                        }
                        Base::Var(var)
                    }
                    Target::Param(at) => match values.get(at as usize) {
                        Some(Val::Addr(place)) => place.base,
                        Some(Val::Int(_) | Val::Other) | None => Base::Unknown,
                    },
                    Target::Any => Base::Unknown,
                };
                self.touch(Place::anywhere(base), None, writes, span);
            }
        }
    }

    /// Whether evaluating an expression changes nothing and calls nothing.
    pub(super) fn is_pure(&self, expr: ExprId) -> bool {
        let mut stack = vec![expr];
        while let Some(id) = stack.pop() {
            let kind = &self.program.exprs[id].kind;
            if let ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Step(..)
            | ExprKind::Call(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::VaArg(_)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Error = kind
            {
                return false;
            }
            kind.parts(&self.program.types, &mut |part| {
                if let ir::walk::Part::Expr(it) = part {
                    stack.push(it);
                }
            });
        }
        true
    }

    /// Believes that a condition is true or false.
    pub(super) fn assume(&mut self, cond: ExprId, truth: bool) {
        if !self.is_pure(cond) {
            return;
        }
        let mut stack = vec![(cond, truth)];
        while let Some((id, truth)) = stack.pop() {
            let kind = &self.program.exprs[id].kind;
            if let ExprKind::Unary(UnaryOp::Not, inner) = *kind {
                stack.push((inner, !truth));
            } else if let ExprKind::And(a, b) = *kind {
                if truth {
                    stack.extend([(a, true), (b, true)]);
                }
            } else if let ExprKind::Or(a, b) = *kind {
                if !truth {
                    stack.extend([(a, false), (b, false)]);
                }
            } else if let ExprKind::Cast(_, inner) = *kind {
                if self.program.types.is_integer(self.program.exprs[inner].ty)
                    && matches!(
                        self.program.exprs[inner].kind,
                        ExprKind::Binary(..)
                            | ExprKind::And(..)
                            | ExprKind::Or(..)
                            | ExprKind::Unary(UnaryOp::Not, _)
                    )
                    && self.is_truth(inner)
                {
                    stack.push((inner, truth));
                }
            } else if let ExprKind::Binary(op, a, b) = *kind {
                self.assume_comparison(op, a, b, truth);
            }
        }
    }

    /// Whether an expression is 0 or 1 by its form.
    fn is_truth(&self, id: ExprId) -> bool {
        let kind = &self.program.exprs[id].kind;
        if let ExprKind::Binary(op, ..) = kind {
            return matches!(
                op,
                BinaryOp::Lt
                    | BinaryOp::Gt
                    | BinaryOp::Le
                    | BinaryOp::Ge
                    | BinaryOp::Eq
                    | BinaryOp::Ne
            );
        }
        matches!(kind, ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Unary(UnaryOp::Not, _))
    }

    fn assume_comparison(&mut self, op: BinaryOp, a: ExprId, b: ExprId, truth: bool) {
        let is_int = |id: ExprId| self.program.types.is_integer(self.program.exprs[id].ty);
        if !self.is_truth_operator(op) || !is_int(a) || !is_int(b) {
            return;
        }
        let (a, b) = self.quietly(|walk| (walk.int(a), walk.int(b)));
        // low <= high - gap
        let at_most =
            |low: &Poly, high: &Poly, gap: i128| high.sub(low).and_then(|it| it.plus(-gap));
        let (less, facts): (bool, Vec<Option<Poly>>) = match (op, truth) {
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (true, vec![at_most(&a, &b, 1)]),
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (true, vec![at_most(&a, &b, 0)]),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (true, vec![at_most(&b, &a, 1)]),
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (true, vec![at_most(&b, &a, 0)]),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                (true, vec![at_most(&a, &b, 0), at_most(&b, &a, 0)])
            }
            _ => (false, Vec::new()),
        };
        if less {
            facts.into_iter().flatten().for_each(|it| self.state.learn(it));
        }
    }

    fn is_truth_operator(&self, op: BinaryOp) -> bool {
        matches!(
            op,
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        )
    }
}
