//! `stage`: elements that all iterations look at, one after the other, are brought to the memory of groups.
//!
//! In: a loop that all threads share, whose iterations have a loop that looks at nothing but elements which are the same for
//! all of them and follow each other in memory: sums over all bodies, comparisons with all points. Out: the threads of a
//! group bring some of those elements at a time, each one of them, and go through them in the memory of the group. What
//! iterations compute, and in which order, stays as it is. Short loops stay as they are.

use ir::program::{BinaryOp, ExprId, Program, StmtId, StmtKind as C, VarId};
use ir::types::Ty;
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::{Block, Loop, LoopKind, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::nest::{
    Nest, about, is_known, iteration_code, loads, mentions, mentions_in, replace_share, size_of,
    taken,
};
use super::numbering::{Counted, Sharing};
use super::turns::{Turns, Work, copied, declared, element, steps};
use super::{Cx, Result};

/// Rounds that are written down one after the other: the more, the better, while the instructions of all are near.
const TIMES: u32 = 64;
/// The same for rounds of more expressions and statements than [`SHORT`].
const FEW: u32 = 16;
const SHORT: usize = 128;
/// Bytes of all elements of a round at most.
const MOST_BYTES: u64 = 64;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    // What another pass has changed has its shape.
    if cx.has_shape() || cx.groups.at_once == 1 {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = Plan::find(cx, share, &taken(share, set)) else { return Ok(None) };
        let mut out = Block::new();
        let counted =
            Sharing { cx, span, space: Space::Uniform }.counted(&plan.nest.rounds, &mut out)?;
        let turns = Turns::new(cx, &plan.nest.own, 1, span);
        let mut staged = Staged::new(cx, &plan, counted, &turns);
        let parts = [plan.nest.before.as_slice(), plan.nest.after.as_slice()];
        out.extend(turns.taken(cx, share, parts, &mut staged)?);
        let note = "groups bring what all iterations look at to their memory".to_owned();
        cx.kernel.launch.notes.push(note);
        Ok(Some(vec![Stmt::new(StmtKind::Block(out), span)]))
    })
}

struct Plan {
    nest: Nest,
    /// What is brought: one of several expressions that are alike, and all of them.
    staged: Vec<(ExprId, Vec<ExprId>)>,
    /// Rounds that are written down one after the other.
    times: u32,
}

impl Plan {
    fn find(cx: &mut Cx<'_>, share: &Share, taken: &FxHashSet<VarId>) -> Option<Plan> {
        let (code, guards) = iteration_code(share)?;
        let nest = Nest::find(cx.program, cx.kernel, code, taken).filter(|_| guards.is_empty())?;
        let program = &*cx.program;
        let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
        let counter = nest.rounds.var;
        let bounds = [nest.rounds.begin, nest.rounds.bound];
        let is_fixed = bounds.iter().all(|it| is_known(program, cx.kernel, *it, &[]));
        let is_short = about(program, &nest.rounds).is_some_and(|it| it < cx.groups.most_threads);
        let is_mine = |it: VarId| dims.contains(&it) || it == share.number;
        if !is_fixed || is_short {
            return None;
        }
        // Every round looks at these; nothing else is looked at.
        let mut staged: Vec<(ExprId, Vec<ExprId>)> = Vec::new();
        for load in &nest.loads {
            let is_same = !mentions(program, load.value, is_mine);
            if !is_same || !mentions(program, load.value, |it| it == counter) {
                return None;
            }
            match staged.iter_mut().find(|it| program.is_alike(it.0, load.value)) {
                Some(it) => it.1.push(load.expr),
                None => staged.push((load.value, vec![load.expr])),
            }
        }
        for e in nest.body.iter().flat_map(|it| every_load(program, *it)) {
            if !nest.loads.iter().any(|it| it.expr == e) {
                staged.iter_mut().find(|it| program.is_alike(it.0, e))?.1.push(e);
            }
        }
        let ty = |e: ExprId| program.exprs[e].ty;
        let bytes: u64 = staged.iter().map(|it| size_of(program, ty(it.0))).sum();
        if staged.is_empty() || bytes > MOST_BYTES {
            return None;
        }
        let size: usize = nest.body.iter().map(|it| parts(program, *it)).sum();
        let times = if size > SHORT { FEW } else { TIMES };
        Some(Plan { nest, staged, times })
    }
}

/// Elements that code may look at.
fn every_load(program: &Program, stmt: StmtId) -> Vec<ExprId> {
    let mut found: Vec<ExprId> = loads(program, stmt);
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && is_memory(program, e)
            && !found.contains(&e)
            && !found.iter().any(|it| is_within(program, e, *it))
        {
            found.push(e);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

fn is_memory(program: &Program, e: ExprId) -> bool {
    use ir::program::ExprKind as E;
    matches!(program.exprs[e].kind, E::Index(..) | E::Deref(_) | E::Member(..))
}

/// Whether an expression is a part of another.
fn is_within(program: &Program, e: ExprId, whole: ExprId) -> bool {
    let mut open = vec![Part::Expr(whole)];
    while let Some(part) = open.pop() {
        if part == Part::Expr(e) {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// How many expressions and statements code has.
fn parts(program: &Program, stmt: StmtId) -> usize {
    let (mut open, mut count) = (vec![Part::Stmt(stmt)], 0);
    while let Some(part) = open.pop() {
        count += 1;
        program.parts(part, &mut |it| open.push(it));
    }
    count
}

/// What a group brings.
struct Staged<'a> {
    plan: &'a Plan,
    counted: Counted,
    /// The first round whose elements are there.
    at: VarId,
    /// How many.
    there: VarId,
    /// Elements in the memory of the group, one array for each that a round looks at.
    memory: Vec<VarId>,
}

impl<'a> Staged<'a> {
    fn new(cx: &mut Cx<'_>, plan: &'a Plan, counted: Counted, turns: &Turns) -> Staged<'a> {
        let build = &mut cx.build(turns.span);
        let memory = plan.staged.iter().map(|it| {
            let ty: Ty = build.program.exprs[it.0].ty.plain();
            let array = build.array_of(ty, u64::from(turns.threads));
            build.fresh("staged", array)
        });
        let memory = memory.collect();
        let [at, there] = ["at", "there"].map(|it| build.fresh_number(it));
        Staged { plan, counted, at, there, memory }
    }

    /// Each thread brings its element of each array.
    fn bring(&self, cx: &mut Cx<'_>, span: Span) -> Result<StmtId> {
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(span);
        let (at, me) = (build.var(self.at), build.var(me));
        let round = build.binary(BinaryOp::Add, at, me);
        let value = self.counted.value(build, round);
        let counter = self.plan.nest.rounds.var;
        let (name, ty) = (build.name_of(counter), build.program.vars[counter].ty.plain());
        let copy = build.fresh(&name, ty);
        let mut list = vec![declared(build, copy, value)];
        let vars: FxHashMap<VarId, VarId> = [(counter, copy)].into_iter().collect();
        for ((value, _), memory) in self.plan.staged.iter().zip(&self.memory) {
            let value = Copier { vars: vars.clone(), ..Copier::new(cx.program) }.expr(*value);
            let memory = cx.build(span).var(*memory);
            let place = element(cx, memory, me, span)?;
            let build = &mut cx.build(span);
            let e = build.assign(place, value);
            list.push(build.stmt(C::Expr(e)));
        }
        let build = &mut cx.build(span);
        let code = build.stmt(C::Block(list.into()));
        let there = build.var(self.there);
        let is_there = build.binary(BinaryOp::Lt, me, there);
        Ok(build.stmt(C::If(is_there, code, None)))
    }

    /// The rounds of the thread's own iteration whose elements are there.
    fn rounds(&self, cx: &mut Cx<'_>, turns: &Turns, is_whole: bool) -> Result<StmtId> {
        let span = turns.span;
        let counter = self.plan.nest.rounds.var;
        let build = &mut cx.build(span);
        let part = build.fresh_number("part");
        let (at, index) = (build.var(self.at), build.var(part));
        let round = build.binary(BinaryOp::Add, at, index);
        let value = self.counted.value(build, round);
        let (name, ty) = (build.name_of(counter), build.program.vars[counter].ty.plain());
        let copy = build.fresh(&name, ty);
        let mut list = vec![declared(build, copy, value)];
        let mut places = FxHashMap::default();
        for ((_, all), memory) in self.plan.staged.iter().zip(&self.memory) {
            let memory = cx.build(span).var(*memory);
            let place = element(cx, memory, index, span)?;
            places.extend(all.iter().map(|it| (*it, place)));
        }
        let mut vars = turns.own.clone();
        vars.insert(counter, copy);
        let mut copier = Copier { vars, places, ..Copier::new(cx.program) };
        list.extend(self.plan.nest.body.iter().map(|it| copied(&mut copier, *it)));
        // A counter that nobody looks at is not computed.
        let is_named = |it: &StmtId| mentions_in(cx.program, Part::Stmt(*it), |it| it == copy);
        if !list.iter().skip(1).any(is_named) {
            list.remove(0);
        }
        let build = &mut cx.build(span);
        let body = build.stmt(C::Block(list.into()));
        let end = match is_whole {
            true => build.number(i64::from(turns.threads)),
            false => build.var(self.there),
        };
        let bounds = [build.number(0), end];
        Ok(steps(build, part, bounds, 1, self.plan.times, body))
    }
}

impl Work for Staged<'_> {
    fn variables(&self) -> Vec<(VarId, Space)> {
        let own = [self.at, self.there].into_iter().map(|it| (it, Space::Uniform));
        own.chain(self.memory.iter().map(|it| (*it, Space::Group))).collect()
    }

    /// The loop fills the memory at least once.
    fn condition(&self, cx: &mut Cx<'_>) -> Option<ExprId> {
        let (span, threads) = (cx.kernel.span, cx.groups.most_threads);
        let build = &mut cx.build(span);
        let (trips, least) = (build.var(self.counted.trips), build.number(threads.cast_signed()));
        Some(build.binary(BinaryOp::Ge, trips, least))
    }

    fn begin(&mut self, _: &mut Cx<'_>, _: &Turns, _: &mut Block) -> Result<()> {
        Ok(())
    }

    fn together(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()> {
        let span = turns.span;
        let zero = cx.build(span).number(0);
        cx.set(self.at, zero, span, out);
        let mut body = Block::new();
        let build = &mut cx.build(span);
        let (all, at) = (build.var(self.counted.trips), build.var(self.at));
        let most = build.number(i64::from(turns.threads));
        let left = build.binary(BinaryOp::Sub, all, at);
        let value = build.min(left, most);
        cx.set(self.there, value, span, &mut body);
        let bring = self.bring(cx, span)?;
        let build = &mut cx.build(span);
        let there = build.var(self.there);
        let is_whole = build.binary(BinaryOp::Eq, there, most);
        let code = |it| vec![Stmt::new(StmtKind::Code(it), span)];
        let [whole, part] = [self.rounds(cx, turns, true)?, self.rounds(cx, turns, false)?];
        let rounds = Stmt::new(StmtKind::If(is_whole, code(whole), code(part)), span);
        let is_mine = turns.is_mine(cx);
        body.extend(code(bring));
        body.push(Stmt::new(StmtKind::Barrier, span));
        body.push(Stmt::new(StmtKind::If(is_mine, vec![rounds], Block::new()), span));
        body.push(Stmt::new(StmtKind::Barrier, span));
        let build = &mut cx.build(span);
        let condition = Some(build.binary(BinaryOp::Lt, at, all));
        let next = build.binary(BinaryOp::Add, at, most);
        let step = Some(build.set(self.at, next));
        let each = Loop { kind: LoopKind::Before, condition, step, body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        Ok(())
    }
}
