//! `rows`: the threads of a group compute summands along rows in memory, and one thread for each row adds them up.
//!
//! In: a loop that all threads share, whose iterations each sum over a loop that walks through memory: rows of a matrix, full
//! or sparse. A thread for each row would load from as many places as there are threads. Out: a group has some iterations
//! at a time. Threads side by side compute the summands of a row side by side into memory of the group, and there one
//! thread for each iteration adds them up in the order of the program: the sum is the same number. As many threads as run
//! in step go along long rows, a few along each of several short ones.

use ir::program::{BinaryOp, ExprId, ExprKind, Init, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Dim, Loop, LoopKind, Share, Shuffle, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::nest::{
    Quiet, counted, follows, iteration_code, listed, mentions, mentions_in, replace_share, size_of,
    taken, top_locals,
};
use super::turns::{Turns, Work, copied, declared, element, steps};
use super::{Cx, Result};

/// Threads side by side along a row: they run in step.
const LANES: u32 = 32;
/// Threads for each iteration.
const EACH: u32 = 4;
/// Summands of each iteration that are computed before they are added up.
const AT_ONCE: u32 = 64;
/// The same of rows that are all as long as each other, if summands have four bytes: threads wait for each other half as often.
const EVEN_AT_ONCE: u32 = 128;
/// Rows that are no longer than this have only the threads of their own iteration.
const SHORT: u32 = EACH * 4;
/// Bytes for the summands of one iteration and round at most, all sums together.
const MOST_BYTES: u64 = 8;
/// Registers of a thread that leave room for many loads on their way.
const REGISTERS: u64 = 128;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    // What another pass has changed has its shape.
    let has_shape = cx.has_shape();
    // Threads that run one after the other gain nothing from each other's neighbours.
    let in_step = cx.groups.most_threads.is_multiple_of(u64::from(LANES));
    if has_shape || cx.groups.at_once == 1 || !in_step {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = Plan::find(cx, share, &taken(share, set)) else { return Ok(None) };
        let turns = Turns::new(cx, &plan.own, EACH, span);
        let mut rows = Rows::new(cx, &plan, &turns);
        let made = turns.taken(cx, share, [&plan.before, &plan.after], &mut rows)?;
        let launch = &mut cx.kernel.launch;
        launch.spread = Some([EACH, 1, 0]);
        // Rows that are all alike keep step; others are better waited for by many.
        launch.registers = plan.is_even.then_some(REGISTERS);
        launch.notes.push("threads side by side compute the summands of a row".to_owned());
        Ok(Some(made))
    })
}

/// A variable that a loop does nothing with but add to it, or take from it.
#[derive(Clone, Copy, Debug)]
struct Sum {
    var: VarId,
    op: BinaryOp,
    /// What it is computed in.
    ty: Ty,
}

/// What an iteration does.
struct Plan {
    before: Vec<StmtId>,
    /// The loop along the row, by ones.
    rounds: Dim,
    body: Vec<StmtId>,
    after: Vec<StmtId>,
    sums: Vec<Sum>,
    /// Variables that the iteration declares outside of the loop.
    own: Vec<VarId>,
    /// What a summand is made of that others have to know: variables of the nest and of the iteration.
    known: Vec<VarId>,
    /// All rows have the same bounds.
    is_even: bool,
}

impl Plan {
    fn find(cx: &Cx<'_>, share: &Share, taken: &FxHashSet<VarId>) -> Option<Plan> {
        let program = &*cx.program;
        let (code, guards) = iteration_code(share)?;
        let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
        let last = *dims.last()?;
        let list = listed(program, code);
        let is_loop = |it: &StmtId| matches!(program.stmts[*it].kind, C::For(_));
        let at = list.iter().position(is_loop)?;
        let C::For(one) = &program.stmts[*list.get(at)?].kind else { return None };
        let rounds = counted(program, one)?;
        let (before, after) = (list.get(..at)?.to_vec(), list.get(at + 1..)?.to_vec());
        let body = listed(program, one.body);
        let own = top_locals(program, before.iter().chain(&after));
        let is_declared = one.init.iter().all(|it| matches!(program.stmts[*it].kind, C::Local(_)));
        if !guards.is_empty() || !is_declared {
            return None;
        }
        let sums = sums(program, &body, &own)?;
        let bytes: u64 = sums.iter().map(|it| size_of(program, it.ty)).sum();
        let inside = top_locals(program, body.iter());
        let all = own.iter().chain(&inside).chain([&rounds.var]);
        if bytes > MOST_BYTES || !all.copied().all(|it| is_plain(program, it)) {
            return None;
        }
        let mut quiet = Quiet::new(program);
        let is_own = |it: &VarId| own.contains(it) && !taken.contains(it);
        // Outside of the loop memory may be written: nobody else may look at it.
        for stmt in before.iter().chain(&after) {
            if !quiet.set(Part::Stmt(*stmt), true)?.iter().all(is_own) {
                return None;
            }
        }
        let bounds = [rounds.begin, rounds.bound];
        let parts = bounds.map(Part::Expr).into_iter();
        let is_sum = |it: VarId| sums.iter().any(|sum| sum.var == it);
        for part in parts {
            if !quiet.set(part, false)?.is_empty() || mentions_in(program, part, is_sum) {
                return None;
            }
        }
        for stmt in &body {
            let set = quiet.set(Part::Stmt(*stmt), false)?;
            if !set.iter().all(|it| is_sum(*it) || inside.contains(it)) {
                return None;
            }
        }
        let counter = rounds.var;
        if after.iter().any(|it| mentions_in(program, Part::Stmt(*it), |it| it == counter)) {
            return None;
        }
        let is_owners = |it: VarId| dims.contains(&it) || own.contains(&it);
        let is_even = !bounds.iter().any(|it| mentions(program, *it, is_owners));
        let starts_apart = mentions(program, rounds.begin, is_owners);
        let (mut walks, mut is_beside) = (false, false);
        for (base, index) in elements(program, &body) {
            let has = |is: &dyn Fn(VarId) -> bool| {
                [base, index].into_iter().any(|it| mentions(program, it, is))
            };
            let by_row =
                follows(program, index, counter) && !mentions(program, base, |it| it == counter);
            // What is the same for all is loaded once for all.
            walks |= by_row && (starts_apart || has(&is_owners));
            // Neighbours among iterations meet such neighbours by themselves, windows that slide included.
            is_beside |= follows(program, index, last);
        }
        if !walks || is_beside {
            return None;
        }
        let named = |it: &&VarId| {
            let is_it = |var| var == **it;
            !is_sum(**it) && body.iter().any(|stmt| mentions_in(program, Part::Stmt(*stmt), is_it))
        };
        let known = dims.iter().chain(&own).filter(named).copied().collect();
        Some(Plan { before, rounds, body, after, sums, own, known, is_even })
    }
}

/// What a loop sums up, if that is all that it does.
fn sums(program: &Program, body: &[StmtId], own: &[VarId]) -> Option<Vec<Sum>> {
    let mut sums: Vec<Sum> = Vec::new();
    for stmt in body {
        match program.stmts[*stmt].kind {
            C::Local(_) | C::Empty => {}
            C::Expr(e) => {
                let ExprKind::AssignOp(op, to, _, ty) = program.exprs[e].kind else {
                    return None;
                };
                let ExprKind::Var(var) = program.exprs[to].kind else { return None };
                let is_new = !sums.iter().any(|it| it.var == var);
                let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Sub) && is_new;
                if !is_sum || !own.contains(&var) || program.types.is_pointer(program.vars[var].ty)
                {
                    return None;
                }
                sums.push(Sum { var, op, ty });
            }
            _ => return None,
        }
    }
    // Nobody else in the loop looks at them.
    let is_sum = |it: VarId| sums.iter().any(|sum| sum.var == it);
    let uses = |stmt: &StmtId| {
        let uses = kernel::walk::uses(program, Part::Stmt(*stmt)).0;
        uses.iter().filter(|it| it.how == kernel::walk::How::Named && is_sum(it.var)).count()
    };
    let all: usize = body.iter().map(uses).sum();
    (!sums.is_empty() && all == sums.len()).then_some(sums)
}

fn is_plain(program: &Program, var: VarId) -> bool {
    let (ty, types) = (program.vars[var].ty, &program.types);
    let has_list = |it| matches!(program.inits[it], Init::List(..));
    types.is_scalar(ty)
        && !types.is_complex(ty)
        && !ty.quals.is_volatile
        && !program.vars[var].init.is_some_and(has_list)
}

/// The elements that code looks at: array and index.
fn elements(program: &Program, body: &[StmtId]) -> Vec<(ExprId, ExprId)> {
    let mut found = Vec::new();
    let mut open: Vec<Part> = body.iter().map(|it| Part::Stmt(*it)).collect();
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && let ExprKind::Index(base, index) = program.exprs[e].kind
            && program.types.is_scalar(program.exprs[e].ty)
        {
            found.push((base, index));
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// How threads go along rows.
#[derive(Clone, Copy)]
struct Width {
    /// So many side by side.
    lanes: u32,
    /// Summands of each row that there is room for.
    most: u32,
    /// Each row has as many.
    is_whole: bool,
}

/// The summands of a turn.
struct Rows<'a> {
    plan: &'a Plan,
    /// How many of each row were added up.
    at: VarId,
    /// Of the thread's own iteration: how many rounds it has.
    count: VarId,
    /// In the memory of the group, one for each iteration: where its row begins, how long it is, what others have to know.
    begins: VarId,
    counts: VarId,
    known: Vec<VarId>,
    /// And its summands, so many at a time.
    summands: Vec<VarId>,
    at_once: u32,
}

impl<'a> Rows<'a> {
    fn new(cx: &mut Cx<'_>, plan: &'a Plan, turns: &Turns) -> Rows<'a> {
        let build = &mut cx.build(turns.span);
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let of_each = |build: &mut Builder<'_>, like: &str, ty: Ty| {
            let array = build.array_of(ty, u64::from(turns.owners));
            build.fresh(like, array)
        };
        let known = plan.known.iter().map(|it| {
            let (name, ty) = (build.name_of(*it), build.program.vars[*it].ty.plain());
            of_each(build, &name, ty)
        });
        let known = known.collect();
        let [begins, counts] = ["begins", "counts"].map(|it| of_each(build, it, long));
        let bytes: u64 = plan.sums.iter().map(|it| size_of(build.program, it.ty)).sum();
        let at_once = if plan.is_even && bytes <= 4 { EVEN_AT_ONCE } else { AT_ONCE };
        let summands = plan.sums.iter().map(|it| {
            // Rows of one more keep threads that walk down a column apart.
            let row = build.array_of(it.ty, u64::from(at_once) + 1);
            of_each(build, "summands", row)
        });
        let summands = summands.collect();
        let count = build.fresh("count", long);
        let at = build.fresh_number("at");
        Rows { plan, at, count, begins, counts, known, summands, at_once }
    }

    /// The element of an array of the group that belongs to an iteration.
    fn of(&self, cx: &mut Cx<'_>, turns: &Turns, array: VarId, owner: ExprId) -> Result<ExprId> {
        let array = cx.build(turns.span).var(array);
        element(cx, array, owner, turns.span)
    }

    /// Where the row of the thread's iteration begins, and how long it is.
    fn bounds(&self, cx: &mut Cx<'_>, turns: &Turns) -> (ExprId, ExprId) {
        let Dim { begin, bound, test, var, .. } = self.plan.rounds;
        let (begin, bound) = (turns.own_expr(cx, begin), turns.own_expr(cx, bound));
        let (counter, long) = (cx.program.vars[var].ty.plain(), long(cx.program));
        let build = &mut cx.build(turns.span);
        // What the counter begins with is of its type.
        let begin = build.cast(begin, counter);
        let (from, to) = (build.cast(begin, long), build.cast(bound, long));
        let mut length = build.binary(BinaryOp::Sub, to, from);
        if test == LoopTest::Le {
            let one = build.int(1, long);
            length = build.binary(BinaryOp::Add, length, one);
        }
        (from, length)
    }

    /// The shortest and the longest row, by threads that exchange what they have; `shared` are in memory of the group.
    fn exchanged(&self, cx: &mut Cx<'_>, turns: &Turns, shared: [VarId; 2], out: &mut Block) {
        let span = turns.span;
        let (long, lanes) = (long(cx.program), cx.groups.lanes);
        let far = cx.number("far", Space::Uniform, span, out);
        let own = ["least", "most"].map(|it| {
            let var = cx.fresh(it, long, Space::Private, span, out);
            let value = cx.build(span).var(self.count);
            cx.set(var, value, span, out);
            var
        });
        let one = cx.build(span).number(1);
        cx.set(far, one, span, out);
        let mut body = Block::new();
        for (var, op) in own.into_iter().zip([BinaryOp::Lt, BinaryOp::Gt]) {
            let to = cx.fresh("other", long, Space::Private, span, &mut body);
            let build = &mut cx.build(span);
            let (from, far) = (build.var(var), build.var(far));
            let shuffle = Shuffle { to, from, far: Some(far), lanes };
            body.push(Stmt::new(StmtKind::Shuffle(Box::new(shuffle)), span));
            let build = &mut cx.build(span);
            let other = build.var(to);
            let is_beyond = build.binary(op, other, from);
            let value = build.either(is_beyond, other, from);
            cx.set(var, value, span, &mut body);
        }
        let build = &mut cx.build(span);
        let (by, end, two) = (build.var(far), build.number(lanes.cast_signed()), build.number(2));
        let condition = Some(build.binary(BinaryOp::Lt, by, end));
        let twice = build.binary(BinaryOp::Mul, by, two);
        let step = Some(build.set(far, twice));
        let each = Loop { kind: LoopKind::Before, condition, step, body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        let mut tell = Block::new();
        for (to, from) in shared.into_iter().zip(own) {
            let value = cx.build(span).var(from);
            cx.set(to, value, span, &mut tell);
        }
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(span);
        let (me, first) = (build.var(me), build.number(0));
        let is_first = build.binary(BinaryOp::Eq, me, first);
        out.push(Stmt::new(StmtKind::If(is_first, tell, Block::new()), span));
    }

    /// The same where they cannot: each looks at all.
    fn extremes(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        [least, most]: [VarId; 2],
        out: &mut Block,
    ) -> Result<()> {
        let span = turns.span;
        let owner = cx.number("owner", Space::Uniform, span, out);
        let one = cx.build(span).number(1);
        cx.set(owner, one, span, out);
        let index = cx.build(span).var(owner);
        let count = self.of(cx, turns, self.counts, index)?;
        let mut body = Block::new();
        for (var, op) in [(least, BinaryOp::Lt), (most, BinaryOp::Gt)] {
            let build = &mut cx.build(span);
            let now = build.var(var);
            let is_beyond = build.binary(op, count, now);
            let value = build.either(is_beyond, count, now);
            cx.set(var, value, span, &mut body);
        }
        let build = &mut cx.build(span);
        let end = build.number(i64::from(turns.owners));
        let condition = Some(build.binary(BinaryOp::Lt, index, end));
        let step = Some(build.increment(owner));
        let each = Loop { kind: LoopKind::Before, condition, step, body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        Ok(())
    }

    /// Summands of some rows, side by side. Of whole rows a thread computes all before it stores one: then all its loads are
    /// on their way at once, as none has to wait for what is stored in memory of the group.
    fn summands(&self, cx: &mut Cx<'_>, turns: &Turns, width: Width) -> Result<StmtId> {
        let (long, span, plan) = (long(cx.program), turns.span, self.plan);
        let me = cx.kernel.threads.number;
        let Width { lanes: side_by_side, most, is_whole } = width;
        let bundles = (turns.threads / side_by_side).max(1);
        let rows = turns.owners / bundles;
        let build = &mut cx.build(span);
        let [row, lane, owner, part] =
            ["row", "lane", "owner", "part"].map(|it| build.fresh_number(it));
        let (thread, lanes) = (build.var(me), build.number(i64::from(side_by_side)));
        let value = build.binary(BinaryOp::Rem, thread, lanes);
        let mut list = vec![declared(build, lane, value)];
        let pieces = most / side_by_side;
        let piece = build.fresh_number("piece");
        let held = plan.sums.iter().filter(|_| is_whole).map(|it| {
            let row = build.array_of(it.ty, u64::from(pieces));
            let all = build.array_of(row, u64::from(rows));
            build.fresh("held", all)
        });
        let held: Vec<VarId> = held.collect();
        list.extend(held.iter().map(|it| build.stmt(C::Local(*it))));
        // One row of threads that run in step.
        let bundle = build.binary(BinaryOp::Div, thread, lanes);
        let (each, at_row) = (build.number(i64::from(rows)), build.var(row));
        let before = build.binary(BinaryOp::Mul, bundle, each);
        let value = build.binary(BinaryOp::Add, before, at_row);
        let mut inside = vec![declared(build, owner, value)];
        let index = build.var(owner);
        let begin = self.of(cx, turns, self.begins, index)?;
        let count = self.of(cx, turns, self.counts, index)?;
        let build = &mut cx.build(span);
        let at = build.var(self.at);
        let at = build.cast(at, long);
        let left = build.fresh("left", long);
        let value = build.binary(BinaryOp::Sub, count, at);
        inside.push(declared(build, left, value));
        // What follows is about rows that have something left.
        let mut of_row = Vec::new();
        let mut vars = FxHashMap::default();
        for (var, array) in plan.known.iter().zip(&self.known) {
            let value = self.of(cx, turns, *array, index)?;
            let build = &mut cx.build(span);
            let (name, ty) = (build.name_of(*var), build.program.vars[*var].ty.plain());
            let copy = build.fresh(&name, ty);
            of_row.push(declared(build, copy, value));
            vars.insert(*var, copy);
        }
        let build = &mut cx.build(span);
        let start = build.fresh("start", long);
        let value = build.binary(BinaryOp::Add, begin, at);
        of_row.push(declared(build, start, value));
        // One summand of a thread.
        let (from, at_part) = (build.var(start), build.var(part));
        let signed = build.cast(at_part, long);
        let value = build.binary(BinaryOp::Add, from, signed);
        let counter = plan.rounds.var;
        let (name, ty) = (build.name_of(counter), build.program.vars[counter].ty.plain());
        let copy = build.fresh(&name, ty);
        let mut one = Vec::new();
        if is_whole {
            one.push(part_of(build, part, [lane, piece], side_by_side));
        }
        one.push(declared(build, copy, value));
        vars.insert(counter, copy);
        let mut copier = Copier { vars, ..Copier::new(cx.program) };
        let mut values = Vec::new();
        for stmt in &plan.body {
            match copier.program.stmts[*stmt].kind {
                C::Local(_) => one.push(copied(&mut copier, *stmt)),
                C::Expr(e) => {
                    let ExprKind::AssignOp(_, _, summand, _) = copier.program.exprs[e].kind else {
                        continue;
                    };
                    values.push(copier.expr(summand));
                }
                _ => {}
            }
        }
        for (at, (value, sum)) in values.into_iter().zip(&plan.sums).enumerate() {
            let place = match held.get(at) {
                Some(held) => held_at(cx, *held, [row, piece], span)?,
                None => {
                    let Some(array) = self.summands.get(at) else { continue };
                    let array = self.of(cx, turns, *array, index)?;
                    element(cx, array, at_part, span)?
                }
            };
            let build = &mut cx.build(span);
            let value = build.cast(value, sum.ty);
            let e = build.assign(place, value);
            one.push(build.stmt(C::Expr(e)));
        }
        let build = &mut cx.build(span);
        let mut one = build.stmt(C::Block(one.into()));
        if !is_whole {
            let left = build.var(left);
            let is_there = build.binary(BinaryOp::Lt, signed, left);
            one = build.stmt(C::If(is_there, one, None));
        }
        of_row.push(match is_whole {
            true => {
                let bounds = [build.number(0), build.number(i64::from(pieces))];
                steps(build, piece, bounds, 1, pieces, one)
            }
            false => {
                let bounds = [build.var(lane), build.number(i64::from(most))];
                steps(build, part, bounds, side_by_side, pieces, one)
            }
        });
        let mut of_row = build.stmt(C::Block(of_row.into()));
        if !is_whole {
            let (left, none) = (build.var(left), build.int(0, long));
            let has_some = build.binary(BinaryOp::Gt, left, none);
            of_row = build.stmt(C::If(has_some, of_row, None));
        }
        inside.push(of_row);
        let body = build.stmt(C::Block(inside.into()));
        let bounds = [build.number(0), build.number(i64::from(rows))];
        list.push(steps(build, row, bounds, 1, rows, body));
        if is_whole {
            list.push(self.stored(
                cx,
                turns,
                (&held, lane, bundle),
                [rows, pieces, side_by_side],
            )?);
        }
        Ok(cx.build(span).stmt(C::Block(list.into())))
    }

    /// What a thread has computed of whole rows goes to memory of the group.
    fn stored(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        (held, lane, bundle): (&[VarId], VarId, ExprId),
        [rows, pieces, side_by_side]: [u32; 3],
    ) -> Result<StmtId> {
        let span = turns.span;
        let build = &mut cx.build(span);
        let [row, part, piece] = ["row", "part", "piece"].map(|it| build.fresh_number(it));
        let mut one = vec![part_of(build, part, [lane, piece], side_by_side)];
        let (each, at_row, at_part) =
            (build.number(i64::from(rows)), build.var(row), build.var(part));
        let before = build.binary(BinaryOp::Mul, bundle, each);
        let owner = build.binary(BinaryOp::Add, before, at_row);
        for (held, array) in held.iter().zip(&self.summands) {
            let value = held_at(cx, *held, [row, piece], span)?;
            let array = self.of(cx, turns, *array, owner)?;
            let place = element(cx, array, at_part, span)?;
            let build = &mut cx.build(span);
            let e = build.assign(place, value);
            one.push(build.stmt(C::Expr(e)));
        }
        let build = &mut cx.build(span);
        let one = build.stmt(C::Block(one.into()));
        let bounds = [build.number(0), build.number(i64::from(pieces))];
        let of_row = steps(build, piece, bounds, 1, pieces, one);
        let bounds = [build.number(0), build.number(i64::from(rows))];
        Ok(steps(build, row, bounds, 1, rows, of_row))
    }

    /// The summands of the thread's own row, one after the other.
    fn sums(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        Width { most, is_whole, .. }: Width,
    ) -> Result<StmtId> {
        let (long, span) = (long(cx.program), turns.span);
        let me = cx.kernel.threads.number;
        let part = cx.build(span).fresh_number("part");
        let mut list = Vec::new();
        for (sum, array) in self.plan.sums.iter().zip(&self.summands) {
            let build = &mut cx.build(span);
            let (me, at) = (build.var(me), build.var(part));
            let row = self.of(cx, turns, *array, me)?;
            let value = element(cx, row, at, span)?;
            let own = turns.own.get(&sum.var).copied().unwrap_or(sum.var);
            let build = &mut cx.build(span);
            let now = build.var(own);
            let now = build.cast(now, sum.ty);
            let next = build.binary(sum.op, now, value);
            let e = build.set(own, next);
            list.push(build.stmt(C::Expr(e)));
        }
        let build = &mut cx.build(span);
        let mut body = build.stmt(C::Block(list.into()));
        if !is_whole {
            let (at, all, index) = (build.var(self.at), build.var(self.count), build.var(part));
            let number = build.binary(BinaryOp::Add, at, index);
            let number = build.cast(number, long);
            let is_there = build.binary(BinaryOp::Lt, number, all);
            let leave = build.stmt(C::Break);
            body = build.stmt(C::If(is_there, body, Some(leave)));
        }
        let bounds = [build.number(0), build.number(i64::from(most))];
        Ok(steps(build, part, bounds, 1, 16, body))
    }
}

impl Work for Rows<'_> {
    fn variables(&self) -> Vec<(VarId, Space)> {
        let own = [(self.at, Space::Uniform), (self.count, Space::Private)].into_iter();
        let group = [self.begins, self.counts].into_iter().chain(self.known.iter().copied());
        let group = group.chain(self.summands.iter().copied()).map(|it| (it, Space::Group));
        own.chain(group).collect()
    }

    fn begin(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()> {
        let span = turns.span;
        let (from, length) = self.bounds(cx, turns);
        cx.set(self.count, length, span, out);
        let me = cx.kernel.threads.number;
        let me = cx.build(span).var(me);
        let known = self.plan.known.iter().zip(&self.known).map(|(var, array)| {
            let own = turns.own.get(var).unwrap_or(var);
            (*array, cx.build(span).var(*own))
        });
        let known: Vec<(VarId, ExprId)> = known.collect();
        for (array, value) in known.into_iter().chain([(self.begins, from)]) {
            let place = self.of(cx, turns, array, me)?;
            let e = cx.build(span).assign(place, value);
            out.push(Stmt::new(StmtKind::Eval(e), span));
        }
        Ok(())
    }

    /// Some summands of each row, then their sums, until there are none.
    fn together(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()> {
        let (long, span) = (long(cx.program), turns.span);
        let me = cx.kernel.threads.number;
        let me = cx.build(span).var(me);
        let place = self.of(cx, turns, self.counts, me)?;
        let is_mine = turns.is_mine(cx);
        let build = &mut cx.build(span);
        let (count, none) = (build.var(self.count), build.int(0, long));
        let value = build.either(is_mine, count, none);
        let e = build.assign(place, count);
        cx.set(self.count, value, span, out);
        let then = vec![Stmt::new(StmtKind::Eval(e), span)];
        let is_owner = turns.is_owner(cx);
        out.push(Stmt::new(StmtKind::If(is_owner, then, Block::new()), span));
        // Those who have iterations exchange by themselves.
        let exchanges = !self.plan.is_even && cx.groups.lanes == u64::from(turns.owners);
        let shared = exchanges.then(|| {
            let shared = ["least", "most"].map(|it| cx.fresh(it, long, Space::Group, span, out));
            self.exchanged(cx, turns, shared, out);
            shared
        });
        out.push(Stmt::new(StmtKind::Barrier, span));
        let zero = cx.build(span).number(0);
        let first = self.of(cx, turns, self.counts, zero)?;
        let [least, most] =
            ["least", "most"].map(|it| cx.fresh(it, long, Space::Uniform, span, out));
        for (at, var) in [least, most].into_iter().enumerate() {
            let value = shared.and_then(|it| it.get(at).copied());
            let value = value.map_or(first, |it| cx.build(span).var(it));
            cx.set(var, value, span, out);
        }
        match self.plan.is_even {
            false if exchanges => {}
            false => self.extremes(cx, turns, [least, most], out)?,
            // Rows that are all alike are as long as the first, or not there.
            true => {
                let build = &mut cx.build(span);
                let (first, owners) =
                    (build.var(turns.first), build.number(i64::from(turns.owners)));
                let behind = build.binary(BinaryOp::Add, first, owners);
                let total = build.var(turns.total);
                let are_there = build.binary(BinaryOp::Le, behind, total);
                let all = build.var(least);
                let value = build.either(are_there, all, none);
                cx.set(least, value, span, out);
            }
        }
        // Before others begin with the next turn.
        out.push(Stmt::new(StmtKind::Barrier, span));
        cx.set(self.at, zero, span, out);
        let short = Width { lanes: EACH, most: SHORT, is_whole: false };
        let short = self.round(cx, turns, |this, cx| {
            Ok([this.summands(cx, turns, short)?, this.sums(cx, turns, short)?]
                .map(|it| code(it, span)))
        })?;
        let build = &mut cx.build(span);
        let (done, more) = (build.var(self.at), build.number(i64::from(self.at_once)));
        let behind = build.binary(BinaryOp::Add, done, more);
        let behind = build.cast(behind, long);
        let least = build.var(least);
        let is_whole = build.binary(BinaryOp::Le, behind, least);
        let body = self.round(cx, turns, |this, cx| {
            let [whole, part] =
                [true, false].map(|is_whole| Width { lanes: LANES, most: this.at_once, is_whole });
            let summands = [this.summands(cx, turns, whole)?, this.summands(cx, turns, part)?];
            let sums = [this.sums(cx, turns, whole)?, this.sums(cx, turns, part)?];
            Ok([summands, sums].map(|[whole, part]| {
                let [whole, part] = [whole, part].map(|it| vec![code(it, span)]);
                Stmt::new(StmtKind::If(is_whole, whole, part), span)
            }))
        })?;
        let build = &mut cx.build(span);
        let (done, end) = (build.var(self.at), build.var(most));
        let signed = build.cast(done, long);
        let condition = Some(build.binary(BinaryOp::Lt, signed, end));
        let next = build.binary(BinaryOp::Add, done, more);
        let step = Some(build.set(self.at, next));
        let limit = build.int(i64::from(SHORT), long);
        let are_short = build.binary(BinaryOp::Le, end, limit);
        let rounds = Loop { kind: LoopKind::Before, condition, step, body };
        let rounds = vec![Stmt::new(StmtKind::Loop(Box::new(rounds)), span)];
        out.push(Stmt::new(StmtKind::If(are_short, short, rounds), span));
        Ok(())
    }
}

impl Rows<'_> {
    /// Summands, then their sums.
    fn round(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        work: impl FnOnce(&Self, &mut Cx<'_>) -> Result<[Stmt; 2]>,
    ) -> Result<Block> {
        let span = turns.span;
        let [summands, sums] = work(self, cx)?;
        let is_owner = turns.is_owner(cx);
        let barrier = Stmt::new(StmtKind::Barrier, span);
        let sums = Stmt::new(StmtKind::If(is_owner, vec![sums], Block::new()), span);
        Ok(vec![summands, barrier.clone(), sums, barrier])
    }
}

/// `part = lane + piece * lanes`
fn part_of(build: &mut Builder<'_>, part: VarId, [lane, piece]: [VarId; 2], lanes: u32) -> StmtId {
    let (from, at, by) = (build.var(lane), build.var(piece), build.number(i64::from(lanes)));
    let far = build.binary(BinaryOp::Mul, at, by);
    let value = build.binary(BinaryOp::Add, from, far);
    declared(build, part, value)
}

/// An element of what a thread has computed of whole rows.
fn held_at(cx: &mut Cx<'_>, held: VarId, [row, piece]: [VarId; 2], span: Span) -> Result<ExprId> {
    let build = &mut cx.build(span);
    let (array, row, piece) = (build.var(held), build.var(row), build.var(piece));
    let row = element(cx, array, row, span)?;
    element(cx, row, piece, span)
}

fn code(stmt: StmtId, span: Span) -> Stmt {
    Stmt::new(StmtKind::Code(stmt), span)
}

/// A signed number of 64 bits.
fn long(program: &mut Program) -> Ty {
    program.types.get(TypeKind::Int(IntKind::Long))
}
