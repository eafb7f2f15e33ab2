//! `workshare`: iterations that are dealt become loops over numbers, as the schedule says.
//!
//! What the variables of a nest are in an iteration of some number is in [`super::numbering`]. Iterations that run in order
//! are gone through by all, each runs its own, and all wait after each.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, VarId};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::walk;
use kernel::{Block, Crew, Kernel, Loop, LoopKind, Schedule, Share, Space, Stmt, StmtKind, Who};

use super::nest::iteration_code;
use super::numbering::{Counted, Nest, Sharing, at_most_one, forever};
use super::{Cx, Result, refuse, rewrite};

/// Expressions and statements of an iteration at most that stands there several times.
const SHORT: usize = 64;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let sums_up = if cx.groups.at_once > 1 { summing(cx.kernel) } else { Vec::new() };
    let body = std::mem::take(&mut cx.kernel.body);
    cx.kernel.body = rewrite(body, &mut |stmt, out| match stmt.kind {
        StmtKind::Share(share) => {
            let mut block = Block::new();
            let code = summed_code(cx.program, &share).filter(|_| sums_up.contains(&share.crew));
            Sharing { cx, span: stmt.span, space: Space::Private }
                .share(*share, code, &mut block)?;
            out.push(Stmt::new(StmtKind::Block(block), stmt.span));
            Ok(())
        }
        kind => {
            out.push(Stmt::new(kind, stmt.span));
            Ok(())
        }
    })?;
    Ok(())
}

impl Sharing<'_, '_> {
    /// `summed`: what an iteration does that a thread sums up several of at once.
    fn share(&mut self, share: Share, summed: Option<StmtId>, out: &mut Block) -> Result<()> {
        let span = self.span;
        self.space = self.cx.kernel.space(share.number).unwrap_or(Space::Private);
        let total = self.number("total", out);
        let nest = self.nest(&share.dims, total, out)?;
        let (low, high) = match share.within {
            Some(range) => (range.begin, range.end),
            None => {
                let low = self.number("low", out);
                let zero = self.cx.build(span).number(0);
                self.set(low, zero, out);
                (low, total)
            }
        };
        let me = share.crew;
        if share.ordered {
            return self.in_order(share, &nest, total, (low, high), out);
        }
        match share.schedule {
            // There is one thread.
            _ if self.may_stretch(&share) && self.cx.kernel.all != Some(me) => {
                self.in_a_row(share, nest, total, (low, high), out)
            }
            Schedule::Blocks => {
                let (begin, end) = self.own_block(me, low, high, out);
                self.in_a_row(share, nest, total, (begin, end), out)
            }
            Schedule::RoundRobin(chunk)
                if share.pieces.is_none()
                    && matches!(self.cx.program.exprs[chunk].kind, ExprKind::Int(1)) =>
            {
                let first = self.first(&share, low);
                self.set(share.number, first, out);
                if let Nest::Even(counted) = &nest
                    && let [one] = counted.as_slice()
                    && let Some(code) = summed
                {
                    self.several(&share, one, code, high, out);
                    let at_once = self.cx.groups.at_once;
                    let note = format!("threads sum up {at_once} iterations at once");
                    let notes = &mut self.cx.kernel.launch.notes;
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                self.one_by_one(share, &nest, total, high, out)
            }
            Schedule::RoundRobin(chunk) => {
                let chunk = self.chunk(chunk, out);
                let begin = self.number("begin", out);
                let value = {
                    let build = &mut self.cx.build(span);
                    let (number, each, low) =
                        (build.var(me.number), build.var(chunk), build.var(low));
                    let far = build.binary(BinaryOp::Mul, number, each);
                    build.binary(BinaryOp::Add, low, far)
                };
                self.set(begin, value, out);
                let mut body = Block::new();
                let end = self.number("end", &mut body);
                let value = {
                    let build = &mut self.cx.build(span);
                    let (at, all, each) = (build.var(begin), build.var(high), build.var(chunk));
                    let left = build.binary(BinaryOp::Sub, all, at);
                    let is_whole = build.binary(BinaryOp::Gt, left, each);
                    let next = build.binary(BinaryOp::Add, at, each);
                    build.either(is_whole, next, all)
                };
                self.set(end, value, &mut body);
                self.piece(share, &nest, total, (begin, end), &mut body)?;
                let build = &mut self.cx.build(span);
                let (at, all) = (build.var(begin), build.var(high));
                let condition = build.binary(BinaryOp::Lt, at, all);
                let (each, count) = (build.var(chunk), build.var(me.count));
                let far = build.binary(BinaryOp::Mul, each, count);
                let next = build.binary(BinaryOp::Add, at, far);
                let step = build.set(begin, next);
                out.push(forever(Some(condition), Some(step), body, span));
                Ok(())
            }
        }
    }

    /// Iterations that go round one by one, from the one whose number is known on. What their numbers are made of in each loop of a nest is found by division once, and
    /// by addition from then on.
    fn one_by_one(
        &mut self,
        share: Share,
        nest: &Nest,
        total: VarId,
        high: VarId,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let (me, number) = (share.crew, share.number);
        let mut body = Block::new();
        let is_one = at_most_one(self.cx.program, &share.dims);
        match nest {
            Nest::Even(counted) if counted.len() > 1 && !is_one => {
                let digits = self.digits(number, counted, out);
                let steps = self.digits(me.count, counted, out);
                self.set_digits(counted, &digits, &mut body);
                self.body(share, total, &mut body);
                self.add_digits(counted, &digits, &steps, &mut body);
            }
            Nest::Even(_) | Nest::Rows(_) => self.iteration(share, nest, total, &mut body)?,
        }
        let build = &mut self.cx.build(span);
        let (at, all, by) = (build.var(number), build.var(high), build.var(me.count));
        let condition = build.binary(BinaryOp::Lt, at, all);
        if is_one {
            out.push(Stmt::new(StmtKind::If(condition, body, Block::new()), span));
            return Ok(());
        }
        let next = build.binary(BinaryOp::Add, at, by);
        let step = build.set(number, next);
        out.push(forever(Some(condition), Some(step), body, span));
        Ok(())
    }

    /// The first iteration of a member of the crew, of those that go round one by one.
    fn first(&mut self, share: &Share, low: VarId) -> ExprId {
        let build = &mut self.cx.build(self.span);
        let (low, at) = (build.var(low), build.var(share.crew.number));
        build.binary(BinaryOp::Add, low, at)
    }

    /// Iterations that a thread takes several at a time while there are as many: so many loads are on their way at once.
    /// Compilers that are told to unroll the loop look after each iteration whether there is another, and wait for its
    /// loads before.
    fn several(
        &mut self,
        share: &Share,
        one: &Counted,
        code: StmtId,
        high: VarId,
        out: &mut Block,
    ) {
        let (span, number, count) = (self.span, share.number, share.crew.count);
        let at_once = self.cx.groups.at_once;
        let build = &mut self.cx.build(span);
        let by = build.var(count);
        let times = |build: &mut Builder<'_>, it: i64| {
            let times = build.number(it);
            build.binary(BinaryOp::Mul, by, times)
        };
        let round = build.fresh_number("round");
        let zero = build.number(0);
        let init = build.init(zero);
        build.program.vars[round].init = Some(init);
        let declared = build.stmt(C::Local(round));
        let (at, first) = (build.var(round), build.var(number));
        let far = build.binary(BinaryOp::Mul, at, by);
        let index = build.binary(BinaryOp::Add, first, far);
        let value = one.value(build, index);
        let place = build.set(one.var, value);
        let place = build.stmt(C::Expr(place));
        let body = build.stmt(C::Block([place, code].into()));
        let rounds = build.number(i64::from(at_once));
        let cond = build.binary(BinaryOp::Lt, at, rounds);
        let rounds = For {
            init: Box::new([declared]),
            cond: Some(cond),
            step: Some(build.increment(round)),
            body,
            unroll: Some(at_once),
            lanes: false,
        };
        let rounds = build.stmt(C::For(Box::new(rounds)));
        let (at, all) = (build.var(number), build.var(high));
        let is_some = build.binary(BinaryOp::Lt, at, all);
        let left = build.binary(BinaryOp::Sub, all, at);
        let others = times(build, i64::from(at_once) - 1);
        let are_enough = build.binary(BinaryOp::Gt, left, others);
        let condition = build.and(is_some, are_enough);
        let far = times(build, i64::from(at_once));
        let next = build.binary(BinaryOp::Add, at, far);
        let step = build.set(number, next);
        let body = vec![Stmt::new(StmtKind::Code(rounds), span)];
        out.push(forever(Some(condition), Some(step), body, span));
    }

    /// How many iterations a piece has: at least one.
    fn chunk(&mut self, chunk: ExprId, out: &mut Block) -> VarId {
        let var = self.number("chunk", out);
        self.set(var, chunk, out);
        let build = &mut self.cx.build(self.span);
        let (asked, zero, one) = (build.var(var), build.number(0), build.number(1));
        let is_some = build.binary(BinaryOp::Ne, asked, zero);
        let value = build.either(is_some, asked, one);
        self.set(var, value, out);
        var
    }

    /// The one piece of a member of the crew.
    fn own_block(
        &mut self,
        me: kernel::Crew,
        low: VarId,
        high: VarId,
        out: &mut Block,
    ) -> (VarId, VarId) {
        let [each, rest, begin, end] =
            ["each", "rest", "begin", "end"].map(|it| self.number(it, out));
        let span = self.span;
        let value = {
            let build = &mut self.cx.build(span);
            let (low, high, count) = (build.var(low), build.var(high), build.var(me.count));
            let all = build.binary(BinaryOp::Sub, high, low);
            build.binary(BinaryOp::Div, all, count)
        };
        self.set(each, value, out);
        let value = {
            let build = &mut self.cx.build(span);
            let (low, high, count) = (build.var(low), build.var(high), build.var(me.count));
            let all = build.binary(BinaryOp::Sub, high, low);
            build.binary(BinaryOp::Rem, all, count)
        };
        self.set(rest, value, out);
        let value = {
            let build = &mut self.cx.build(span);
            let (low, each, number) = (build.var(low), build.var(each), build.var(me.number));
            let far = build.binary(BinaryOp::Mul, each, number);
            let at = build.binary(BinaryOp::Add, low, far);
            let rest = build.var(rest);
            let more = build.min(number, rest);
            build.binary(BinaryOp::Add, at, more)
        };
        self.set(begin, value, out);
        let value = {
            let build = &mut self.cx.build(span);
            let (at, each) = (build.var(begin), build.var(each));
            let end = build.binary(BinaryOp::Add, at, each);
            let (number, rest) = (build.var(me.number), build.var(rest));
            let is_longer = build.binary(BinaryOp::Lt, number, rest);
            let (one, zero) = (build.number(1), build.number(0));
            let more = build.either(is_longer, one, zero);
            build.binary(BinaryOp::Add, end, more)
        };
        self.set(end, value, out);
        (begin, end)
    }

    /// Whether a thread that has a processor to itself goes through iterations that follow each other.
    fn may_stretch(&self, share: &Share) -> bool {
        let is_lone = self.cx.groups.most_threads == 1;
        is_lone && self.space == Space::Private && share.pieces.is_none()
    }

    /// Iterations that follow each other, in stretches where that is known to pay.
    fn in_a_row(
        &mut self,
        share: Share,
        nest: Nest,
        total: VarId,
        range: (VarId, VarId),
        out: &mut Block,
    ) -> Result<()> {
        let left = match self.may_stretch(&share) {
            true => self.stretches(share, nest, range, total, out)?,
            false => Some((share, nest)),
        };
        left.map_or(Ok(()), |(share, nest)| self.piece(share, &nest, total, range, out))
    }

    /// Iterations that follow each other.
    fn piece(
        &mut self,
        share: Share,
        nest: &Nest,
        total: VarId,
        (begin, end): (VarId, VarId),
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        if let Some(range) = share.pieces {
            let (from, to) = {
                let build = &mut self.cx.build(span);
                (build.var(begin), build.var(end))
            };
            let mut body = Block::new();
            self.set(range.begin, from, &mut body);
            self.set(range.end, to, &mut body);
            body.extend(share.body);
            let build = &mut self.cx.build(span);
            let (from, to) = (build.var(begin), build.var(end));
            let is_some = build.binary(BinaryOp::Lt, from, to);
            out.push(Stmt::new(StmtKind::If(is_some, body, Block::new()), span));
            return Ok(());
        }
        let number = share.number;
        let from = self.cx.build(span).var(begin);
        self.set(number, from, out);
        let mut body = Block::new();
        self.iteration(share, nest, total, &mut body)?;
        let build = &mut self.cx.build(span);
        let (at, to) = (build.var(number), build.var(end));
        let condition = build.binary(BinaryOp::Lt, at, to);
        let step = build.increment(number);
        out.push(forever(Some(condition), Some(step), body, span));
        Ok(())
    }

    /// One iteration, whose number is known.
    fn iteration(
        &mut self,
        share: Share,
        nest: &Nest,
        total: VarId,
        out: &mut Block,
    ) -> Result<()> {
        self.place(nest, share.number, out)?;
        self.body(share, total, out);
        Ok(())
    }

    /// What an iteration does, when its variables have their values.
    pub(super) fn body(&mut self, share: Share, total: VarId, out: &mut Block) {
        let span = self.span;
        match share.body.iter().any(leaves_iteration) {
            // What leaves the iteration leaves a loop of one round.
            true => {
                let build = &mut self.cx.build(span);
                let int = build.int_type();
                let never = build.int(0, int);
                let kind = LoopKind::After;
                let once = Loop { kind, condition: Some(never), step: None, body: share.body };
                out.push(Stmt::new(StmtKind::Loop(Box::new(once)), span));
            }
            false => out.push(Stmt::new(StmtKind::Block(share.body), span)),
        }
        if !share.last.is_empty() {
            let build = &mut self.cx.build(span);
            let (number, one, total) = (build.var(share.number), build.number(1), build.var(total));
            let next = build.binary(BinaryOp::Add, number, one);
            let is_last = build.binary(BinaryOp::Eq, next, total);
            out.push(Stmt::new(StmtKind::If(is_last, share.last, Block::new()), span));
        }
    }

    /// All go through the iterations together; each runs its own, and all wait.
    fn in_order(
        &mut self,
        share: Share,
        nest: &Nest,
        total: VarId,
        (low, high): (VarId, VarId),
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        if self.space != Space::Private {
            return refuse("iterations of teams that run in order", span);
        }
        let me = share.crew;
        let owned = match share.schedule {
            Schedule::Blocks => {
                let (begin, end) = self.own_block(me, low, high, out);
                let build = &mut self.cx.build(span);
                let number = build.var(share.number);
                let (begin, end) = (build.var(begin), build.var(end));
                let is_behind = build.binary(BinaryOp::Ge, number, begin);
                let is_before = build.binary(BinaryOp::Lt, number, end);
                build.and(is_behind, is_before)
            }
            Schedule::RoundRobin(chunk) => {
                let chunk = self.chunk(chunk, out);
                let build = &mut self.cx.build(span);
                let (number, low, chunk) =
                    (build.var(share.number), build.var(low), build.var(chunk));
                let at = build.binary(BinaryOp::Sub, number, low);
                let piece = build.binary(BinaryOp::Div, at, chunk);
                let count = build.var(me.count);
                let whose = build.binary(BinaryOp::Rem, piece, count);
                let number = build.var(me.number);
                build.binary(BinaryOp::Eq, whose, number)
            }
        };
        // How many there are is told by the first thread to those that do not take part.
        let shared = ["first", "end"].map(|it| self.cx.number(it, Space::Group, span, out));
        let all = ["at", "end"].map(|it| self.cx.number(it, Space::Uniform, span, out));
        let [[shared_low, shared_high], [at, end]] = [shared, all];
        let mut tell = Block::new();
        for (to, from) in [(shared_low, low), (shared_high, high)] {
            let from = self.cx.build(span).var(from);
            self.set(to, from, &mut tell);
        }
        out.push(Stmt::new(StmtKind::On(Who::Primary, tell), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
        for (to, from) in [(at, shared_low), (end, shared_high)] {
            let from = self.cx.build(span).var(from);
            self.set(to, from, out);
        }
        let mut own = Block::new();
        let number = share.number;
        self.iteration(share, nest, total, &mut own)?;
        let value = self.cx.build(span).var(at);
        let mut body = Block::new();
        self.set(number, value, &mut body);
        body.push(Stmt::new(StmtKind::If(owned, own, Block::new()), span));
        body.push(Stmt::new(StmtKind::Barrier, span));
        let build = &mut self.cx.build(span);
        let (from, to) = (build.var(at), build.var(end));
        let condition = build.binary(BinaryOp::Lt, from, to);
        let step = build.increment(at);
        out.push(forever(Some(condition), Some(step), body, span));
        Ok(())
    }
}

/// Whether a statement goes on with the next iteration of the loop around it.
pub(super) fn leaves_iteration(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Continue => true,
        StmtKind::Loop(_) | StmtKind::Share(_) => false,
        kind => kind.blocks().into_iter().flatten().any(leaves_iteration),
    }
}

/// What an iteration does, if that is short.
fn summed_code(program: &Program, share: &Share) -> Option<StmtId> {
    let (code, guards) = iteration_code(share)?;
    let is_one = at_most_one(program, &share.dims);
    (guards.is_empty() && !is_one && is_short(program, code, share.number)).then_some(code)
}

/// The crews of threads that combine what their members have.
fn summing(kernel: &Kernel) -> Vec<Crew> {
    let all = walk::all(&kernel.body);
    let crews = all.iter().filter_map(|it| match &it.kind {
        StmtKind::Reduce(it) if !it.is_league || Some(it.crew) == kernel.all => Some(it.crew),
        _ => None,
    });
    crews.chain(kernel.launch.summing.iter().copied()).collect()
}

/// Whether code is short and without loops, and does not ask which iteration it is of.
fn is_short(program: &Program, code: StmtId, number: VarId) -> bool {
    let (mut open, mut count) = (vec![Part::Stmt(code)], 0);
    while let Some(part) = open.pop() {
        count += 1;
        let is_plain = match part {
            Part::Stmt(stmt) => matches!(
                program.stmts[stmt].kind,
                C::Empty | C::Block(_) | C::Local(_) | C::Expr(_) | C::If(..)
            ),
            Part::Expr(e) => match program.exprs[e].kind {
                ExprKind::Var(var) => var != number,
                ExprKind::StmtExpr(_) => false,
                _ => true,
            },
            Part::Region(_) => false,
            Part::Local(_) | Part::Init(_) => true,
        };
        if !is_plain || count > SHORT {
            return false;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}
