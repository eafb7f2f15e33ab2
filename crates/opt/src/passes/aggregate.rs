//! `aggregate`: a group takes from a counter once for all its threads.
//!
//! In: a loop that all threads share, whose iterations take a number from a counter that is the same for all of them and
//! go on with it: compaction, queues, lists that grow (`atomic capture` of an integer that is added to). Out: rounds in
//! which each thread has an iteration. What comes before the counter is run, and takes from a counter of the group in its
//! memory; one thread adds what that has become to the counter itself; then what comes after is run. The numbers are those
//! of some order of the iterations, as before. Counters in loops of an iteration stay as they are.

use ir::construct::{ClauseKind, Leaf, MemoryOrder};
use ir::program::{
    BinaryOp, ExprId, ExprKind, Init, Program, RegionId, StmtId, StmtKind as C, VarId, VarStorage,
};
use ir::types::{Ty, TypeKind};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::{Block, Kernel, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::nest::{is_known, iteration_code, listed, mentions, replace_share, size_of};
use super::numbering::{Sharing, forever};
use super::{Cx, Result};
use crate::atomic::{Access, Change, Taken, access};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    // Threads of a group that do not run in step gain nothing.
    if !cx.groups.atomics || cx.groups.lanes == 1 {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, _, span| {
        let Some(plan) = plan(cx, share) else { return Ok(None) };
        let made = rounds(cx, share.clone(), plan, span)?;
        let note = "groups take numbers from counters once for all their threads";
        cx.kernel.launch.notes.push(note.to_owned());
        Ok(Some(made))
    })
}

/// A construct that takes a number.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    id: RegionId,
    /// The counter, and its type.
    object: ExprId,
    ty: Ty,
    /// What is done to it.
    op: BinaryOp,
    value: Option<ExprId>,
    /// What takes the number, and whether it is the one before the change.
    by: ExprId,
    is_old: bool,
}

/// An iteration up to its counters, and from there on.
#[derive(Debug, Default)]
struct Plan {
    /// Its statements.
    code: Vec<StmtId>,
    /// Counters that iterations come to at most once, in the order of the text.
    tickets: Vec<Ticket>,
    /// Variables that are declared before and known after.
    own: Vec<VarId>,
}

fn plan(cx: &mut Cx<'_>, share: &Share) -> Option<Plan> {
    let (code, guards) = iteration_code(share)?;
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let bounds = share.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
    let are_known = bounds.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims));
    let names = kernel::walk::uses(cx.program, Part::Stmt(code)).0;
    let is_numbered = names.iter().any(|it| it.var == share.number);
    if !guards.is_empty() || !are_known || is_numbered || !has_atomic(cx.program, code) {
        return None;
    }
    let mut plan = Plan { code: listed(cx.program, code), ..Plan::default() };
    let list = plan.code.clone();
    plan.find(cx.program, cx.kernel, &list)?;
    (!plan.tickets.is_empty()).then_some(plan)
}

fn has_atomic(program: &Program, code: StmtId) -> bool {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Region(id) = part
            && program.regions[id].construct.has(Leaf::Atomic)
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

impl Plan {
    /// Finds the counters that statements come to first, and what is declared before them.
    fn find(&mut self, program: &Program, kernel: &Kernel, list: &[StmtId]) -> Option<()> {
        let Some(at) = list.iter().position(|it| self.splits(program, kernel, *it)) else {
            return Some(());
        };
        for stmt in list.get(..at)? {
            if let C::Local(var) = program.stmts[*stmt].kind {
                is_movable(program, var).then_some(())?;
                self.own.push(var);
            }
        }
        let stmt = *list.get(at)?;
        match &program.stmts[stmt].kind {
            C::Block(inner) => self.find(program, kernel, inner),
            C::If(_, then, other) => {
                self.find(program, kernel, &[*then])?;
                other.map_or(Some(()), |it| self.find(program, kernel, &[it]))
            }
            C::Region(id) => {
                self.tickets.push(ticket(program, kernel, *id, &self.own)?);
                Some(())
            }
            _ => None,
        }
    }

    /// Whether a statement is a counter, or has one in a branch.
    fn splits(&self, program: &Program, kernel: &Kernel, stmt: StmtId) -> bool {
        match &program.stmts[stmt].kind {
            C::Block(inner) => inner.iter().any(|it| self.splits(program, kernel, *it)),
            C::If(_, then, other) => {
                self.splits(program, kernel, *then)
                    || other.is_some_and(|it| self.splits(program, kernel, it))
            }
            C::Region(id) => ticket(program, kernel, *id, &self.own).is_some(),
            _ => false,
        }
    }

    fn ticket(&self, program: &Program, stmt: StmtId) -> Option<(usize, Ticket)> {
        let C::Region(id) = program.stmts[stmt].kind else { return None };
        self.tickets.iter().copied().enumerate().find(|it| it.1.id == id)
    }

    fn has_ticket(&self, program: &Program, stmt: StmtId) -> bool {
        match &program.stmts[stmt].kind {
            C::Block(inner) => inner.iter().any(|it| self.has_ticket(program, *it)),
            C::If(_, then, other) => {
                self.has_ticket(program, *then)
                    || other.is_some_and(|it| self.has_ticket(program, it))
            }
            _ => self.ticket(program, stmt).is_some(),
        }
    }
}

/// Whether a variable can be declared in one place and given its value in another.
fn is_movable(program: &Program, var: VarId) -> bool {
    let it = &program.vars[var];
    let types = &program.types;
    let is_value = types.is_scalar(it.ty) || matches!(types.shape(it.ty), TypeKind::Record(_));
    let is_listed = it.init.is_some_and(|it| matches!(program.inits[it], Init::List(..)));
    matches!(it.storage, VarStorage::Local(_))
        && !it.ty.quals.is_volatile
        && !types.is_variably_modified(it.ty)
        && (is_value && !is_listed || types.is_array(it.ty) && it.init.is_none())
}

/// A construct that takes a number from a counter which all iterations share.
fn ticket(program: &Program, kernel: &Kernel, id: RegionId, own: &[VarId]) -> Option<Ticket> {
    let construct = &program.regions[id].construct;
    let orders = |it: &ClauseKind<_>| matches!(it, ClauseKind::MemoryOrder(it) if *it != MemoryOrder::Relaxed);
    if !construct.has(Leaf::Atomic) || construct.kinds().any(orders) {
        return None;
    }
    let Access { change, taken } = access(program, id)?;
    let Change::Update { object, op, value, is_right: false } = change else { return None };
    let (by, is_old) = match taken {
        Taken { before: Some(by), after: None, otherwise: None, holds: None } => (by, true),
        Taken { before: None, after: Some(by), otherwise: None, holds: None } => (by, false),
        _ => return None,
    };
    let ty = program.types.resolve(program.exprs[object].ty).plain();
    let is_counter = matches!(program.types.shape(ty), TypeKind::Int(_))
        && [4, 8].contains(&size_of(program, ty))
        && !program.exprs[object].ty.quals.is_volatile;
    let root = kernel::walk::object(program, object);
    let is_integer = |it: ExprId| {
        let is_apart = root.is_none_or(|root| !mentions(program, it, |it| it == root));
        is_apart && program.types.is_integer(program.exprs[it].ty)
    };
    (is_counter
        && matches!(op, BinaryOp::Add | BinaryOp::Sub)
        && value.is_none_or(is_integer)
        && is_one(program, kernel, object, own))
    .then_some(Ticket { id, object, ty, op, value, by, is_old })
}

/// Whether an object is the same for all iterations.
fn is_one(program: &Program, kernel: &Kernel, object: ExprId, own: &[VarId]) -> bool {
    let region = &program.regions[kernel.region];
    let is_given = |var: VarId, may_change: bool| {
        let mut vars = region.vars.iter();
        let is_shared = kernel.space(var).is_none() && !own.contains(&var);
        is_shared && vars.any(|it| it.var == var && (may_change || !it.written))
    };
    match program.exprs[object].kind {
        ExprKind::Var(var) => is_given(var, true),
        ExprKind::Member(of, ..) => is_one(program, kernel, of, own),
        ExprKind::Index(base, index) => {
            is_known(program, kernel, index, &[]) && is_base(program, kernel, base, own, &is_given)
        }
        ExprKind::Deref(base) => is_base(program, kernel, base, own, &is_given),
        _ => false,
    }
}

/// Whether a pointer is the same for all iterations.
fn is_base(
    program: &Program,
    kernel: &Kernel,
    base: ExprId,
    own: &[VarId],
    is_given: &dyn Fn(VarId, bool) -> bool,
) -> bool {
    let base = program.peeled(base);
    match program.exprs[base].kind {
        ExprKind::Var(var) => is_given(var, program.types.is_array(program.exprs[base].ty)),
        ExprKind::AddrOf(of) => is_one(program, kernel, of, own),
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            is_base(program, kernel, a, own, is_given) && is_known(program, kernel, b, &[])
        }
        ExprKind::Index(..) | ExprKind::Member(..)
            if program.types.is_array(program.exprs[base].ty) =>
        {
            is_one(program, kernel, base, own)
        }
        _ => false,
    }
}

/// What a counter has in a group.
#[derive(Clone, Copy, Debug)]
struct Counter {
    ticket: Ticket,
    /// What threads take from, in memory of the group.
    near: VarId,
    /// What the counter itself was before, in memory of the group.
    start: VarId,
    /// What a thread took.
    rank: VarId,
}

/// An iteration that is split.
struct Split<'a, 'p> {
    cx: &'a mut Cx<'p>,
    span: Span,
    plan: Plan,
    counters: Vec<Counter>,
    /// Variables of the iteration, and those of the round that stand for them.
    vars: FxHashMap<VarId, VarId>,
    /// Which branches were taken: the declarations, with which all begin as not taken.
    taken: Block,
    flags: FxHashMap<StmtId, VarId>,
}

fn rounds(cx: &mut Cx<'_>, share: Share, plan: Plan, span: Span) -> Result<Block> {
    let mut out = Block::new();
    let total = cx.number("total", Space::Uniform, span, &mut out);
    let nest = Sharing { cx, span, space: Space::Uniform }.nest(&share.dims, total, &mut out)?;
    let base = cx.number("base", Space::Uniform, span, &mut out);
    let mut round = Block::new();
    let mut vars = FxHashMap::default();
    for var in &plan.own {
        let (name, ty) = (cx.build(span).name_of(*var), cx.program.vars[*var].ty.plain());
        let new = cx.fresh(&name, ty, Space::Private, span, &mut round);
        vars.insert(*var, new);
    }
    let mut counters = Vec::new();
    for ticket in &plan.tickets {
        let near = cx.fresh("taken", ticket.ty, Space::Group, span, &mut out);
        let start = cx.fresh("start", ticket.ty, Space::Group, span, &mut out);
        let rank = cx.fresh("rank", ticket.ty, Space::Private, span, &mut round);
        counters.push(Counter { ticket: *ticket, near, start, rank });
    }
    let (threads, groups) = (cx.kernel.threads, cx.kernel.groups);
    let mut split =
        Split { cx, span, plan, counters, vars, taken: Block::new(), flags: FxHashMap::default() };
    let code = split.plan.code.clone();
    let first = split.first(&code);
    let second = split.second(&code);
    let begin = split.primary(|split, it| {
        let build = &mut split.cx.build(span);
        let zero = build.int(0, it.ticket.ty);
        let e = build.set(it.near, zero);
        build.stmt(C::Expr(e))
    });
    let take = split.primary(Split::take);
    let Split { cx, taken, .. } = split;
    round.extend(taken);
    round.push(begin);
    round.push(Stmt::new(StmtKind::Barrier, span));
    let build = &mut cx.build(span);
    let (at, me) = (build.var(base), build.var(threads.number));
    let number = build.binary(BinaryOp::Add, at, me);
    cx.set(share.number, number, span, &mut round);
    let build = &mut cx.build(span);
    let (number, all) = (build.var(share.number), build.var(total));
    let is_there = build.binary(BinaryOp::Lt, number, all);
    let mut before = Block::new();
    Sharing { cx, span, space: Space::Private }.place(&nest, share.number, &mut before)?;
    before.push(Stmt::new(StmtKind::Code(first), span));
    round.push(Stmt::new(StmtKind::If(is_there, before, Block::new()), span));
    round.push(Stmt::new(StmtKind::Barrier, span));
    round.push(take);
    round.push(Stmt::new(StmtKind::Barrier, span));
    let after = vec![Stmt::new(StmtKind::Code(second), span)];
    round.push(Stmt::new(StmtKind::If(is_there, after, Block::new()), span));
    let build = &mut cx.build(span);
    let (group, count) = (build.var(groups.number), build.var(threads.count));
    let begin = build.binary(BinaryOp::Mul, group, count);
    cx.set(base, begin, span, &mut out);
    let build = &mut cx.build(span);
    let (at, all, groups) = (build.var(base), build.var(total), build.var(groups.count));
    let condition = build.binary(BinaryOp::Lt, at, all);
    let far = build.binary(BinaryOp::Mul, groups, count);
    let next = build.binary(BinaryOp::Add, at, far);
    let step = build.set(base, next);
    out.push(forever(Some(condition), Some(step), round, span));
    Ok(vec![Stmt::new(StmtKind::Block(out), span)])
}

impl Split<'_, '_> {
    /// What the first thread of a group does to each counter.
    fn primary(&mut self, made: impl Fn(&mut Self, Counter) -> StmtId) -> Stmt {
        let (span, me) = (self.span, self.cx.kernel.threads.number);
        let list: Vec<StmtId> =
            self.counters.clone().into_iter().map(|it| made(self, it)).collect();
        let build = &mut self.cx.build(span);
        let (me, zero) = (build.var(me), build.number(0));
        let is_first = build.binary(BinaryOp::Eq, me, zero);
        let code = build.stmt(C::Block(list.into()));
        let then = vec![Stmt::new(StmtKind::Code(code), span)];
        Stmt::new(StmtKind::If(is_first, then, Block::new()), span)
    }

    /// `{ start = counter; counter += near; }`, if anything was taken.
    fn take(&mut self, it: Counter) -> StmtId {
        let Counter { ticket, near, start, .. } = it;
        let object = self.copied_expr(ticket.object);
        let build = &mut self.cx.build(self.span);
        let sum = build.var(near);
        let change =
            build.expr(ExprKind::AssignOp(BinaryOp::Add, object, sum, ticket.ty), ticket.ty);
        let take = self.captured(ticket.id, start, object, change, true);
        let build = &mut self.cx.build(self.span);
        let zero = build.int(0, ticket.ty);
        let is_some = build.binary(BinaryOp::Ne, sum, zero);
        build.stmt(C::If(is_some, take, None))
    }

    /// The construct with other statements: `by` takes an object that is changed.
    fn captured(
        &mut self,
        id: RegionId,
        by: VarId,
        object: ExprId,
        change: ExprId,
        is_old: bool,
    ) -> StmtId {
        let build = &mut self.cx.build(self.span);
        let take = build.set(by, object);
        let mut list = [take, change].map(|it| build.stmt(C::Expr(it)));
        if !is_old {
            list.reverse();
        }
        let body = build.stmt(C::Block(list.into()));
        let mut region = build.program.regions[id].clone();
        region.body = Some(body);
        let region = build.program.regions.push(region);
        build.stmt(C::Region(region))
    }

    /// Statements up to the counters, as one.
    fn first(&mut self, list: &[StmtId]) -> StmtId {
        let mut made = Vec::new();
        for stmt in list {
            if self.plan.has_ticket(self.cx.program, *stmt) {
                made.push(self.first_of(*stmt));
                break;
            }
            made.extend(self.copied(*stmt));
        }
        self.cx.build(self.span).stmt(C::Block(made.into()))
    }

    fn first_of(&mut self, stmt: StmtId) -> StmtId {
        if let Some((at, ticket)) = self.plan.ticket(self.cx.program, stmt)
            && let Some(Counter { near, rank, .. }) = self.counters.get(at).copied()
        {
            let value = ticket.value.map(|it| self.copied_expr(it));
            let build = &mut self.cx.build(self.span);
            let value = value.unwrap_or_else(|| build.int(1, ticket.ty));
            let value = build.cast(value, ticket.ty);
            let near = build.var(near);
            let change =
                build.expr(ExprKind::AssignOp(ticket.op, near, value, ticket.ty), ticket.ty);
            return self.captured(ticket.id, rank, near, change, ticket.is_old);
        }
        match self.cx.program.stmts[stmt].kind.clone() {
            C::Block(inner) => self.first(&inner),
            C::If(condition, then, other) => {
                let condition = self.copied_expr(condition);
                let then = self.branch(then);
                let other = other.map(|it| self.branch(it));
                self.cx.build(self.span).stmt(C::If(condition, then, other))
            }
            _ => stmt,
        }
    }

    /// A branch up to its counters, and that it was taken.
    fn branch(&mut self, stmt: StmtId) -> StmtId {
        if !self.plan.has_ticket(self.cx.program, stmt) {
            let made = self.copied(stmt);
            return self.cx.build(self.span).stmt(C::Block(made.into_iter().collect()));
        }
        let span = self.span;
        let ty = self.cx.build(span).int_type();
        let flag = self.cx.fresh("is_taken", ty, Space::Private, span, &mut self.taken);
        let zero = self.cx.build(span).int(0, ty);
        self.cx.set(flag, zero, span, &mut self.taken);
        self.flags.insert(stmt, flag);
        let rest = self.first(&[stmt]);
        let build = &mut self.cx.build(span);
        let one = build.int(1, ty);
        let set = build.set(flag, one);
        let set = build.stmt(C::Expr(set));
        build.stmt(C::Block([set, rest].into()))
    }

    /// Statements from the counters on, as one.
    fn second(&mut self, list: &[StmtId]) -> StmtId {
        let mut made = Vec::new();
        let mut is_behind = false;
        for stmt in list {
            if is_behind {
                made.extend(self.copied(*stmt));
            } else if self.plan.has_ticket(self.cx.program, *stmt) {
                is_behind = true;
                made.push(self.second_of(*stmt));
            }
        }
        self.cx.build(self.span).stmt(C::Block(made.into()))
    }

    fn second_of(&mut self, stmt: StmtId) -> StmtId {
        if let Some((at, ticket)) = self.plan.ticket(self.cx.program, stmt)
            && let Some(Counter { start, rank, .. }) = self.counters.get(at).copied()
        {
            let by = self.copied_expr(ticket.by);
            let build = &mut self.cx.build(self.span);
            let (start, rank) = (build.var(start), build.var(rank));
            let number = build.binary(BinaryOp::Add, start, rank);
            let e = build.assign(by, number);
            return build.stmt(C::Expr(e));
        }
        match self.cx.program.stmts[stmt].kind.clone() {
            C::Block(inner) => self.second(&inner),
            C::If(_, then, other) => {
                let mut made = Vec::new();
                for branch in [Some(then), other].into_iter().flatten() {
                    let Some(flag) = self.flags.get(&branch).copied() else { continue };
                    let rest = self.second(&[branch]);
                    let build = &mut self.cx.build(self.span);
                    let is_taken = build.var(flag);
                    made.push(build.stmt(C::If(is_taken, rest, None)));
                }
                self.cx.build(self.span).stmt(C::Block(made.into()))
            }
            _ => stmt,
        }
    }

    fn copied_expr(&mut self, e: ExprId) -> ExprId {
        Copier { vars: self.vars.clone(), ..Copier::new(self.cx.program) }.expr(e)
    }

    /// A statement about variables of the round; a declaration of one gives it its value.
    fn copied(&mut self, stmt: StmtId) -> Option<StmtId> {
        if let C::Local(var) = self.cx.program.stmts[stmt].kind
            && let Some(own) = self.vars.get(&var).copied()
        {
            let init = self.cx.program.vars[var].init?;
            let Init::Expr(value) = self.cx.program.inits[init] else { return None };
            let value = self.copied_expr(value);
            let build = &mut self.cx.build(self.span);
            let to = build.var(own);
            let e = build.copy(to, value);
            return Some(build.stmt(C::Expr(e)));
        }
        // What it declares is named by the statements behind it.
        let vars = std::mem::take(&mut self.vars);
        let mut copier = Copier { vars, ..Copier::new(self.cx.program) };
        let made = copier.stmt(stmt);
        self.vars = copier.vars;
        Some(made)
    }
}
