//! `lanes`: iterations of an innermost loop run side by side, in copies of its pipeline.
//!
//! In: loops of code that one thread runs, each all that the one around it does, whose iterations do not meet by the word of
//! directives, and how many lanes the device is to have. Out: the innermost loop counts groups of iterations; each group is
//! written down, one iteration after the other, so that operators of all lanes work in the same cycle. A last group that
//! is not full leaves lanes out: the nest stays one, whatever number of iterations it has. `units` does the same along the
//! outermost loop.
//!
//! Left alone: loops that combine values, whose operators would wait for each other.

use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, VarId, VarStorage,
};
use ir::region::LoopTest;
use ir::types::{IntKind, TypeKind};
use ir::walk::Part;
use kernel::Dim;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::walk::{How, uses};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::code::{Level, code_of, for_of, free_nest, jumps, loops, replace};
use super::counters::is_steady;
use super::single::install;
use super::turns::{copied, declared};
use super::{Cx, Result};

/// Along which loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    Innermost,
    /// Of at least two.
    Outermost,
}

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let lanes = cx.fabric.lanes;
    side_by_side(cx, lanes, Along::Innermost);
    Ok(())
}

/// Puts so many iterations side by side, in all nests that allow it.
pub(super) fn side_by_side(cx: &mut Cx<'_>, count: u64, along: Along) {
    let Some(code) = code_of(cx).filter(|_| count > 1) else { return };
    let mut replaced = FxHashMap::default();
    let mut gone: FxHashSet<StmtId> = FxHashSet::default();
    let (mut counters, mut notes) = (Vec::new(), Vec::new());
    // Outermost first: what is inside is part of the nest.
    for stmt in loops(cx.program, code).into_iter().rev() {
        if gone.contains(&stmt) {
            continue;
        }
        let Some(nest) = Nest::find(cx, stmt) else { continue };
        gone.extend(loops(cx.program, stmt));
        let level = match along {
            Along::Innermost => nest.levels.len() - 1,
            Along::Outermost if nest.levels.len() > 1 => 0,
            Along::Outermost => continue,
        };
        if let Some((made, group)) = nest.grouped(cx, level, count) {
            let name = nest.levels.get(level).map(|it| it.2.var);
            let name = name.map(|it| cx.build(Span::NONE).name_of(it)).unwrap_or_default();
            let name = name.rsplit('_').next().unwrap_or_default().to_owned();
            notes.push(format!("{count} iterations of `{name}` run side by side"));
            counters.push(group);
            replaced.insert(stmt, made);
        }
    }
    if replaced.is_empty() {
        return;
    }
    replace(cx, replaced);
    cx.kernel.launch.notes.extend(notes);
    // Counters are declared around all, so that nests stay nests.
    let Some(code) = code_of(cx) else { return };
    let span = cx.program.stmts[code].span;
    let build = &mut cx.build(span);
    let mut list: Vec<StmtId> = counters.into_iter().map(|it| build.stmt(C::Local(it))).collect();
    list.push(code);
    let whole = build.stmt(C::Block(list.into()));
    if let Some(stmt) = cx.kernel.body.first_mut() {
        stmt.kind = kernel::StmtKind::Code(whole);
    }
    install(cx.program, cx.kernel.region, whole);
}

/// Loops around each other, and what the innermost does.
struct Nest {
    levels: Vec<Level>,
    body: StmtId,
}

impl Nest {
    fn find(cx: &Cx<'_>, stmt: StmtId) -> Option<Nest> {
        let program = &*cx.program;
        let (levels, body) = free_nest(cx, stmt)?;
        let (used, inside) = uses(program, Part::Stmt(body));
        // Statements of iterations take turns: a variable of the kernel that they all set would be the last one's.
        let sets_one = used.iter().any(|it| {
            let var = &program.vars[it.var];
            it.how == How::Written
                && !inside.contains(&it.var)
                && matches!(var.storage, VarStorage::Local(_))
                && program.types.is_scalar(var.ty)
        });
        let mut changed: FxHashSet<VarId> =
            used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
        let combines = cx.kernel.launch.combined.iter().any(|it| changed.contains(it));
        changed.extend(levels.iter().map(|it| it.2.var));
        let stays = |it: &Dim| {
            is_steady(program, it.begin, &changed) && is_steady(program, it.bound, &changed)
        };
        let is_box = levels.iter().all(|it| stays(&it.2));
        let has_loops = loops(program, body).iter().any(|it| !is_short(program, *it));
        let is_one = !levels.is_empty() && is_box && !combines && !sets_one && !has_loops;
        (is_one && !jumps(program, body)).then_some(Nest { levels, body })
    }

    /// The nest with groups of iterations at one level, and what counts them.
    fn grouped(&self, cx: &mut Cx<'_>, level: usize, count: u64) -> Option<(StmtId, VarId)> {
        let (stmt, _, dim) = self.levels.get(level)?;
        let (many, function) = (i64::try_from(count).ok()?, cx.function);
        let span = cx.program.stmts[*stmt].span;
        let trips = trips(cx.program, dim);
        if trips.is_some_and(|it| it < many) {
            return None;
        }
        let is_full = trips.is_some_and(|it| it % many == 0);
        let build = &mut cx.build(span);
        let ty = build.program.vars[dim.var].ty.plain();
        // Where the last group is full no number is beyond the bound; else one may be that the counter's type has not.
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let counts = if is_full { ty } else { long };
        let name = build.name_of(dim.var);
        let group = build.fresh("group", counts);
        let test = if dim.test == LoopTest::Le { BinaryOp::Le } else { BinaryOp::Lt };
        let mut lanes: Vec<Vec<StmtId>> = Vec::new();
        for lane in 0..many {
            let build = &mut cx.build(span);
            let (at, by) = (build.var(group), build.int(many, counts));
            let at = build.binary(BinaryOp::Mul, at, by);
            let begin = build.cast(dim.begin, counts);
            let number = build.int(lane, counts);
            let begin = build.binary(BinaryOp::Add, begin, number);
            let value = build.binary(BinaryOp::Add, at, begin);
            let mut copier = Copier::new(build.program);
            let mut first = None;
            if is_full {
                // A sum of counters, so that it is seen which lanes look at the same element.
                copier.exprs.insert(dim.var, value);
            } else {
                let build = &mut Builder { program: copier.program, function, span };
                let (own, value) = (build.fresh(&name, ty), build.cast(value, ty));
                first = Some(declared(build, own, value));
                copier = Copier::new(cx.program);
                copier.vars.insert(dim.var, own);
            }
            let list: Vec<StmtId> = match &copier.program.stmts[self.body].kind {
                C::Block(list) => list.to_vec(),
                _ => vec![self.body],
            };
            let mut round: Vec<StmtId> = list.iter().map(|it| copied(&mut copier, *it)).collect();
            let build = &mut cx.build(span);
            if lane > 0 && !is_full {
                let inside = build.stmt(C::Block(round.into()));
                let bound = build.cast(dim.bound, long);
                let runs = build.binary(test, value, bound);
                round = vec![build.stmt(C::If(runs, inside, None))];
            }
            round.splice(0..0, first);
            lanes.push(match is_full {
                true => round,
                false => vec![build.stmt(C::Block(round.into()))],
            });
        }
        let lanes = interleaved(&mut cx.build(span), &lanes);
        let build = &mut cx.build(span);
        let mut made = build.stmt(C::Block(lanes.into()));
        let mut free = Vec::new();
        for (at, (_, it, dim)) in self.levels.iter().enumerate().rev() {
            let it = if at == level {
                let zero = build.int(0, counts);
                let first = build.set(group, zero);
                let first = build.stmt(C::Expr(first));
                let (end, begin) = (build.cast(dim.bound, long), build.cast(dim.begin, long));
                let length = build.binary(BinaryOp::Sub, end, begin);
                let more = many - i64::from(dim.test != LoopTest::Le);
                let (more, by) = (build.int(more, long), build.int(many, long));
                let length = build.binary(BinaryOp::Add, length, more);
                let groups = match trips {
                    Some(trips) => build.int((trips + many - 1) / many, counts),
                    None => build.binary(BinaryOp::Div, length, by),
                };
                let value = build.var(group);
                let cond = Some(build.binary(BinaryOp::Lt, value, groups));
                let step = Some(build.increment(group));
                let init = Box::new([first]);
                For { init, cond, step, body: made, unroll: None, lanes: false }
            } else {
                For { body: made, ..it.clone() }
            };
            made = build.stmt(C::For(Box::new(it)));
            build.program.stmts[made].span = span;
            free.push(made);
        }
        cx.kernel.launch.independent.extend(free);
        Some((made, group))
    }
}

/// Statements of lanes that do not meet: the first of each, then the second. All look at memory before one stores.
fn interleaved(build: &mut Builder<'_>, lanes: &[Vec<StmtId>]) -> Vec<StmtId> {
    let mut list = Vec::new();
    for at in 0..lanes.iter().map(Vec::len).max().unwrap_or(0) {
        let mut stores = Vec::new();
        for stmt in lanes.iter().filter_map(|it| it.get(at)) {
            let store = match build.program.stmts[*stmt].kind {
                C::Expr(e) => match build.program.exprs[e].kind {
                    ExprKind::Assign(to, value) => Some((e, to, value)),
                    _ => None,
                },
                _ => None,
            };
            let is_memory =
                |to: ExprId| matches!(build.program.exprs[to].kind, ExprKind::Index(..));
            let Some((e, to, value)) = store.filter(|it| is_memory(it.1)) else {
                list.push(*stmt);
                continue;
            };
            let ty = build.type_of(to).plain();
            let kept = build.fresh("lane", ty);
            list.push(declared(build, kept, value));
            let kept = build.var(kept);
            let stored = build.assign(to, kept);
            build.program.exprs[stored].span = build.program.exprs[e].span;
            stores.push(build.stmt(C::Expr(stored)));
        }
        list.extend(stores);
    }
    list
}

/// How often a loop with constant bounds runs.
fn trips(program: &Program, dim: &Dim) -> Option<i64> {
    let [begin, bound] = [dim.begin, dim.bound].map(|it| kernel::count::constant(program, it));
    bound?.checked_sub(begin?)?.checked_add(i64::from(dim.test == LoopTest::Le)).map(|it| it.max(0))
}

/// Whether a loop is written out.
fn is_short(program: &Program, stmt: StmtId) -> bool {
    let dim = for_of(program, stmt).and_then(|it| super::nest::counted(program, &it));
    let trips = dim.and_then(|it| trips(program, &it));
    trips.is_some_and(|it| it.unsigned_abs() <= super::Fabric::WRITTEN_OUT)
}
