//! `counters`: a nest whose iterations are independent becomes one loop that counts all of them.
//!
//! In: loops of code that one thread runs, each all that the one around it does, whose iterations do not meet by the word of
//! directives, counting up by ones between bounds that stay. Out: one loop, with the counters of the nest carried on by adding
//! and comparing: nothing is divided, and the pipeline does not run empty at the end of each inner loop.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, TypeKind};
use ir::walk::Part;
use kernel::Dim;
use kernel::walk::{How, uses};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::code::{code_of, free_nest, jumps, loops, replace};
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let Some(code) = code_of(cx) else { return Ok(()) };
    let mut replaced = FxHashMap::default();
    // Outermost first: what is inside is part of the nest.
    let mut gone: FxHashSet<StmtId> = FxHashSet::default();
    for stmt in loops(cx.program, code).into_iter().rev() {
        if gone.contains(&stmt) {
            continue;
        }
        let Some((nest, body)) = nest(cx, stmt) else { continue };
        gone.extend(loops(cx.program, stmt));
        let span = cx.program.stmts[stmt].span;
        if let Some((made, one)) = flat(cx, &nest, body, span) {
            cx.kernel.launch.independent.push(one);
            replaced.insert(stmt, made);
        }
    }
    if !replaced.is_empty() {
        replace(cx, replaced);
    }
    Ok(())
}

/// The loops of a nest, from the outermost on, and what the innermost does.
fn nest(cx: &Cx<'_>, stmt: StmtId) -> Option<(Vec<Dim>, StmtId)> {
    let program = &cx.program;
    let (levels, body) = free_nest(cx, stmt)?;
    let dims: Vec<Dim> = levels.into_iter().map(|it| it.2).collect();
    // A counter of the nest in a bound makes it no box, and what the body sets may move one.
    let (used, _) = uses(program, Part::Stmt(body));
    let mut changed: FxHashSet<VarId> =
        used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
    changed.extend(dims.iter().map(|it| it.var));
    let stays = |e: ExprId| is_steady(program, e, &changed);
    let is_box = dims.iter().all(|it| stays(it.begin) && stays(it.bound));
    (dims.len() > 1 && is_box && !jumps(program, body)).then_some((dims, body))
}

/// Whether an expression is made of constants and variables that are not among these.
pub(super) fn is_steady(program: &Program, e: ExprId, changed: &FxHashSet<VarId>) -> bool {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match &program.exprs[e].kind {
            ExprKind::Int(_) | ExprKind::EnumConst(..) | ExprKind::Sizeof(_) => {}
            ExprKind::Var(var) if !changed.contains(var) => {}
            ExprKind::Cast(_, of) | ExprKind::Unary(_, of) => open.push(*of),
            ExprKind::Binary(_, a, b) => open.extend([*a, *b]),
            _ => return false,
        }
    }
    true
}

/// One loop for a nest: all of it, and the loop.
pub(super) fn flat(
    cx: &mut Cx<'_>,
    dims: &[Dim],
    body: StmtId,
    span: Span,
) -> Option<(StmtId, StmtId)> {
    let build = &mut cx.build(span);
    let long = build.program.types.get(TypeKind::Int(IntKind::Long));
    let number = build.fresh("iteration", long);
    let mut list = vec![build.stmt(C::Local(number))];
    // Where a loop has no iterations there are none: else differences of bounds are what they count.
    let (mut runs, mut total): (Option<ExprId>, Option<ExprId>) = (None, None);
    for dim in dims {
        let test = if dim.test == LoopTest::Le { BinaryOp::Le } else { BinaryOp::Lt };
        let is_some = build.binary(test, dim.begin, dim.bound);
        runs = Some(match runs {
            Some(others) => build.and(others, is_some),
            None => is_some,
        });
        let (end, begin) = (build.cast(dim.bound, long), build.cast(dim.begin, long));
        let mut count = build.binary(BinaryOp::Sub, end, begin);
        if dim.test == LoopTest::Le {
            let one = build.int(1, long);
            count = build.binary(BinaryOp::Add, count, one);
        }
        total = Some(match total {
            Some(others) => build.binary(BinaryOp::Mul, others, count),
            None => count,
        });
    }
    let mut starts = Vec::new();
    for dim in dims {
        let e = build.set(dim.var, dim.begin);
        starts.push(build.stmt(C::Expr(e)));
    }
    // From the innermost on: a counter that has come to its end begins again, and the next one goes on.
    let mut on: Option<StmtId> = None;
    for dim in dims {
        let ty = build.program.vars[dim.var].ty.plain();
        let (place, one) = (build.var(dim.var), build.int(1, ty));
        let step = build.expr(ExprKind::AssignOp(BinaryOp::Add, place, one, ty), ty);
        let step = build.stmt(C::Expr(step));
        on = Some(match on {
            None => step,
            Some(outer) => {
                let test = if dim.test == LoopTest::Le { BinaryOp::Gt } else { BinaryOp::Ge };
                let value = build.var(dim.var);
                let is_over = build.binary(test, value, dim.bound);
                let again = build.set(dim.var, dim.begin);
                let again = build.stmt(C::Expr(again));
                let then = build.stmt(C::Block([again, outer].into()));
                let turn = build.stmt(C::If(is_over, then, None));
                build.stmt(C::Block([step, turn].into()))
            }
        });
    }
    let zero = build.int(0, long);
    let first = build.set(number, zero);
    let first = build.stmt(C::Expr(first));
    let value = build.var(number);
    let cond = Some(build.binary(BinaryOp::Lt, value, total?));
    let step = Some(build.increment(number));
    let body = build.stmt(C::Block([body, on?].into()));
    let one = build.stmt(C::For(Box::new(For {
        init: Box::new([first]),
        cond,
        step,
        body,
        unroll: None,
        lanes: false,
    })));
    starts.push(one);
    let then = build.stmt(C::Block(starts.into()));
    list.push(build.stmt(C::If(runs?, then, None)));
    Some((build.stmt(C::Block(list.into())), one))
}
