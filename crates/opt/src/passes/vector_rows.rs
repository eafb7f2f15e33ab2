//! `vector_rows`: neighbours in memory are met by iterations that follow each other in one loop.
//!
//! In: a shared loop of several dimensions whose iterations have no loops in them: stencils and other work on grids.
//! Compilers deal all iterations of a collapsed nest one by one, and do not see neighbours in it. Out: the outer dimensions
//! are shared, and the one along which elements lie side by side is a loop of its own, which compilers turn into vectors.
//! So they do with a loop whose iterations are combined, once each lane may have a sum of its own, and with inner loops
//! that only combine what is combined anyway.

use ir::construct::{ClauseKind, ReductionOp};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind as C, Typed, VarId};
use ir::walk::Part;
use kernel::{Schedule, Share, Stmt, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;

use super::blocks::{How, Plan, is_even, whole_code};
use super::nest::{counted, is_contiguous, mentions, replace_share, taken};
use super::strip::{Item, Strip, elements, sums};
use super::{Cx, Result};
use crate::dependence::Analysis;

/// Iterations of a row at most: a few long rows are shared too.
const LENGTH: u64 = 2048;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let sums = sums(cx);
    replace_share(cx, &mut |cx, share, set, span| {
        if let Some(plan) = plan(cx, share, (set, &sums)) {
            return Ok(Some(plan.made(cx, share, span)?));
        }
        Ok(lanes_inside(cx, share, span).map(|it| vec![it]))
    })
}

/// Lanes for inner loops that only combine what is combined anyway.
fn lanes_inside(cx: &mut Cx<'_>, share: &Share, span: Span) -> Option<Stmt> {
    let code = whole_code(cx, share).filter(|_| !cx.summing.is_empty())?;
    let mut names = Vec::new();
    let made = with_lanes(cx, code, &mut names);
    if names.is_empty() {
        return None;
    }
    let note = format!("sums over {} in lanes", names.join(", "));
    cx.kernel.launch.notes.push(note);
    let body = vec![Stmt::new(StmtKind::Code(made), span)];
    let schedule = Schedule::Blocks;
    let share = Share { body, schedule, ..share.clone() };
    Some(Stmt::new(StmtKind::Share(Box::new(share)), span))
}

/// The same code, with lanes for such loops.
fn with_lanes(cx: &mut Cx<'_>, code: StmtId, names: &mut Vec<String>) -> StmtId {
    let (kind, span) = (cx.program.stmts[code].kind.clone(), cx.program.stmts[code].span);
    let made = match kind {
        C::Block(list) => C::Block(list.iter().map(|it| with_lanes(cx, *it, names)).collect()),
        C::If(cond, then, other) => {
            let then = with_lanes(cx, then, names);
            C::If(cond, then, other.map(|it| with_lanes(cx, it, names)))
        }
        C::For(mut one) if cx.summing.contains(&span) => {
            let Some(dim) = counted(cx.program, &one) else { return code };
            let is_beside = |it: &ExprId| {
                !mentions(cx.program, *it, |it| it == dim.var)
                    || is_contiguous(cx.program, *it, dim.var)
            };
            if !elements(cx.program, one.body).iter().all(is_beside) {
                return code;
            }
            let name = cx.build(span).name_of(dim.var);
            names.push(format!("`{}`", name.rsplit('_').next().unwrap_or_default()));
            one.lanes = true;
            C::For(one)
        }
        C::For(mut one) => {
            one.body = with_lanes(cx, one.body, names);
            C::For(one)
        }
        _ => return code,
    };
    cx.build(span).stmt(made)
}

/// Where innermost loops stand that only combine something into what the constructs around them combine too: its order is
/// nobody's. Which loops are shared `program` says, which may be another one by now than was written.
pub fn summing(written: &Program, program: &Program, regions: &[RegionId]) -> FxHashSet<Span> {
    let (mut analysis, mut found) = (None, FxHashSet::default());
    for id in regions {
        let inside: Vec<RegionId> = std::iter::once(*id).chain(program.inside(*id)).collect();
        let mut sums = Vec::new();
        for clause in inside.iter().flat_map(|it| program.regions[*it].construct.kinds()) {
            let ClauseKind::Reduction(it) = clause else { continue };
            let vars = it.items.iter().filter_map(|item| match program.exprs[*item].kind {
                ExprKind::Var(var) => Some((var, any_order(&it.op))),
                _ => None,
            });
            sums.extend(vars);
        }
        if sums.is_empty() {
            continue;
        }
        let shared = inside.iter().flat_map(|it| program.regions[*it].loops.iter());
        let shared: FxHashSet<Span> = shared.map(|it| program.stmts[it.stmt].span).collect();
        let is_shared = |it: &StmtId| {
            matches!(written.stmts[*it].kind, C::For(_))
                && shared.contains(&written.stmts[*it].span)
        };
        let mut open: Vec<Part> =
            written.stmts.iter().map(|it| it.0).filter(is_shared).map(Part::Stmt).collect();
        while let Some(part) = open.pop() {
            written.parts(part, &mut |it| open.push(it));
            let Part::Stmt(stmt) = part else { continue };
            let C::For(one) = &written.stmts[stmt].kind else { continue };
            if is_shared(&stmt) || has_loop(written, one.body) {
                continue;
            }
            let analysis = analysis.get_or_insert_with(|| Analysis::new(written));
            let finding = analysis.examine(stmt);
            let is_sum =
                |(var, op): &(VarId, ReductionOp<Typed>)| sums.contains(&(*var, any_order(op)));
            if finding.is_parallel()
                && finding.private.is_empty()
                && !finding.reductions.is_empty()
                && finding.reductions.iter().all(is_sum)
            {
                found.insert(written.stmts[stmt].span);
            }
        }
    }
    found
}

/// What is taken away is added up.
fn any_order(op: &ReductionOp<Typed>) -> ReductionOp<Typed> {
    match op {
        ReductionOp::Sub => ReductionOp::Add,
        op => op.clone(),
    }
}

fn has_loop(program: &Program, code: StmtId) -> bool {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && let C::For(_) | C::While(..) | C::DoWhile(..) | C::Region(_) =
                program.stmts[stmt].kind
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

fn plan(
    cx: &mut Cx<'_>,
    share: &Share,
    (set, sums): (&FxHashSet<VarId>, &FxHashSet<VarId>),
) -> Option<Plan> {
    let code = whole_code(cx, share).filter(|_| is_even(share))?;
    // Loops that nobody has collapsed are seen by compilers, which may not give each lane a sum of its own.
    let is_seen = share.dims.len() < 2 || share.dims.len() != cx.kernel.launch.loops;
    if is_seen && sums.is_empty() {
        return None;
    }
    let vars: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let taken = taken(share, set);
    for lane in (0..vars.len()).rev() {
        let (dim, var) = (share.dims.get(lane)?, *vars.get(lane)?);
        let is_number = cx.program.types.is_integer(cx.program.vars[var].ty);
        if dim.step.is_some() || dim.descending || !is_number {
            continue;
        }
        let strip = Strip::find(cx.program, cx.kernel, code, (&vars, &[var]), &taken, sums)?;
        let program = &*cx.program;
        let follows = |it: &&ExprId| mentions(program, **it, |it| it == var);
        let beside = |it: &ExprId| is_contiguous(program, *it, var);
        let is_straight = matches!(strip.items.as_slice(), [Item::Run(_)]);
        let is_direct = strip.named.iter().all(|it| !strip.is_indirect(program, *it));
        let mut moving = strip.named.iter().filter(follows).peekable();
        if is_straight
            && is_direct
            && !(strip.stored.is_empty() && strip.sums.is_empty())
            && (moving.peek().is_some() || !strip.sums.is_empty())
            && moving.all(beside)
        {
            let how = How::Straight;
            return Some(Plan {
                strip,
                lane,
                row: None,
                lanes: LENGTH,
                rows: 1,
                how,
                cut: Vec::new(),
            });
        }
    }
    None
}
