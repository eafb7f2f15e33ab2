//! Stretches: iterations that follow each other along the last loop of a nest, while the others stand.
//!
//! In: a shared loop and the block of its iterations that a thread has. Out: a loop over stretches, and in it one along
//! each, which counts in the type of the user's variable, so that compilers see what lies side by side in memory. Lanes
//! may share it where nothing but memory could make iterations meet: that they may run side by side is known.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, VarId};
use ir::types::Ty;
use ir::walk::Part;
use kernel::{Block, Loop, LoopKind, Share, Stmt, StmtKind, count, intrinsic, walk};
use rustc_hash::FxHashSet;

use super::nest::iteration_code;
use super::numbering::{Counted, Nest, Sharing, forever};
use super::{Cx, Result};

/// A stretch is no further from its first iteration to its last.
const FAR: i64 = 1 << 30;

/// The last loop of a nest, along which stretches go.
struct Row {
    counted: Counted,
    ty: Ty,
    step: i64,
}

impl Sharing<'_, '_> {
    /// The iterations from `begin` to `end` in stretches; gives the loop back if its last variable does not count so.
    pub(super) fn stretches(
        &mut self,
        share: Share,
        nest: Nest,
        (begin, end): (VarId, VarId),
        total: VarId,
        out: &mut Block,
    ) -> Result<Option<(Share, Nest)>> {
        let span = self.span;
        let Some(step) = share.dims.last().and_then(|it| self.constant_step(it)) else {
            return Ok(Some((share, nest)));
        };
        let Nest::Even(mut outer) = nest else { return Ok(Some((share, nest))) };
        let Some(counted) = outer.pop() else { return Ok(Some((share, Nest::Even(outer)))) };
        let ty = self.cx.program.vars[counted.var].ty.plain();
        let row = Row { counted, ty, step };
        let [at, run] = ["at", "run"].map(|it| self.number(it, out));
        let from = self.cx.build(span).var(begin);
        self.set(at, from, out);
        let mut body = Block::new();
        let base = match outer.is_empty() {
            true => at,
            false => {
                let [around, base] = ["row", "base"].map(|it| self.number(it, &mut body));
                let build = &mut self.cx.build(span);
                let (all, trips) = (build.var(at), build.var(row.counted.trips));
                let value = intrinsic::quotient(build, all, trips);
                self.set(around, value, &mut body);
                let build = &mut self.cx.build(span);
                let (rows, trips) = (build.var(around), build.var(row.counted.trips));
                let before = build.binary(BinaryOp::Mul, rows, trips);
                let value = build.binary(BinaryOp::Sub, all, before);
                self.set(base, value, &mut body);
                self.place(&Nest::Even(outer), around, &mut body)?;
                base
            }
        };
        let value = {
            let build = &mut self.cx.build(span);
            let (at, end, base) = (build.var(at), build.var(end), build.var(base));
            let left = build.binary(BinaryOp::Sub, end, at);
            let trips = build.var(row.counted.trips);
            let of_row = build.binary(BinaryOp::Sub, trips, base);
            let least = build.min(left, of_row);
            let most = build.number(FAR / row.step.abs() + 1);
            build.min(least, most)
        };
        self.set(run, value, &mut body);
        let start = self.cx.fresh("start", row.ty, self.space, span, &mut body);
        let build = &mut self.cx.build(span);
        let first = build.var(base);
        let first = row.counted.value(build, first);
        self.set(start, first, &mut body);
        self.along(share, &row, [at, run, start, total], &mut body);
        let build = &mut self.cx.build(span);
        let (one, all, by) = (build.var(at), build.var(end), build.var(run));
        let condition = build.binary(BinaryOp::Lt, one, all);
        let next = build.binary(BinaryOp::Add, one, by);
        let step = build.set(at, next);
        out.push(forever(Some(condition), Some(step), body, span));
        Ok(None)
    }

    /// What is added to an integer each time, if that is a constant.
    fn constant_step(&self, dim: &kernel::Dim) -> Option<i64> {
        let program = &*self.cx.program;
        let ty = program.vars[dim.var].ty;
        let is_integer = program.types.is_integer(ty) && !program.types.is_bool(ty);
        let step = match dim.step {
            Some(step) => count::constant(program, step)?,
            None => 1,
        };
        let is_small = (1..=FAR).contains(&step);
        (is_integer && is_small).then_some(if dim.descending { -step } else { step })
    }

    /// One stretch: so many iterations from a number on.
    fn along(
        &mut self,
        share: Share,
        row: &Row,
        [at, run, start, total]: [VarId; 4],
        out: &mut Block,
    ) {
        let span = self.span;
        let has_number = !share.last.is_empty() || names(self.cx.program, &share);
        let code = iteration_code(&share).filter(|_| !has_number);
        let build = &mut self.cx.build(span);
        let ty = match build.program.model.size_of(&build.program.types, row.ty) {
            Ok(4..) => row.ty,
            _ => build.int_type(),
        };
        let off = build.fresh("off", ty);
        let value = {
            let (first, far) = (build.var(start), build.var(off));
            let first = build.cast(first, ty);
            let by = build.int(row.step.abs(), ty);
            let far = match row.step {
                1 | -1 => far,
                _ => build.binary(BinaryOp::Mul, far, by),
            };
            let op = if row.step < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            let value = build.binary(op, first, far);
            build.cast(value, row.ty)
        };
        let placed = build.set(row.counted.var, value);
        let (one, length) = (build.var(off), build.var(run));
        let length = build.cast(length, ty);
        let condition = build.binary(BinaryOp::Lt, one, length);
        let step = build.increment(off);
        if let Some((code, guards)) = code {
            let lanes = is_free(self.cx, code, &guards);
            let build = &mut self.cx.build(span);
            let zero = build.int(0, ty);
            let declared = super::turns::declared(build, off, zero);
            let mut inner = code;
            for guard in guards.into_iter().rev() {
                inner = build.stmt(C::If(guard, inner, None));
            }
            let placed = build.stmt(C::Expr(placed));
            let body = build.stmt(C::Block([placed, inner].into()));
            let init = Box::new([declared]);
            let (cond, step) = (Some(condition), Some(step));
            let along = For { init, cond, step, body, unroll: None, lanes };
            let along = build.stmt(C::For(Box::new(along)));
            return out.push(Stmt::new(StmtKind::Code(along), span));
        }
        self.cx.kernel.spaces.push((off, self.space));
        out.push(Stmt::new(StmtKind::Local(off), span));
        let zero = self.cx.build(span).int(0, ty);
        self.set(off, zero, out);
        let mut body = vec![Stmt::new(StmtKind::Eval(placed), span)];
        if has_number {
            let build = &mut self.cx.build(span);
            let (first, far) = (build.var(at), build.var(off));
            let far = build.as_number(far);
            let number = build.binary(BinaryOp::Add, first, far);
            self.set(share.number, number, &mut body);
        }
        self.body(share, total, &mut body);
        let kind = LoopKind::Before;
        let along = Loop { kind, condition: Some(condition), step: Some(step), body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(along)), span));
    }
}

/// Whether an iteration asks for its number.
fn names(program: &Program, share: &Share) -> bool {
    let is_it = |part: Part| walk::uses(program, part).0.iter().any(|it| it.var == share.number);
    walk::all(&share.body).into_iter().any(|stmt| {
        stmt.kind.reads().contains(&share.number)
            || stmt.kind.exprs().into_iter().any(|it| is_it(Part::Expr(it)))
            || matches!(stmt.kind, StmtKind::Code(it) if is_it(Part::Stmt(it)))
    })
}

/// Whether nothing but memory could make iterations meet: what a thread has for itself are values that no pointer leads to,
/// and all that is called computes values from values.
fn is_free(cx: &Cx<'_>, code: StmtId, guards: &[ExprId]) -> bool {
    let program = &*cx.program;
    let mut own: FxHashSet<VarId> = FxHashSet::default();
    let mut lent: FxHashSet<VarId> = FxHashSet::default();
    let of_thread: FxHashSet<VarId> = cx.kernel.spaces.iter().map(|it| it.0).collect();
    let mut open = vec![Part::Stmt(code)];
    open.extend(guards.iter().map(|it| Part::Expr(*it)));
    while let Some(part) = open.pop() {
        match part {
            Part::Local(var) => drop(own.insert(var)),
            Part::Region(_) => return false,
            Part::Expr(e) => match program.exprs[e].kind {
                ExprKind::Var(var) if of_thread.contains(&var) => drop(own.insert(var)),
                ExprKind::AddrOf(of) => {
                    if let ExprKind::Var(var) = program.exprs[of].kind {
                        lent.insert(var);
                    }
                }
                ExprKind::Call(callee, _) if !is_mathematical(program, callee) => return false,
                ExprKind::StmtExpr(_) | ExprKind::VaArg(..) | ExprKind::CompoundLiteral(_) => {
                    return false;
                }
                _ => {}
            },
            Part::Stmt(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    own.iter().all(|it| {
        let ty = program.vars[*it].ty;
        program.types.is_scalar(ty) && !lent.contains(it)
    })
}

/// Whether a call computes a floating-point value from values.
fn is_mathematical(program: &Program, callee: ExprId) -> bool {
    let mut callee = callee;
    while let ExprKind::Cast(_, inner) = program.exprs[callee].kind {
        callee = inner;
    }
    let ExprKind::Function(id) = program.exprs[callee].kind else { return false };
    let function = &program.functions[id];
    let types = &program.types;
    function.body.is_none()
        && types.callee(function.ty).is_some_and(|it| {
            let floating = |ty: &Ty| types.is_arithmetic(*ty) && !types.is_integer(*ty);
            let mut all = it.params.iter().chain([&it.ret]);
            it.params.iter().any(floating) && all.all(|it| types.is_arithmetic(*it))
        })
}
