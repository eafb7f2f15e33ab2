//! Iterations of a shared loop that groups take in turns: some at a time, each of one thread, while all threads of the
//! group work for all of them.
//!
//! In: a loop that all threads share, and [`Work`], what is done for the iterations of a turn. Out: the loop in turns where
//! groups have the number of threads that was counted on, and the loop as it was elsewhere.

use ir::program::{BinaryOp, ExprId, For, Init, StmtId, StmtKind as C, VarId};
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Loop, LoopKind, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::numbering::Sharing;
use super::{Cx, Result};

/// What is done for the iterations of a turn.
pub(super) trait Work {
    /// Variables that live as long as the turns, and where.
    fn variables(&self) -> Vec<(VarId, Space)>;

    /// Whether it is worth while, of values that all threads know.
    fn condition(&self, _cx: &mut Cx<'_>) -> Option<ExprId> {
        None
    }

    /// What the thread of an iteration does when the iteration has begun.
    fn begin(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()>;

    /// What all threads of the group do.
    fn together(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()>;
}

/// What an iteration does by itself, and its variables.
pub(super) struct Turns {
    pub(super) span: Span,
    /// Iterations of a turn, and threads of a group.
    pub(super) owners: u32,
    pub(super) threads: u32,
    /// The number of the first iteration of the turn, and how many there are in all.
    pub(super) first: VarId,
    pub(super) total: VarId,
    /// Variables of the iteration, each a variable of its thread.
    pub(super) own: FxHashMap<VarId, VarId>,
    /// Whether the thread has an iteration in this turn.
    is_mine: VarId,
}

impl Turns {
    pub(super) fn new(cx: &mut Cx<'_>, own: &[VarId], each: u32, span: Span) -> Turns {
        let threads = u32::try_from(cx.groups.most_threads).unwrap_or(1);
        let build = &mut cx.build(span);
        let own = own.iter().map(|it| {
            let (name, ty) = (build.name_of(*it), build.program.vars[*it].ty.plain());
            (*it, build.fresh(&name, ty))
        });
        let own = own.collect();
        let [first, total] = ["first", "total"].map(|it| build.fresh_number(it));
        let int = build.int_type();
        let is_mine = build.fresh("is_mine", int);
        Turns { span, owners: (threads / each).max(1), threads, first, total, own, is_mine }
    }

    /// The loop in turns; `before` and `after` are what an iteration does alone.
    pub(super) fn taken(
        &self,
        cx: &mut Cx<'_>,
        share: &Share,
        [before, after]: [&[StmtId]; 2],
        work: &mut dyn Work,
    ) -> Result<Block> {
        let span = self.span;
        let mut out = Block::new();
        declare(cx, self.total, Space::Uniform, span, &mut out);
        let nest =
            Sharing { cx, span, space: Space::Uniform }.nest(&share.dims, self.total, &mut out)?;
        let mut inside = Block::new();
        let mut own: Vec<VarId> = self.own.values().copied().collect();
        own.sort();
        let vars = [(self.first, Space::Uniform), (self.is_mine, Space::Private)].into_iter();
        let vars = vars.chain(own.into_iter().map(|it| (it, Space::Private)));
        for (var, space) in vars.chain(work.variables()) {
            declare(cx, var, space, span, &mut inside);
        }
        let groups = cx.kernel.groups;
        let build = &mut cx.build(span);
        let (group, each) = (build.var(groups.number), build.number(i64::from(self.owners)));
        let begin = build.binary(BinaryOp::Mul, group, each);
        cx.set(self.first, begin, span, &mut inside);
        // One turn.
        let mut turn = Block::new();
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(span);
        let (first, me) = (build.var(self.first), build.var(me));
        let number = build.binary(BinaryOp::Add, first, me);
        cx.set(share.number, number, span, &mut turn);
        let is_owner = self.is_owner(cx);
        let build = &mut cx.build(span);
        let (number, total) = (build.var(share.number), build.var(self.total));
        let is_there = build.binary(BinaryOp::Lt, number, total);
        let is_mine = build.and(is_owner, is_there);
        cx.set(self.is_mine, is_mine, span, &mut turn);
        let mut begin = Block::new();
        Sharing { cx, span, space: Space::Private }.place(&nest, share.number, &mut begin)?;
        before.iter().for_each(|it| self.own_stmt(cx, *it, &mut begin));
        work.begin(cx, self, &mut begin)?;
        let is_mine = self.is_mine(cx);
        turn.push(Stmt::new(StmtKind::If(is_mine, begin, Block::new()), span));
        work.together(cx, self, &mut turn)?;
        let mut end = Block::new();
        after.iter().for_each(|it| self.own_stmt(cx, *it, &mut end));
        let is_mine = self.is_mine(cx);
        turn.push(Stmt::new(StmtKind::If(is_mine, end, Block::new()), span));
        let worth = work.condition(cx);
        let threads = cx.kernel.threads.count;
        let build = &mut cx.build(span);
        let (one, end) = (build.var(self.first), build.var(self.total));
        let condition = Some(build.binary(BinaryOp::Lt, one, end));
        let by = build.var(groups.count);
        let by = build.binary(BinaryOp::Mul, by, each);
        let next = build.binary(BinaryOp::Add, one, by);
        let step = Some(build.set(self.first, next));
        let (have, need) = (build.var(threads), build.number(i64::from(self.threads)));
        let mut fits = build.binary(BinaryOp::Eq, have, need);
        if let Some(worth) = worth {
            fits = build.and(fits, worth);
        }
        let each = Loop { kind: LoopKind::Before, condition, step, body: turn };
        inside.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        let plain = vec![Stmt::new(StmtKind::Share(Box::new(share.clone())), span)];
        out.push(Stmt::new(StmtKind::If(fits, inside, plain), span));
        Ok(vec![Stmt::new(StmtKind::Block(out), span)])
    }

    /// Whether the thread has an iteration in turns that are whole.
    pub(super) fn is_owner(&self, cx: &mut Cx<'_>) -> ExprId {
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(self.span);
        let (me, owners) = (build.var(me), build.number(i64::from(self.owners)));
        build.binary(BinaryOp::Lt, me, owners)
    }

    /// Whether the thread has an iteration in this turn.
    pub(super) fn is_mine(&self, cx: &mut Cx<'_>) -> ExprId {
        cx.build(self.span).var(self.is_mine)
    }

    /// An expression of the thread's own iteration.
    pub(super) fn own_expr(&self, cx: &mut Cx<'_>, e: ExprId) -> ExprId {
        Copier { vars: self.own.clone(), ..Copier::new(cx.program) }.expr(e)
    }

    /// A statement of the thread's own iteration.
    pub(super) fn own_stmt(&self, cx: &mut Cx<'_>, stmt: StmtId, out: &mut Block) {
        let C::Local(var) = cx.program.stmts[stmt].kind else {
            let code = Copier { vars: self.own.clone(), ..Copier::new(cx.program) }.stmt(stmt);
            return out.push(Stmt::new(StmtKind::Code(code), self.span));
        };
        let init = cx.program.vars[var].init.map(|it| cx.program.inits[it].clone());
        if let Some(Init::Expr(value)) = init
            && let Some(own) = self.own.get(&var)
        {
            let value = self.own_expr(cx, value);
            cx.set(*own, value, self.span, out);
        }
    }
}

fn declare(cx: &mut Cx<'_>, var: VarId, space: Space, span: Span, out: &mut Block) {
    cx.kernel.spaces.push((var, space));
    out.push(Stmt::new(StmtKind::Local(var), span));
}

/// The element of an array with an index.
pub(super) fn element(cx: &mut Cx<'_>, array: ExprId, index: ExprId, span: Span) -> Result<ExprId> {
    match cx.build(span).element(array, index) {
        Some(it) => Ok(it),
        None => super::refuse("an array without elements", span),
    }
}

/// A variable with its first value.
pub(super) fn declared(build: &mut Builder<'_>, var: VarId, value: ExprId) -> StmtId {
    let ty = build.program.vars[var].ty.plain();
    let value = build.cast(value, ty);
    let init = build.init(value);
    build.program.vars[var].init = Some(init);
    build.stmt(C::Local(var))
}

/// `for (var = from; var < end; var += by) body`
pub(super) fn steps(
    build: &mut Builder<'_>,
    var: VarId,
    [from, end]: [ExprId; 2],
    by: u32,
    unroll: u32,
    body: StmtId,
) -> StmtId {
    let declared = declared(build, var, from);
    let ty = build.program.vars[var].ty.plain();
    let (at, by) = (build.var(var), build.int(i64::from(by), ty));
    let cond = Some(build.binary(BinaryOp::Lt, at, end));
    let next = build.binary(BinaryOp::Add, at, by);
    let step = Some(build.set(var, next));
    let (init, unroll) = (Box::new([declared]), Some(unroll));
    build.stmt(C::For(Box::new(For { init, cond, step, body, unroll, lanes: false })))
}

/// Code with copies of the variables that it declares, in terms of others.
pub(super) fn copied(copier: &mut Copier<'_>, stmt: StmtId) -> StmtId {
    let C::Local(var) = copier.program.stmts[stmt].kind else { return copier.stmt(stmt) };
    let init = copier.program.vars[var].init.map(|it| copier.init(it));
    let other = ir::program::Var { init, ..copier.program.vars[var].clone() };
    let other = copier.program.vars.push(other);
    copier.vars.insert(var, other);
    let span = copier.program.stmts[stmt].span;
    copier.program.stmts.push(ir::program::Stmt { kind: C::Local(other), span })
}
