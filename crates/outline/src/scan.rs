//! Prefixes: loops whose iterations give something, and use what those before them have given.
//!
//! Threads go through the iterations in rounds, one iteration each: all run what gives, then what they have is combined in
//! the order of their numbers, then all run what uses it. One thread alone, and nests whose bounds follow each other, run
//! iteration after iteration.

use ir::construct::{ClauseKind, Leaf, ReductionModifier, ReductionOp};
use ir::program::{BinaryOp, ExprKind, RegionId, StmtId, StmtKind as C, Typed, VarId};
use kernel::{Block, Crew, Dim, Loop, LoopKind, Reduce, Space, Stmt, StmtKind, Who, count};
use rustc_hash::FxHashMap;
use source::Span;

use crate::data::Copies;
use crate::{Outliner, Result, refuse};

/// Iterations that threads go through together.
pub(crate) struct Rounds<'a> {
    pub(crate) crew: Crew,
    /// Takes the number of a thread's iteration.
    pub(crate) number: VarId,
    pub(crate) dims: &'a [Dim],
    pub(crate) copies: &'a Copies,
    /// Variables as they are outside of the loop.
    pub(crate) outside: &'a FxHashMap<VarId, VarId>,
}

impl Outliner<'_> {
    /// A loop with prefixes, in rounds of one iteration for each thread.
    pub(crate) fn scan_in_rounds(
        &mut self,
        id: RegionId,
        body: StmtId,
        scanned: &[(ReductionOp<Typed>, VarId)],
        rounds: &Rounds<'_>,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.program.stmts[body].span;
        let (before, after, is_exclusive) = self.halves(body)?;
        let (giving, using) = if is_exclusive { (after, before) } else { (before, after) };
        let (trips, mut place) = self.placed(rounds, span, out)?;
        let base = self.number("base", Space::Uniform, span, out);
        let total = self.told_total(&trips, span, out);
        let vars = self.env.vars.clone();
        let mut sums = Vec::new();
        let mut round = Block::new();
        for (op, var) in scanned {
            let original = vars.get(var).copied().unwrap_or(*var);
            let copy = self.fresh_like(*var, Space::Private, span)?;
            self.declare(copy, &mut round);
            self.env.vars.insert(*var, copy);
            sums.push((op, original, copy));
        }
        let (is_shared, is_ordered) = (self.env.is_shared, self.env.is_ordered);
        (self.env.is_shared, self.env.is_ordered) = (true, false);
        let mut build = self.build(span);
        let (at, me) = (build.var(base), build.var(rounds.crew.number));
        let value = build.binary(BinaryOp::Add, at, me);
        let e = build.set(rounds.number, value);
        self.eval(e, &mut round);
        for (op, original, copy) in &sums {
            let code = self.begin_sum(id, op, *copy, *original, span)?;
            round.push(Stmt::new(StmtKind::Code(code), span));
        }
        self.begin_iteration(rounds.copies, rounds.number, &mut place);
        let mut half = place;
        let inner = self.block(&giving)?;
        half.push(self.once(inner, span));
        self.for_some(rounds.number, total, half, span, &mut round);
        for (op, original, copy) in &sums {
            let combine = self.prefix(id, op, (*original, *copy), is_exclusive, span)?;
            let (crew, is_league) = (rounds.crew, false);
            let made = Reduce {
                crew,
                is_league,
                op: (*op).clone(),
                copy: *copy,
                elements: None,
                combine,
                join: None,
            };
            round.push(Stmt::new(StmtKind::Reduce(Box::new(made)), span));
        }
        let inner = self.block(&using)?;
        let mut half = vec![self.once(inner, span)];
        (self.env.is_shared, self.env.is_ordered) = (is_shared, is_ordered);
        let mut last = self.end_last(rounds.copies, rounds.number);
        self.keep_counters(id, rounds.dims, rounds.outside, &mut last);
        if !last.is_empty() {
            let mut build = self.build(span);
            let (at, one, all) = (build.var(rounds.number), build.number(1), build.var(total));
            let next = build.binary(BinaryOp::Add, at, one);
            let is_last = build.binary(BinaryOp::Eq, next, all);
            half.push(Stmt::new(StmtKind::If(is_last, last, Block::new()), span));
        }
        self.for_some(rounds.number, total, half, span, &mut round);
        self.env.vars = vars;
        self.set_number(base, 0, span, out);
        let mut build = self.build(span);
        let (at, all) = (build.var(base), build.var(total));
        let condition = build.binary(BinaryOp::Lt, at, all);
        let many = build.var(rounds.crew.count);
        let next = build.binary(BinaryOp::Add, at, many);
        let (condition, step) = (Some(condition), Some(build.set(base, next)));
        let each = Loop { kind: LoopKind::Before, condition, step, body: round };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        Ok(())
    }

    /// Those who have an iteration in this round run a block.
    fn for_some(&mut self, number: VarId, total: VarId, body: Block, span: Span, out: &mut Block) {
        let mut build = self.build(span);
        let (at, all) = (build.var(number), build.var(total));
        let is_some = build.binary(BinaryOp::Lt, at, all);
        out.push(Stmt::new(StmtKind::If(is_some, body, Block::new()), span));
    }

    /// Combines what a thread has with what those before it have given, and leaves it the prefix.
    fn prefix(
        &mut self,
        id: RegionId,
        op: &ReductionOp<Typed>,
        (original, copy): (VarId, VarId),
        is_exclusive: bool,
        span: Span,
    ) -> Result<Block> {
        let mut combine = Block::new();
        let join = self.join_sum(id, op, original, copy, span)?;
        let join = Stmt::new(StmtKind::Code(join), span);
        if !is_exclusive {
            combine.push(join);
            self.copy_value(copy, original, &mut combine);
            return Ok(combine);
        }
        let kept = self.fresh_like(copy, Space::Private, span)?;
        self.declare(kept, &mut combine);
        self.copy_value(kept, original, &mut combine);
        combine.push(join);
        self.copy_value(copy, kept, &mut combine);
        Ok(combine)
    }

    /// How often each loop runs, and what gives its variable the value of an iteration.
    fn placed(
        &mut self,
        rounds: &Rounds<'_>,
        span: Span,
        out: &mut Block,
    ) -> Result<(Vec<VarId>, Block)> {
        let mut found = Vec::new();
        for dim in rounds.dims {
            let Some(common) = count::common(self.program, dim) else {
                return refuse("a loop that does not count", span);
            };
            let first = self.fresh_like(dim.var, Space::Private, span)?;
            self.declare(first, out);
            let e = self.build(span).set(first, dim.begin);
            self.eval(e, out);
            let mut build = self.build(span);
            let end = build.fresh("bound", common);
            let bound = build.cast(dim.bound, common);
            let e = build.set(end, bound);
            self.spaces.push((end, Space::Private));
            self.declare(end, out);
            self.eval(e, out);
            let trips = self.number("trips", Space::Private, span, out);
            let mut build = self.build(span);
            let value = count::trips(&mut build, dim, first, end);
            let step = count::step(&mut build, dim);
            let e = build.set(trips, value);
            self.eval(e, out);
            found.push((dim.var, first, step, trips));
        }
        let mut place = Block::new();
        let rest = self.number("rest", Space::Private, span, &mut place);
        let mut build = self.build(span);
        let all = build.var(rounds.number);
        let e = build.set(rest, all);
        self.eval(e, &mut place);
        for (at, (var, first, step, trips)) in found.iter().enumerate().rev() {
            let index = self.number("index", Space::Private, span, &mut place);
            let mut build = self.build(span);
            let (whole, by) = (build.var(rest), build.var(*trips));
            let own = if at == 0 { whole } else { build.binary(BinaryOp::Rem, whole, by) };
            let others = build.binary(BinaryOp::Div, whole, by);
            let set_index = build.set(index, own);
            let index = build.var(index);
            let value = count::value(&mut build, *first, *step, index);
            let set_var = build.set(*var, value);
            let set_rest = build.set(rest, others);
            self.eval(set_index, &mut place);
            self.eval(set_var, &mut place);
            if at > 0 {
                self.eval(set_rest, &mut place);
            }
        }
        Ok((found.iter().map(|it| it.3).collect(), place))
    }

    /// How many iterations there are, as the first thread counts them.
    fn told_total(&mut self, trips: &[VarId], span: Span, out: &mut Block) -> VarId {
        let shared = self.number("all", Space::Group, span, out);
        let total = self.number("total", Space::Uniform, span, out);
        let mut build = self.build(span);
        let mut product = build.number(1);
        for it in trips {
            let trips = build.var(*it);
            product = build.binary(BinaryOp::Mul, product, trips);
        }
        let e = build.set(shared, product);
        let mut tell = Block::new();
        self.eval(e, &mut tell);
        out.push(Stmt::new(StmtKind::On(Who::Primary, tell), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
        let mut build = self.build(span);
        let value = build.var(shared);
        let e = build.set(total, value);
        self.eval(e, out);
        total
    }

    /// What stands before and behind the place where prefixes are made, and whether what stands before it is what uses them.
    fn halves(&self, body: StmtId) -> Result<(Vec<StmtId>, Vec<StmtId>, bool)> {
        let span = self.program.stmts[body].span;
        let C::Block(list) = self.program.stmts[body].kind.clone() else {
            return refuse("a body without a place where prefixes are made", span);
        };
        let scan_of = |it: &StmtId| match self.program.stmts[*it].kind {
            C::Region(id) if self.program.regions[id].construct.has(Leaf::Scan) => Some(id),
            _ => None,
        };
        let at = list.iter().position(|it| scan_of(it).is_some());
        let Some((at, scan)) = at.and_then(|at| Some((at, scan_of(list.get(at)?)?))) else {
            return refuse("a body without a place where prefixes are made", span);
        };
        let is_exclusive = self.program.regions[scan]
            .construct
            .kinds()
            .any(|it| matches!(it, ClauseKind::Exclusive(_)));
        let (before, after) = (list.get(..at), list.get(at + 1..));
        let list = |it: Option<&[StmtId]>| it.unwrap_or_default().to_vec();
        Ok((list(before), list(after), is_exclusive))
    }

    /// What a construct makes prefixes of.
    pub(crate) fn scanned(&self, id: RegionId) -> Result<Vec<(ReductionOp<Typed>, VarId)>> {
        let mut found = Vec::new();
        for clause in &self.program.regions[id].construct.clauses {
            let ClauseKind::Reduction(it) = &clause.kind else { continue };
            if it.modifier != Some(ReductionModifier::Inscan) {
                continue;
            }
            for item in &it.items {
                let ExprKind::Var(var) = self.program.exprs[*item].kind else {
                    return refuse("prefixes of a part of an array", clause.span);
                };
                found.push((it.op.clone(), var));
            }
        }
        Ok(found)
    }

    /// The body of an iteration that is cut in two where prefixes are made: iterations run in order, and the
    /// original holds what those before it have given.
    pub(crate) fn prefixes(
        &mut self,
        id: RegionId,
        body: StmtId,
        scanned: &[(ReductionOp<Typed>, VarId)],
        out: &mut Block,
    ) -> Result<()> {
        let span = self.program.stmts[body].span;
        let (before, after, is_exclusive) = self.halves(body)?;
        let (before, after) = (before.as_slice(), after.as_slice());
        let vars = self.env.vars.clone();
        let mut sums = Vec::new();
        for (op, var) in scanned {
            let original = vars.get(var).copied().unwrap_or(*var);
            let copy = self.fresh_like(*var, Space::Private, span)?;
            self.declare(copy, out);
            self.env.vars.insert(*var, copy);
            sums.push((op, original, copy));
        }
        let begin = |this: &mut Self, out: &mut Block| -> Result<()> {
            for (op, original, copy) in &sums {
                let code = this.begin_sum(id, op, *copy, *original, span)?;
                out.push(Stmt::new(StmtKind::Code(code), span));
            }
            Ok(())
        };
        let join = |this: &mut Self, out: &mut Block| -> Result<()> {
            for (op, original, copy) in &sums {
                let code = this.join_sum(id, op, *original, *copy, span)?;
                out.push(Stmt::new(StmtKind::Code(code), span));
            }
            Ok(())
        };
        let show = |this: &mut Self, out: &mut Block| {
            sums.iter().for_each(|(_, original, copy)| this.copy_value(*copy, *original, out));
        };
        match is_exclusive {
            false => {
                begin(self, out)?;
                self.statements(before, out)?;
                join(self, out)?;
                show(self, out);
                self.statements(after, out)?;
            }
            true => {
                show(self, out);
                self.statements(before, out)?;
                begin(self, out)?;
                self.statements(after, out)?;
                join(self, out)?;
            }
        }
        self.env.vars = vars;
        Ok(())
    }
}
