//! `reduce`: what each of a crew has is combined.
//!
//! Threads combine what they have in pairs, neighbours first, so that the order is that of their numbers: those of a
//! subgroup through registers, others through memory of the group. Where what they have changes while it is combined (prefixes) the first does it, one after the other;
//! what takes too much room is combined by each thread in its turn. Groups leave theirs in memory of the launch, and the
//! last of them combines all; where there is no such memory each changes the variable itself, atomically or, as teams do,
//! under the lock.

use ir::construct::{AtomicKind, ReductionOp};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtKind as C, Typed, VarId};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::walk::{self, How};
use kernel::{
    Block, Crew, Elements, Join, Loop, LoopKind, Reduce, Shuffle, Space, Stmt, StmtKind, Who,
    intrinsic,
};
use source::Span;

use super::nest::size_of;
use super::{Cx, Result};
use crate::atomic::access;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let body = std::mem::take(&mut cx.kernel.body);
    cx.kernel.body = block(cx, body);
    Ok(())
}

/// Reductions that follow each other are done at once.
fn block(cx: &mut Cx<'_>, stmts: Block) -> Block {
    let mut out = Block::new();
    let mut list = stmts.into_iter().peekable();
    while let Some(mut stmt) = list.next() {
        let span = stmt.span;
        for inner in stmt.kind.blocks_mut() {
            *inner = block(cx, std::mem::take(inner));
        }
        let StmtKind::Reduce(first) = stmt.kind else {
            out.push(stmt);
            continue;
        };
        let mut made = Block::new();
        match Sum::of(cx, *first, span, &mut made) {
            Ok(sum) => {
                let mut sums = vec![sum];
                while let Some(next) = list.next_if(|it| is_alike(it, &sums)) {
                    let StmtKind::Reduce(it) = next.kind else { continue };
                    match Sum::of(cx, *it, next.span, &mut made) {
                        Ok(sum) => sums.push(sum),
                        Err(it) => alone(cx, *it, next.span, &mut made),
                    }
                }
                match sums.first().map(|it| it.crew) == cx.kernel.all {
                    true => groups(cx, &sums, span, &mut made),
                    false => threads(cx, &sums, span, &mut made),
                }
            }
            Err(it) => alone(cx, *it, span, &mut made),
        }
        out.push(Stmt::new(StmtKind::Block(made), span));
    }
    out
}

/// Whether a statement is a reduction that can be done with others.
fn is_alike(stmt: &Stmt, sums: &[Sum]) -> bool {
    let StmtKind::Reduce(it) = &stmt.kind else { return false };
    let is_whole = it.elements.is_none() && it.join.is_some() && !it.is_league;
    is_whole && sums.iter().all(|sum| sum.crew == it.crew && sum.elements.is_none())
}

/// A reduction that is done by itself.
fn alone(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    match it.is_league {
        // Each thread for itself.
        _ if Some(it.crew) == cx.kernel.all => locked(cx, it.elements, it.combine, span, out),
        true => teams(cx, it, span, out),
        // Each finds its copy changed: a prefix.
        false if it.join.is_none() => one_by_one(cx, it, span, out),
        false => in_turn(cx, it, span, out),
    }
}

/// A reduction whose copies are combined in pairs.
struct Sum {
    crew: Crew,
    elements: Option<Elements>,
    op: ReductionOp<Typed>,
    join: Join,
    combine: Block,
    /// What is combined of a copy: all of it, or the element that the index says.
    value: ExprId,
    size: u64,
    /// Memory of the group for one such value of each subgroup.
    slots: VarId,
}

impl Sum {
    /// Gives the reduction back if it cannot be done so.
    fn of(
        cx: &mut Cx<'_>,
        it: Reduce,
        span: Span,
        out: &mut Block,
    ) -> std::result::Result<Sum, Box<Reduce>> {
        let is_of_teams = it.is_league && Some(it.crew) != cx.kernel.all;
        let Some(join) = it.join.clone().filter(|_| !is_of_teams) else { return Err(it.into()) };
        let value = value(cx, &it, span);
        let Some((value, size, slots)) =
            value.and_then(|it| slots(cx, it, cx.groups.exchange(), span, out))
        else {
            return Err(it.into());
        };
        let Reduce { crew, elements, op, combine, .. } = it;
        Ok(Sum { crew, elements, op, join, combine, value, size, slots })
    }
}

/// What is combined of a copy.
fn value(cx: &mut Cx<'_>, it: &Reduce, span: Span) -> Option<ExprId> {
    let build = &mut cx.build(span);
    let copy = build.var(it.copy);
    let Some(elements) = it.elements else { return Some(copy) };
    let index = build.var(elements.index);
    build.nth(copy, index)
}

/// Memory of the group for one such value of each subgroup, and bytes of a value; nothing if there is no room.
fn slots(
    cx: &mut Cx<'_>,
    value: ExprId,
    lanes: u64,
    span: Span,
    out: &mut Block,
) -> Option<(ExprId, u64, VarId)> {
    let ty = cx.build(span).type_of(value).plain();
    let size = size_of(cx.program, ty);
    let of_groups = cx.kernel.spaces.iter().filter(|it| it.1 == Space::Group);
    let taken = of_groups.map(|it| size_of(cx.program, cx.program.vars[it.0].ty));
    let taken = taken.fold(0, u64::saturating_add);
    let most = cx.groups.most_threads;
    // Half of what is left is for others.
    if size.saturating_mul(most.div_ceil(lanes)) > cx.groups.memory.saturating_sub(taken) / 2 {
        return None;
    }
    let array = cx.build(span).array_of(ty, most.div_ceil(lanes));
    Some((value, size, cx.fresh("slots", array, Space::Group, span, out)))
}

fn threads(cx: &mut Cx<'_>, sums: &[Sum], span: Span, out: &mut Block) {
    let Some(count) = sums.first().map(|it| it.crew.count) else { return };
    let mut body = Block::new();
    tree(cx, sums, count, span, &mut body);
    let combine = sums.iter().flat_map(|it| it.combine.iter().cloned()).collect();
    body.push(Stmt::new(StmtKind::On(Who::Primary, combine), span));
    each_element(cx, elements(sums), body, Space::Uniform, span, out);
    out.push(Stmt::new(StmtKind::Barrier, span));
}

/// Those of the one array, if it is one.
fn elements(sums: &[Sum]) -> Option<Elements> {
    sums.first().and_then(|it| it.elements)
}

/// Runs code for each element, if there are any.
fn each_element(
    cx: &mut Cx<'_>,
    elements: Option<Elements>,
    body: Block,
    space: Space,
    span: Span,
    out: &mut Block,
) {
    let Some(Elements { index, begin, end }) = elements else { return out.extend(body) };
    cx.kernel.spaces.iter_mut().filter(|it| it.0 == index).for_each(|it| it.1 = space);
    let mut block = vec![Stmt::new(StmtKind::Local(index), span)];
    let begin = cx.build(span).number(begin.cast_signed());
    cx.set(index, begin, span, &mut block);
    let build = &mut cx.build(span);
    let (at, end) = (build.var(index), build.number(end.cast_signed()));
    let condition = build.binary(BinaryOp::Lt, at, end);
    let step = build.increment(index);
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    block.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
    out.push(Stmt::new(StmtKind::Block(block), span));
}

/// The first thread has what all have, combined in pairs. Those with numbers from `count` on have nothing.
fn tree(cx: &mut Cx<'_>, sums: &[Sum], count: VarId, span: Span, out: &mut Block) {
    let lanes = cx.groups.exchange();
    if lanes == 1 {
        return pairs(cx, sums, count, span, out);
    }
    shuffled(cx, sums, count, lanes, span, out);
    let subgroups = cx.number("subgroups", Space::Uniform, span, out);
    let me = cx.kernel.threads.number;
    let (mut leave, mut take) = (Block::new(), Block::new());
    let build = &mut cx.build(span);
    let (number, all, some) = (build.var(me), build.var(count), build.var(subgroups));
    let (width, more) = (build.number(lanes.cast_signed()), build.number(lanes.cast_signed() - 1));
    let subgroup = build.binary(BinaryOp::Div, number, width);
    for Sum { value, slots, .. } in sums {
        let (slots, ty) = (build.var(*slots), build.type_of(*value));
        let of_subgroup = build.expr(ExprKind::Index(slots, subgroup), ty);
        let of_thread = build.expr(ExprKind::Index(slots, number), ty);
        let (kept, taken) = (build.copy(of_subgroup, *value), build.copy(*value, of_thread));
        leave.push(Stmt::new(StmtKind::Eval(kept), span));
        take.push(Stmt::new(StmtKind::Eval(taken), span));
    }
    let (rest, zero) = (build.binary(BinaryOp::Rem, number, width), build.number(0));
    let is_first = build.binary(BinaryOp::Eq, rest, zero);
    let is_there = build.binary(BinaryOp::Lt, number, all);
    let is_left = build.and(is_first, is_there);
    let is_taken = build.binary(BinaryOp::Lt, number, some);
    let up = build.binary(BinaryOp::Add, all, more);
    let up = build.binary(BinaryOp::Div, up, width);
    cx.set(subgroups, up, span, out);
    out.push(Stmt::new(StmtKind::If(is_left, leave, Block::new()), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    out.push(Stmt::new(StmtKind::If(is_taken, take, Block::new()), span));
    shuffled(cx, sums, subgroups, cx.groups.most_threads.div_ceil(lanes), span, out);
    // The next element lies where this one lay.
    if sums.iter().any(|it| it.elements.is_some()) {
        out.push(Stmt::new(StmtKind::Barrier, span));
    }
}

/// Each thread with a number that `width` divides has what that many have, of those with numbers below `count`.
fn shuffled(cx: &mut Cx<'_>, sums: &[Sum], count: VarId, width: u64, span: Span, out: &mut Block) {
    let lanes = cx.groups.exchange();
    let me = cx.kernel.threads.number;
    let far = cx.number("far", Space::Uniform, span, out);
    let (mut body, mut pair) = (Block::new(), Block::new());
    for Sum { join, value, .. } in sums {
        let far = cx.build(span).var(far);
        let (to, from) = (join.other, *value);
        body.push(Stmt::new(StmtKind::Local(to), span));
        let shuffle = Shuffle { to, from, far: Some(far), lanes };
        body.push(Stmt::new(StmtKind::Shuffle(Box::new(shuffle)), span));
        pair.extend(join.code.iter().cloned());
    }
    let build = &mut cx.build(span);
    let (number, by, all) = (build.var(me), build.var(far), build.var(count));
    let next = build.binary(BinaryOp::Add, number, by);
    let (two, zero, one) = (build.number(2), build.number(0), build.number(1));
    let twice = build.binary(BinaryOp::Mul, by, two);
    let rest = build.binary(BinaryOp::Rem, number, twice);
    let is_first = build.binary(BinaryOp::Eq, rest, zero);
    let is_some = build.binary(BinaryOp::Lt, next, all);
    let has_pair = build.and(is_first, is_some);
    let end = build.number(width.cast_signed());
    let condition = build.binary(BinaryOp::Lt, by, end);
    let step = build.set(far, twice);
    cx.set(far, one, span, out);
    body.push(Stmt::new(StmtKind::If(has_pair, pair, Block::new()), span));
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
}

/// The same where threads have no other way than memory of the group.
fn pairs(cx: &mut Cx<'_>, sums: &[Sum], count: VarId, span: Span, out: &mut Block) {
    let me = cx.kernel.threads.number;
    let far = cx.number("far", Space::Uniform, span, out);
    let (mut leave, mut pair) = (Block::new(), Block::new());
    let build = &mut cx.build(span);
    let (number, by, all) = (build.var(me), build.var(far), build.var(count));
    let next = build.binary(BinaryOp::Add, number, by);
    for Sum { join, value, slots, .. } in sums {
        let (slots, ty) = (build.var(*slots), build.type_of(*value));
        let own = build.expr(ExprKind::Index(slots, number), ty);
        let another = build.expr(ExprKind::Index(slots, next), ty);
        let other = build.var(join.other);
        let (keep, take) = (build.copy(own, *value), build.copy(other, another));
        leave.push(Stmt::new(StmtKind::Eval(keep), span));
        pair.push(Stmt::new(StmtKind::Local(join.other), span));
        pair.push(Stmt::new(StmtKind::Eval(take), span));
        pair.extend(join.code.iter().cloned());
        pair.push(Stmt::new(StmtKind::Eval(keep), span));
    }
    let (two, zero) = (build.number(2), build.number(0));
    let pairs = build.binary(BinaryOp::Mul, by, two);
    let rest = build.binary(BinaryOp::Rem, number, pairs);
    let is_first = build.binary(BinaryOp::Eq, rest, zero);
    let is_some = build.binary(BinaryOp::Lt, next, all);
    let has_pair = build.and(is_first, is_some);
    let is_there = build.binary(BinaryOp::Lt, number, all);
    let condition = build.binary(BinaryOp::Lt, by, all);
    let step = build.set(far, pairs);
    let one = build.number(1);
    out.push(Stmt::new(StmtKind::If(is_there, leave, Block::new()), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    cx.set(far, one, span, out);
    let body = vec![
        Stmt::new(StmtKind::If(has_pair, pair, Block::new()), span),
        Stmt::new(StmtKind::Barrier, span),
    ];
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
}

/// What all threads of all groups have, in a kernel that they run from its beginning.
fn groups(cx: &mut Cx<'_>, sums: &[Sum], span: Span, out: &mut Block) {
    let threads = cx.kernel.threads;
    let elements = elements(sums);
    let question = cx.kernel.launch.questions;
    let mut words = cx.kernel.launch.words;
    let mut places = Vec::new();
    for Sum { size, elements, .. } in sums {
        let (first, each) = (words, size.div_ceil(8));
        let count = elements.map_or(1, |it| it.end - it.begin);
        words = words.saturating_add(count.saturating_mul(each));
        places.push(Left { first, each, elements: *elements });
    }
    let mut body = Block::new();
    tree(cx, sums, threads.count, span, &mut body);
    if words > cx.groups.words || question >= cx.groups.questions {
        each_element(cx, elements, body, Space::Uniform, span, out);
        let mut body = Block::new();
        for sum in sums {
            let elements = other_index(cx, sum.elements, span);
            let combine = with_index(cx, sum.elements, elements, &sum.combine);
            match atomic(cx, &sum.op, &combine, span) {
                Some(once) => each_element(cx, elements, once, Space::Private, span, &mut body),
                None => locked(cx, elements, combine, span, &mut body),
            }
        }
        let is_first = first(cx, span);
        out.push(Stmt::new(StmtKind::If(is_first, body, Block::new()), span));
        return;
    }
    (cx.kernel.launch.words, cx.kernel.launch.questions) = (words, question + 1);
    let combine: Block = sums.iter().flat_map(|it| it.combine.iter().cloned()).collect();
    // A group that is alone has all; where threads exchange values compilers know barriers in conditions.
    let asks_for_others = elements.is_none() && cx.groups.exchange() > 1;
    if asks_for_others {
        out.append(&mut body);
    }
    let mut rest = Block::new();
    let mut leave = Block::new();
    let group = cx.kernel.groups.number;
    for (sum, at) in sums.iter().zip(&places) {
        let value = lent(cx, sum.value, span, &mut leave);
        let build = &mut cx.build(span);
        if value != sum.value {
            let copied = build.copy(value, sum.value);
            leave.push(Stmt::new(StmtKind::Eval(copied), span));
        }
        let (word, from) = (at.word(build), build.address(value));
        let place = build.var(group);
        let left = intrinsic::leave(build, word, from, sum.size, place);
        leave.push(Stmt::new(StmtKind::Eval(left), span));
    }
    let is_first = first(cx, span);
    body.push(Stmt::new(StmtKind::If(is_first, leave, Block::new()), span));
    each_element(cx, elements, body, Space::Uniform, span, &mut rest);
    let int = cx.build(span).int_type();
    let last = cx.fresh("last", int, Space::Group, span, &mut rest);
    let mut ask = Block::new();
    let answer = intrinsic::is_last(&mut cx.build(span), question);
    cx.set(last, answer, span, &mut ask);
    let is_first = first(cx, span);
    rest.push(Stmt::new(StmtKind::If(is_first, ask, Block::new()), span));
    rest.push(Stmt::new(StmtKind::Barrier, span));
    // All groups go the same way, the last with something to do: compilers fail at barriers of loops in conditions.
    let mut body = Block::new();
    let count = taken(cx, sums, &places, last, span, &mut body);
    tree(cx, sums, count, span, &mut body);
    let is_mine = {
        let is_first = first(cx, span);
        let build = &mut cx.build(span);
        let last = build.var(last);
        build.and(last, is_first)
    };
    body.push(Stmt::new(StmtKind::If(is_mine, combine.clone(), Block::new()), span));
    each_element(cx, elements, body, Space::Uniform, span, &mut rest);
    if !asks_for_others {
        return out.append(&mut rest);
    }
    let is_first = first(cx, span);
    let groups = cx.kernel.groups.count;
    let build = &mut cx.build(span);
    let (all, one) = (build.var(groups), build.number(1));
    let is_alone = build.binary(BinaryOp::Eq, all, one);
    let alone = vec![Stmt::new(StmtKind::If(is_first, combine, Block::new()), span)];
    out.push(Stmt::new(StmtKind::If(is_alone, alone, rest), span));
}

/// Code that combines one value as an atomic construct, where the device has such steps.
fn atomic(cx: &mut Cx<'_>, op: &ReductionOp<Typed>, combine: &Block, span: Span) -> Option<Block> {
    let [Stmt { kind: StmtKind::Code(code), .. }] = combine.as_slice() else { return None };
    let kinds: &[AtomicKind] = match op {
        _ if !cx.groups.atomics => return None,
        ReductionOp::Min | ReductionOp::Max => &[AtomicKind::Compare],
        ReductionOp::Add
        | ReductionOp::Sub
        | ReductionOp::Mul
        | ReductionOp::BitAnd
        | ReductionOp::BitOr
        | ReductionOp::BitXor => &[],
        ReductionOp::And | ReductionOp::Or | ReductionOp::User(_) => return None,
    };
    let id = cx.atomic(*code, kinds, span);
    let object = access(cx.program, id)?.change.object();
    cx.program.types.is_scalar(cx.program.exprs[object].ty).then_some(())?;
    let code = cx.build(span).stmt(C::Region(id));
    Some(vec![Stmt::new(StmtKind::Code(code), span)])
}

/// What stands for a value whose address is taken: compilers of OpenCL C, and our stacks there, keep in memory what a pointer
/// has ever led to.
fn lent(cx: &mut Cx<'_>, value: ExprId, span: Span, out: &mut Block) -> ExprId {
    let ty = cx.build(span).type_of(value).plain();
    if cx.groups.lanes > 1 || !cx.program.types.is_scalar(ty) {
        return value;
    }
    let var = cx.fresh("value", ty, Space::Private, span, out);
    cx.build(span).var(var)
}

/// Where a group leaves what it has.
struct Left {
    /// The first word.
    first: u64,
    /// Words of each element.
    each: u64,
    elements: Option<Elements>,
}

impl Left {
    /// The first word of an element.
    fn word(&self, build: &mut Builder<'_>) -> ExprId {
        let first = build.number(self.first.cast_signed());
        let Some(Elements { index, begin, .. }) = self.elements else { return first };
        let (index, begin) = (build.var(index), build.number(begin.cast_signed()));
        let (number, each) =
            (build.binary(BinaryOp::Sub, index, begin), build.number(self.each.cast_signed()));
        let far = build.binary(BinaryOp::Mul, number, each);
        build.binary(BinaryOp::Add, first, far)
    }
}

/// Each thread of the last group takes what some groups have left, and combines it; answers how many threads have
/// something then.
fn taken(
    cx: &mut Cx<'_>,
    sums: &[Sum],
    places: &[Left],
    last: VarId,
    span: Span,
    out: &mut Block,
) -> VarId {
    let (threads, groups) = (cx.kernel.threads, cx.kernel.groups);
    let count = cx.number("count", Space::Uniform, span, out);
    let least = {
        let build = &mut cx.build(span);
        let (threads, groups) = (build.var(threads.count), build.var(groups.count));
        let (least, none, last) = (build.min(threads, groups), build.number(0), build.var(last));
        build.either(last, least, none)
    };
    cx.set(count, least, span, out);
    let mut body = Block::new();
    let at = cx.number("at", Space::Private, span, &mut body);
    let mut round = Block::new();
    for (Sum { join, value, size, .. }, place) in sums.iter().zip(places) {
        let own = lent(cx, *value, span, &mut body);
        let build = &mut cx.build(span);
        let (number, group) = (build.var(threads.number), build.var(at));
        let (word, other) = (place.word(build), build.var(join.other));
        let (from, other) = (build.address(own), build.address(other));
        let taken = intrinsic::take(build, word, from, *size, number);
        let more = intrinsic::take(build, word, other, *size, group);
        body.push(Stmt::new(StmtKind::Eval(taken), span));
        if own != *value {
            let copied = build.copy(*value, own);
            body.push(Stmt::new(StmtKind::Eval(copied), span));
        }
        round.push(Stmt::new(StmtKind::Local(join.other), span));
        round.push(Stmt::new(StmtKind::Eval(more), span));
        round.extend(join.code.iter().cloned());
    }
    let build = &mut cx.build(span);
    let (number, group, by) = (build.var(threads.number), build.var(at), build.var(threads.count));
    let begin = build.binary(BinaryOp::Add, number, by);
    let all = build.var(groups.count);
    let condition = build.binary(BinaryOp::Lt, group, all);
    let next = build.binary(BinaryOp::Add, group, by);
    let step = build.set(at, next);
    let some = build.var(count);
    let is_some = build.binary(BinaryOp::Lt, number, some);
    cx.set(at, begin, span, &mut body);
    let (kind, condition, step) = (LoopKind::Before, Some(condition), Some(step));
    let each = Loop { kind, condition, step, body: round };
    body.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
    out.push(Stmt::new(StmtKind::If(is_some, body, Block::new()), span));
    count
}

/// Whether a thread is the first of its group.
fn first(cx: &mut Cx<'_>, span: Span) -> ExprId {
    let me = cx.kernel.threads.number;
    let build = &mut cx.build(span);
    let (me, zero) = (build.var(me), build.number(0));
    build.binary(BinaryOp::Eq, me, zero)
}

/// The same elements, counted by another variable.
fn other_index(cx: &mut Cx<'_>, elements: Option<Elements>, span: Span) -> Option<Elements> {
    let elements = elements?;
    let index = cx.build(span).fresh_number("index");
    cx.kernel.spaces.push((index, Space::Private));
    Some(Elements { index, ..elements })
}

/// Code with another variable that counts elements.
fn with_index(
    cx: &mut Cx<'_>,
    from: Option<Elements>,
    to: Option<Elements>,
    code: &Block,
) -> Block {
    let mut copier = Copier::new(cx.program);
    copier.vars.extend(from.zip(to).map(|(from, to)| (from.index, to.index)));
    let copied = |stmt: &Stmt| match stmt.kind {
        StmtKind::Code(id) => Stmt::new(StmtKind::Code(copier.stmt(id)), stmt.span),
        _ => stmt.clone(),
    };
    code.iter().map(copied).collect()
}

/// The first combines what threads have left, one after the other, and they find what it has become.
fn one_by_one(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let ty = cx.program.vars[it.copy].ty.plain();
    let value = value(cx, &it, span);
    let Some((.., slots)) = value.and_then(|it| slots(cx, it, 1, span, out)) else {
        return in_turn(cx, it, span, out);
    };
    let is_changed = changes(cx.program, &it);
    let (leave, take, give, find, at) = {
        let at = cx.build(span).fresh_number("at");
        let build = &mut cx.build(span);
        let (all, number, copy) = (build.var(slots), build.var(it.crew.number), build.var(it.copy));
        let own = build.expr(ExprKind::Index(all, number), ty);
        let leave = build.copy(own, copy);
        let (all, index, copy) = (build.var(slots), build.var(at), build.var(it.copy));
        let other = build.expr(ExprKind::Index(all, index), ty);
        let take = build.copy(copy, other);
        let (give, find) = (build.copy(other, copy), build.copy(copy, own));
        (leave, take, give, find, at)
    };
    out.push(Stmt::new(StmtKind::Eval(leave), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    cx.kernel.spaces.push((at, Space::Private));
    let mut body = vec![Stmt::new(StmtKind::Eval(take), span)];
    body.extend(it.combine);
    if is_changed {
        body.push(Stmt::new(StmtKind::Eval(give), span));
    }
    let mut first = vec![Stmt::new(StmtKind::Local(at), span)];
    let zero = cx.build(span).number(0);
    cx.set(at, zero, span, &mut first);
    let build = &mut cx.build(span);
    let (index, count) = (build.var(at), build.var(it.crew.count));
    let condition = build.binary(BinaryOp::Lt, index, count);
    let step = build.increment(at);
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    first.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
    out.push(Stmt::new(StmtKind::On(Who::Primary, first), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    if is_changed {
        // Others leave theirs only after all have met again.
        out.push(Stmt::new(StmtKind::Eval(find), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
    }
}

/// Whether what each has is another after it was combined.
fn changes(program: &Program, it: &Reduce) -> bool {
    let writes = |part| {
        let (uses, _) = walk::uses(program, part);
        uses.iter().any(|one| one.how == How::Written && one.var == it.copy)
    };
    walk::all(&it.combine).iter().any(|stmt| {
        let mut exprs = stmt.kind.exprs().into_iter();
        let in_code = matches!(stmt.kind, StmtKind::Code(code) if writes(Part::Stmt(code)));
        in_code || exprs.any(|e| writes(Part::Expr(e)) || copies_to(program, e, it.copy))
    })
}

/// Whether an expression copies bytes to a variable.
fn copies_to(program: &Program, e: ExprId, var: VarId) -> bool {
    let ExprKind::Call(_, args) = &program.exprs[e].kind else { return false };
    let Some(to) = args.first() else { return false };
    let names = |it: &ExprKind| matches!(it, ExprKind::Var(it) if *it == var);
    program.any_expr(Part::Expr(*to), names)
}

/// Each thread combines its own when it is its turn.
fn in_turn(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let turn = cx.number("turn", Space::Uniform, span, out);
    let zero = cx.build(span).number(0);
    cx.set(turn, zero, span, out);
    let build = &mut cx.build(span);
    let (at, number) = (build.var(turn), build.var(it.crew.number));
    let is_mine = build.binary(BinaryOp::Eq, at, number);
    let count = build.var(it.crew.count);
    let condition = build.binary(BinaryOp::Lt, at, count);
    let step = build.increment(turn);
    let mut combine = Block::new();
    each_element(cx, it.elements, it.combine, Space::Private, span, &mut combine);
    let body = vec![
        Stmt::new(StmtKind::If(is_mine, combine, Block::new()), span),
        Stmt::new(StmtKind::Barrier, span),
    ];
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
}

/// The first thread of each team combines its own while no other does.
fn teams(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let mut block = Block::new();
    locked(cx, it.elements, it.combine, span, &mut block);
    out.push(Stmt::new(StmtKind::On(Who::Primary, block), span));
}

/// Runs code for each element while no other thread does.
fn locked(cx: &mut Cx<'_>, elements: Option<Elements>, code: Block, span: Span, out: &mut Block) {
    let done = cx.number("done", Space::Private, span, out);
    let zero = cx.build(span).number(0);
    cx.set(done, zero, span, out);
    let mut body = Block::new();
    each_element(cx, elements, code, Space::Private, span, &mut body);
    let build = &mut cx.build(span);
    let unlock = intrinsic::act(build, intrinsic::UNLOCK);
    let one = build.number(1);
    let end = build.set(done, one);
    body.push(Stmt::new(StmtKind::Eval(unlock), span));
    body.push(Stmt::new(StmtKind::Eval(end), span));
    let attempt = intrinsic::attempt(build, intrinsic::TRY_LOCK);
    let is_done = build.var(done);
    let condition = build.not(is_done);
    let body = vec![Stmt::new(StmtKind::If(attempt, body, Block::new()), span)];
    let wait = Loop { kind: LoopKind::Before, condition: Some(condition), step: None, body };
    out.push(Stmt::new(StmtKind::Loop(Box::new(wait)), span));
}
