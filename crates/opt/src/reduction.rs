//! Variables that a loop only combines something into.
//!
//! In: a loop. Out: variables with their operator: every mention of the variable in the loop is part of
//! one of these statements, all with the same operator, and what is combined in does not mention it.
//!
//! ```c
//! s += e;   s -= e;   s = s + e;   s = e + s;   s++;   m = fmax(m, e);   m = e > m ? e : m;
//! if (e > m) m = e;
//! ```
//!
//! The order in which floating values are combined changes; this is what a reduction means.

use std::collections::{BTreeMap, BTreeSet};

use ir::construct::ReductionOp;
use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, Program, StmtId, StmtKind, Typed, VarId};
use ir::types::Ty;
use ir::walk::Part;

use crate::alias::called;
use crate::normal::Form;
use crate::scan::Scan;

/// An operator, and how many mentions of the variable it explains.
struct Step {
    var: VarId,
    op: ReductionOp<Typed>,
    mentions: usize,
}

/// The reductions of a loop, in the order of variables.
pub(crate) fn recognise(
    program: &Program,
    stmt: StmtId,
    scan: &Scan,
    form: &Form,
) -> Vec<(VarId, ReductionOp<Typed>)> {
    let mut found: BTreeMap<VarId, (ReductionOp<Typed>, usize)> = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for step in steps(program, stmt) {
        let entry = found.entry(step.var).or_insert_with(|| (step.op.clone(), 0));
        if entry.0 != step.op {
            refused.insert(step.var);
        }
        entry.1 += step.mentions;
    }
    found
        .into_iter()
        .filter(|(var, (_, mentions))| {
            !refused.contains(var)
                && *var != form.var
                && !scan.inner.contains(var)
                && scan.mentions.get(var) == Some(mentions)
        })
        .map(|(var, (op, _))| (var, op))
        .collect()
}

/// Statements of one of the forms.
fn steps(program: &Program, stmt: StmtId) -> Vec<Step> {
    let mut found = Vec::new();
    let mut stack = vec![Part::Stmt(stmt)];
    while let Some(part) = stack.pop() {
        if let Part::Stmt(id) = part {
            let cx = Cx { program };
            let kind = &program.stmts[id].kind;
            if let StmtKind::Expr(expr) = kind {
                found.extend(cx.assignment(*expr));
            } else if let StmtKind::For(it) = kind {
                found.extend(it.step.and_then(|it| cx.assignment(it)));
            } else if let StmtKind::If(cond, then, None) = kind
                && let Some(step) = cx.guarded(*cond, *then)
            {
                found.push(step);
                continue;
            }
        }
        program.parts(part, &mut |it| stack.push(it));
    }
    found
}

struct Cx<'a> {
    program: &'a Program,
}

impl Cx<'_> {
    fn kind(&self, id: ExprId) -> &ExprKind {
        &self.program.exprs[id].kind
    }

    /// A variable that may be reduced: a scalar that is not volatile or atomic.
    fn variable(&self, id: ExprId) -> Option<VarId> {
        let ExprKind::Var(var) = *self.kind(id) else { return None };
        let it = &self.program.vars[var];
        let types = &self.program.types;
        let is_plain =
            !types.resolve(it.ty).quals.is_volatile && !types.is_atomic(it.ty) && !it.thread_local;
        (is_plain && types.is_arithmetic(it.ty) && !types.is_bool(it.ty)).then_some(var)
    }

    fn is_var(&self, id: ExprId, var: VarId) -> bool {
        matches!(*self.kind(id), ExprKind::Var(it) if it == var)
    }

    fn mentions(&self, id: ExprId, var: VarId) -> bool {
        Scan::of(self.program, &[Part::Expr(id)]).mentions.contains_key(&var)
    }

    fn has_effects(&self, id: ExprId) -> bool {
        let scan = Scan::of(self.program, &[Part::Expr(id)]);
        !scan.writes.is_empty() || !scan.inner.is_empty()
    }

    /// Whether values are combined in a type in which that may be done in any order: an integer
    /// must not be rounded to a whole number each time.
    fn combines_in(&self, var: VarId, computed: Ty) -> bool {
        let types = &self.program.types;
        let ty = self.program.vars[var].ty;
        if types.is_integer(ty) { types.is_integer(computed) } else { true }
    }

    fn assignment(&self, id: ExprId) -> Option<Step> {
        if let ExprKind::Step(_, to) = *self.kind(id) {
            let var = self.variable(to)?;
            return Some(Step { var, op: ReductionOp::Add, mentions: 1 });
        }
        if let ExprKind::AssignOp(op, to, by, computed) = *self.kind(id) {
            let var = self.variable(to)?;
            let op = operator(op)?;
            let fits = self.combines_in(var, computed) && !self.mentions(by, var);
            return fits.then_some(Step { var, op, mentions: 1 });
        }
        let ExprKind::Assign(to, value) = *self.kind(id) else { return None };
        let var = self.variable(to)?;
        let value = self.unconverted(value, var);
        if let Some(step) = self.extreme(var, value) {
            return Some(step);
        }
        if let ExprKind::And(a, b) | ExprKind::Or(a, b) = *self.kind(value) {
            let is_and = matches!(self.kind(value), ExprKind::And(..));
            let op = if is_and { ReductionOp::And } else { ReductionOp::Or };
            let a = self.untested(a);
            // What stands behind is evaluated or not, so it must not do anything.
            let fits = self.is_var(a, var) && !self.mentions(b, var) && !self.has_effects(b);
            return (fits && self.program.types.is_integer(self.program.vars[var].ty))
                .then_some(Step { var, op, mentions: 2 });
        }
        self.chain(var, value)
    }

    /// `s + a + b`: the variable once, at the left end of a chain or on the right of a sum.
    fn chain(&self, var: VarId, value: ExprId) -> Option<Step> {
        let mut at = value;
        let mut op: Option<ReductionOp<Typed>> = None;
        loop {
            let ExprKind::Binary(binary, a, b) = *self.kind(at) else { return None };
            let this = operator(binary)?;
            if op.as_ref().is_some_and(|it| *it != this)
                || !self.combines_in(var, self.program.exprs[at].ty)
            {
                return None;
            }
            op = Some(this.clone());
            let (a, b) = (self.unconverted(a, var), self.unconverted(b, var));
            let commutes = binary != BinaryOp::Sub;
            let (with, without) = match (self.mentions(a, var), self.mentions(b, var)) {
                (true, false) => (a, b),
                (false, true) if commutes => (b, a),
                _ => return None,
            };
            let _ = without;
            if self.is_var(with, var) {
                return Some(Step { var, op: this, mentions: 2 });
            }
            at = with;
        }
    }

    /// Behind conversions between types of the same kind, floating or not.
    fn unconverted(&self, id: ExprId, var: VarId) -> ExprId {
        let types = &self.program.types;
        let ty = self.program.vars[var].ty;
        let mut at = id;
        while let ExprKind::Cast(CastKind::Implicit | CastKind::Explicit, inner) = *self.kind(at) {
            let from = self.program.exprs[inner].ty;
            let same = types.is_integer(ty) == types.is_integer(from)
                && types.is_integer(from) == types.is_integer(self.program.exprs[at].ty);
            if !same || !types.is_arithmetic(from) {
                break;
            }
            at = inner;
        }
        at
    }

    /// Behind `!= 0`.
    fn untested(&self, id: ExprId) -> ExprId {
        let mut at = id;
        loop {
            if let ExprKind::Cast(CastKind::Implicit, inner) = *self.kind(at) {
                at = inner;
            } else if let ExprKind::Binary(BinaryOp::Ne, a, b) = *self.kind(at)
                && crate::normal::constant(self.program, b) == Some(0)
            {
                at = a;
            } else {
                return at;
            }
        }
    }

    /// `m = fmax(m, e)`, `m = e > m ? e : m`
    fn extreme(&self, var: VarId, value: ExprId) -> Option<Step> {
        if let ExprKind::Call(callee, args) = self.kind(value) {
            let op = extreme_of(self.program, *callee)?;
            let &[a, b] = args.as_ref() else { return None };
            let (a, b) = (self.same_value(a, var), self.same_value(b, var));
            let fits = (self.is_var(a, var) && !self.mentions(b, var))
                || (self.is_var(b, var) && !self.mentions(a, var));
            let is_floating = self.program.types.is_real_floating(self.program.vars[var].ty);
            return (fits && is_floating).then_some(Step { var, op, mentions: 2 });
        }
        let ExprKind::Conditional(cond, Some(then), other) = *self.kind(value) else { return None };
        let (then, other) = (self.same_value(then, var), self.same_value(other, var));
        // `e > m ? e : m` takes the other one when the test fails.
        let (taken, kept_if) = if self.is_var(other, var) {
            (then, false)
        } else if self.is_var(then, var) {
            (other, true)
        } else {
            return None;
        };
        let op = self.comparison(cond, taken, var, kept_if)?;
        Some(Step { var, op, mentions: 3 })
    }

    /// `if (e > m) m = e;`
    fn guarded(&self, cond: ExprId, then: StmtId) -> Option<Step> {
        let mut at = then;
        while let StmtKind::Block(stmts) = &self.program.stmts[at].kind {
            let &[only] = stmts.as_ref() else { return None };
            at = only;
        }
        let StmtKind::Expr(expr) = self.program.stmts[at].kind else { return None };
        let ExprKind::Assign(to, value) = *self.kind(expr) else { return None };
        let var = self.variable(to)?;
        let op = self.comparison(cond, self.same_value(value, var), var, false)?;
        Some(Step { var, op, mentions: 2 })
    }

    /// Behind conversions that change no value of the variable's own type.
    fn same_value(&self, id: ExprId, var: VarId) -> ExprId {
        let types = &self.program.types;
        let mut at = id;
        while let ExprKind::Cast(CastKind::Implicit, inner) = *self.kind(at) {
            let (from, to) = (self.program.exprs[inner].ty, self.program.exprs[at].ty);
            let is_wider = self.program.model.size_of(types, from).ok()
                <= self.program.model.size_of(types, to).ok();
            let same = types.is_real_floating(from) && types.is_real_floating(to) && is_wider
                || types.is_integer(from)
                    && types.is_integer(to)
                    && is_wider
                    && self.signed(from) == self.signed(to);
            if !same || !types.is_real(self.program.vars[var].ty) {
                break;
            }
            at = inner;
        }
        at
    }

    fn signed(&self, ty: Ty) -> Option<bool> {
        self.program.types.integer_kind(ty).map(|it| self.program.model.int_signed(it))
    }

    /// Whether a comparison of `taken` with the variable finds a smaller or a larger value; the
    /// variable keeps its value when the comparison comes out as `kept_if`.
    fn comparison(
        &self,
        cond: ExprId,
        taken: ExprId,
        var: VarId,
        kept_if: bool,
    ) -> Option<ReductionOp<Typed>> {
        let ExprKind::Binary(op, a, b) = *self.kind(cond) else { return None };
        let (a, b) = (self.same_value(a, var), self.same_value(b, var));
        let taken_first = self.is_var(b, var) && self.same(a, taken);
        let taken_last = self.is_var(a, var) && self.same(b, taken);
        if !(taken_first || taken_last) || self.mentions(taken, var) || self.has_effects(taken) {
            return None;
        }
        let is_less = match op {
            BinaryOp::Lt | BinaryOp::Le => true,
            BinaryOp::Gt | BinaryOp::Ge => false,
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => return None,
        };
        // Taken is less, it is first, and it is taken when that is so: the minimum.
        let is_min = is_less == taken_first && !kept_if || is_less != taken_first && kept_if;
        Some(if is_min { ReductionOp::Min } else { ReductionOp::Max })
    }

    /// Whether two expressions are the same, computed twice.
    fn same(&self, a: ExprId, b: ExprId) -> bool {
        let mut stack = vec![(a, b)];
        while let Some((a, b)) = stack.pop() {
            let (x, y) = (self.kind(a), self.kind(b));
            if let ExprKind::Call(..) | ExprKind::StmtExpr(_) = x {
                return false;
            }
            let (mut of_x, mut of_y) = (Vec::new(), Vec::new());
            x.parts(&self.program.types, &mut |it| of_x.push(it));
            y.parts(&self.program.types, &mut |it| of_y.push(it));
            if of_x.is_empty() && of_y.is_empty() {
                if x != y {
                    return false;
                }
                continue;
            }
            let alike = std::mem::discriminant(x) == std::mem::discriminant(y)
                && of_x.len() == of_y.len()
                && self.program.exprs[a].ty == self.program.exprs[b].ty
                && same_head(x, y);
            if !alike {
                return false;
            }
            for (x, y) in of_x.into_iter().zip(of_y) {
                let (Part::Expr(x), Part::Expr(y)) = (x, y) else { return false };
                stack.push((x, y));
            }
        }
        true
    }
}

/// Whether two expressions of one kind have the same operator or member.
fn same_head(x: &ExprKind, y: &ExprKind) -> bool {
    match (x, y) {
        (ExprKind::Unary(a, _), ExprKind::Unary(b, _)) => a == b,
        (ExprKind::Binary(a, ..), ExprKind::Binary(b, ..)) => a == b,
        (ExprKind::Member(_, of_a, a), ExprKind::Member(_, of_b, b)) => (of_a, a) == (of_b, b),
        (ExprKind::Cast(..), ExprKind::Cast(..))
        | (ExprKind::Index(..), ExprKind::Index(..))
        | (ExprKind::Deref(_), ExprKind::Deref(_)) => true,
        _ => false,
    }
}

/// Operators that combine in any order.
fn operator(op: BinaryOp) -> Option<ReductionOp<Typed>> {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Some(ReductionOp::Add),
        BinaryOp::Mul => Some(ReductionOp::Mul),
        BinaryOp::BitAnd => Some(ReductionOp::BitAnd),
        BinaryOp::BitOr => Some(ReductionOp::BitOr),
        BinaryOp::BitXor => Some(ReductionOp::BitXor),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Lt
        | BinaryOp::Gt
        | BinaryOp::Le
        | BinaryOp::Ge
        | BinaryOp::Eq
        | BinaryOp::Ne => None,
    }
}

/// Which of its two arguments a function answers, if it is `fmax` or `fmin` of some type.
pub fn extreme_of(program: &Program, callee: ExprId) -> Option<ReductionOp<Typed>> {
    let function = called(program, callee)?;
    let name = program.names.text(program.functions[function].name);
    match name.strip_prefix("__builtin_").unwrap_or(name) {
        "fmax" | "fmaxf" | "fmaxl" => Some(ReductionOp::Max),
        "fmin" | "fminf" | "fminl" => Some(ReductionOp::Min),
        _ => None,
    }
}
