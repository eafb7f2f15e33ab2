//! `workshare`: iterations that are dealt become loops over numbers, as the schedule says.
//!
//! A nest whose bounds do not follow each other is counted by products and taken apart by divisions. In one whose inner
//! bounds follow outer variables, each member of the crew walks along the rows of the innermost loop, as far as its next
//! number. Iterations that run in order are gone through by all, each runs its own, and all wait after each.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::{
    Block, Crew, Dim, Kernel, Loop, LoopKind, Schedule, Share, Space, Stmt, StmtKind, Who,
};
use kernel::{count, intrinsic, walk};
use source::Span;

use super::nest::iteration_code;
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

/// One shared loop.
pub(super) struct Sharing<'a, 'p> {
    pub(super) cx: &'a mut Cx<'p>,
    pub(super) span: Span,
    /// Where variables of the loop lie.
    pub(super) space: Space,
}

/// A loop with its values in variables.
pub(super) struct Counted {
    pub(super) var: VarId,
    pub(super) begin: VarId,
    /// What is added each time, as a number of 64 bits that may stand for a negative one.
    step: ExprId,
    pub(super) trips: VarId,
}

/// Where a walk along the rows of a nest is: a row is all iterations of the innermost loop that follow each other.
pub(super) struct Walk {
    levels: Vec<Level>,
    /// The number of the first iteration of the row.
    first: VarId,
}

/// One loop of such a nest: its values where the walk is, and how many times it has gone round.
struct Level {
    dim: Dim,
    counted: Counted,
    at: VarId,
}

pub(super) enum Nest {
    Even(Vec<Counted>),
    Rows(Box<Walk>),
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
            Schedule::Blocks => {
                let (begin, end) = self.own_block(me, low, high, out);
                self.piece(share, &nest, total, (begin, end), out)
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
                for (it, index) in counted.iter().zip(&digits) {
                    self.at(it.var, it.begin, it.step, *index, &mut body);
                }
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

    /// What a number is made of: how far it is in each loop of a nest.
    fn digits(&mut self, number: VarId, counted: &[Counted], out: &mut Block) -> Vec<VarId> {
        let span = self.span;
        let mut found = Vec::new();
        let mut rest = number;
        for (at, it) in counted.iter().enumerate().rev() {
            let ty = self.digit_type(it);
            let index = self.cx.fresh("index", ty, self.space, span, out);
            if at == 0 {
                let value = self.cx.build(span).var(rest);
                self.set(index, value, out);
            } else {
                let next = self.number("rest", out);
                let value = {
                    let build = &mut self.cx.build(span);
                    let (all, trips, zero) =
                        (build.var(rest), build.var(it.trips), build.number(0));
                    let is_some = build.binary(BinaryOp::Ne, trips, zero);
                    let quotient = intrinsic::quotient(build, all, trips);
                    build.either(is_some, quotient, zero)
                };
                self.set(next, value, out);
                let digit = self.remainder(rest, next, it.trips);
                self.set(index, digit, out);
                rest = next;
            }
            found.push(index);
        }
        found.reverse();
        found
    }

    /// What is left of a number that is divided, as its type has it.
    fn remainder(&mut self, all: VarId, quotient: VarId, by: VarId) -> ExprId {
        let build = &mut self.cx.build(self.span);
        let (all, quotient, by) = (build.var(all), build.var(quotient), build.var(by));
        let whole = build.binary(BinaryOp::Mul, quotient, by);
        build.binary(BinaryOp::Sub, all, whole)
    }

    /// The type that the number of a loop's round fits in: 32 bits if its variable has no more.
    fn digit_type(&mut self, it: &Counted) -> Ty {
        let program = &mut self.cx.program;
        let ty = program.vars[it.var].ty.plain();
        let size = program.model.size_of(&program.types, ty).unwrap_or(u64::MAX);
        match program.types.is_integer(ty) && size <= 4 {
            true => program.types.get(TypeKind::Int(IntKind::UInt)),
            false => self.cx.build(self.span).number_type(),
        }
    }

    /// Adds to what a number is made of.
    fn add_digits(
        &mut self,
        counted: &[Counted],
        digits: &[VarId],
        steps: &[VarId],
        out: &mut Block,
    ) {
        let span = self.span;
        // Whether the loop inside has gone round.
        let mut carry: Option<VarId> = None;
        for (at, ((it, digit), step)) in counted.iter().zip(digits).zip(steps).enumerate().rev() {
            let ty = self.cx.program.vars[*digit].ty;
            let by = {
                let build = &mut self.cx.build(span);
                let by = build.var(*step);
                match carry {
                    Some(more) => {
                        let more = build.var(more);
                        let more = build.cast(more, ty);
                        build.binary(BinaryOp::Add, by, more)
                    }
                    None => by,
                }
            };
            if at == 0 {
                let build = &mut self.cx.build(span);
                let digit_now = build.var(*digit);
                let value = build.binary(BinaryOp::Add, digit_now, by);
                self.set(*digit, value, out);
                continue;
            }
            // No sum is larger than the number of rounds, which has the type of the digit.
            let left = self.cx.fresh("left", ty, self.space, span, out);
            let value = {
                let build = &mut self.cx.build(span);
                let trips = build.var(it.trips);
                let trips = build.cast(trips, ty);
                build.binary(BinaryOp::Sub, trips, by)
            };
            self.set(left, value, out);
            let int = self.cx.build(span).int_type();
            let over = self.cx.fresh("over", int, self.space, span, out);
            let (is_over, value) = {
                let build = &mut self.cx.build(span);
                let (digit, left, over) = (build.var(*digit), build.var(left), build.var(over));
                let is_over = build.binary(BinaryOp::Ge, digit, left);
                let low = build.binary(BinaryOp::Sub, digit, left);
                let high = build.binary(BinaryOp::Add, digit, by);
                (is_over, build.either(over, low, high))
            };
            self.set(over, is_over, out);
            self.set(*digit, value, out);
            carry = Some(over);
        }
    }

    fn number(&mut self, like: &str, out: &mut Block) -> VarId {
        self.cx.number(like, self.space, self.span, out)
    }

    fn set(&mut self, var: VarId, value: ExprId, out: &mut Block) {
        self.cx.set(var, value, self.span, out);
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
    fn body(&mut self, share: Share, total: VarId, out: &mut Block) {
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

    /// Counts the iterations of a nest.
    pub(super) fn nest(&mut self, dims: &[Dim], total: VarId, out: &mut Block) -> Result<Nest> {
        let span = self.span;
        if dims.iter().all(|it| it.rectangular) {
            let mut counted = Vec::new();
            for dim in dims {
                counted.push(self.counted(dim, out)?);
            }
            let build = &mut self.cx.build(span);
            let mut product = build.number(1);
            for (at, it) in counted.iter().enumerate() {
                let trips = build.var(it.trips);
                product = if at == 0 { trips } else { build.binary(BinaryOp::Mul, product, trips) };
            }
            self.set(total, product, out);
            return Ok(Nest::Even(counted));
        }
        let mut levels = Vec::new();
        for dim in dims {
            let at = self.number("at", out);
            let counted = match dim.rectangular {
                true => self.counted(dim, out)?,
                false => self.uncounted(dim, out),
            };
            levels.push(Level { dim: dim.clone(), counted, at });
        }
        let first = self.number("first", out);
        let walk = Walk { levels, first };
        // All rows once, to know how many iterations there are.
        self.zero(total, out);
        self.count_rows(&walk, 0, total, out)?;
        self.zero(first, out);
        // The first row; without iterations there is none.
        let mut body = Block::new();
        for level in 0..walk.levels.len() {
            self.enter(&walk, level, &mut body)?;
        }
        let build = &mut self.cx.build(span);
        let (zero, all) = (build.number(0), build.var(total));
        let is_some = build.binary(BinaryOp::Lt, zero, all);
        out.push(Stmt::new(StmtKind::If(is_some, body, Block::new()), span));
        Ok(Nest::Rows(Box::new(walk)))
    }

    fn zero(&mut self, var: VarId, out: &mut Block) {
        let zero = self.cx.build(self.span).number(0);
        self.set(var, zero, out);
    }

    /// Adds up how long the rows are, from a level inwards.
    fn count_rows(
        &mut self,
        walk: &Walk,
        level: usize,
        total: VarId,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let Some(it) = walk.levels.get(level) else { return Ok(()) };
        self.begin_level(it, out)?;
        if level + 1 == walk.levels.len() {
            let build = &mut self.cx.build(span);
            let (all, more) = (build.var(total), build.var(it.counted.trips));
            let sum = build.binary(BinaryOp::Add, all, more);
            self.set(total, sum, out);
            return Ok(());
        }
        self.zero(it.at, out);
        let mut body = Block::new();
        self.at_level(it, &mut body);
        self.count_rows(walk, level + 1, total, &mut body)?;
        let build = &mut self.cx.build(span);
        let (at, end) = (build.var(it.at), build.var(it.counted.trips));
        let condition = build.binary(BinaryOp::Lt, at, end);
        let step = build.increment(it.at);
        out.push(forever(Some(condition), Some(step), body, span));
        Ok(())
    }

    /// The values of a loop where the loops around it are.
    fn begin_level(&mut self, it: &Level, out: &mut Block) -> Result<()> {
        if it.dim.rectangular {
            return Ok(());
        }
        self.set(it.counted.begin, it.dim.begin, out);
        let value = self.trips(&it.dim, it.counted.begin, out)?;
        self.set(it.counted.trips, value, out);
        Ok(())
    }

    fn at_level(&mut self, it: &Level, out: &mut Block) {
        self.at(it.counted.var, it.counted.begin, it.counted.step, it.at, out);
    }

    /// Goes to the first iteration of a loop, or where it has none to one of the next round of the loops around it. The
    /// innermost may have none.
    fn enter(&mut self, walk: &Walk, level: usize, out: &mut Block) -> Result<()> {
        let Some(it) = walk.levels.get(level) else { return Ok(()) };
        self.begin_level(it, out)?;
        self.zero(it.at, out);
        if level + 1 == walk.levels.len() {
            return Ok(());
        }
        self.settle(walk, level, out)?;
        self.at_level(it, out);
        Ok(())
    }

    /// While a loop is at its end, the loop around it goes on.
    fn settle(&mut self, walk: &Walk, level: usize, out: &mut Block) -> Result<()> {
        let span = self.span;
        let Some(it) = walk.levels.get(level).filter(|_| level > 0) else { return Ok(()) };
        let mut body = Block::new();
        self.advance(walk, level - 1, &mut body)?;
        self.begin_level(it, &mut body)?;
        self.zero(it.at, &mut body);
        let build = &mut self.cx.build(span);
        let (at, end) = (build.var(it.at), build.var(it.counted.trips));
        let condition = build.binary(BinaryOp::Ge, at, end);
        out.push(forever(Some(condition), None, body, span));
        Ok(())
    }

    /// Goes on with the next iteration of a loop; there is one, in it or in a later round of those around it.
    fn advance(&mut self, walk: &Walk, level: usize, out: &mut Block) -> Result<()> {
        let Some(it) = walk.levels.get(level) else { return Ok(()) };
        let step = self.cx.build(self.span).increment(it.at);
        out.push(Stmt::new(StmtKind::Eval(step), self.span));
        self.settle(walk, level, out)?;
        self.at_level(it, out);
        Ok(())
    }

    /// The values of a loop.
    pub(super) fn counted(&mut self, dim: &Dim, out: &mut Block) -> Result<Counted> {
        let span = self.span;
        let ty = self.cx.program.vars[dim.var].ty.plain();
        let begin = self.cx.fresh("begin", ty, self.space, span, out);
        let trips = self.number("trips", out);
        self.set(begin, dim.begin, out);
        let value = self.trips(dim, begin, out)?;
        self.set(trips, value, out);
        let step = self.step(dim);
        Ok(Counted { var: dim.var, begin, step, trips })
    }

    /// Variables for the values of a loop that are not known yet.
    fn uncounted(&mut self, dim: &Dim, out: &mut Block) -> Counted {
        let ty = self.cx.program.vars[dim.var].ty.plain();
        let begin = self.cx.fresh("begin", ty, self.space, self.span, out);
        let trips = self.number("trips", out);
        let step = self.step(dim);
        Counted { var: dim.var, begin, step, trips }
    }

    fn step(&mut self, dim: &Dim) -> ExprId {
        count::step(&mut self.cx.build(self.span), dim)
    }

    /// How often a loop runs that begins with a value.
    fn trips(&mut self, dim: &Dim, begin: VarId, out: &mut Block) -> Result<ExprId> {
        let span = self.span;
        let Some(common) = count::common(self.cx.program, dim) else {
            return refuse("a loop that does not count", span);
        };
        let end = self.cx.fresh("bound", common, self.space, span, out);
        let value = self.cx.build(span).cast(dim.bound, common);
        self.set(end, value, out);
        Ok(count::trips(&mut self.cx.build(span), dim, begin, end))
    }

    /// Gives the variables of a nest the values of an iteration.
    pub(super) fn place(&mut self, nest: &Nest, number: VarId, out: &mut Block) -> Result<()> {
        let span = self.span;
        match nest {
            Nest::Even(counted) => {
                let mut rest = number;
                for (at, it) in counted.iter().enumerate().rev() {
                    if at == 0 {
                        self.at(it.var, it.begin, it.step, rest, out);
                        continue;
                    }
                    let next = self.number("rest", out);
                    let value = {
                        let build = &mut self.cx.build(span);
                        let (all, trips) = (build.var(rest), build.var(it.trips));
                        intrinsic::quotient(build, all, trips)
                    };
                    self.set(next, value, out);
                    let ty = self.digit_type(it);
                    let index = self.cx.fresh("index", ty, self.space, span, out);
                    let digit = self.remainder(rest, next, it.trips);
                    self.set(index, digit, out);
                    self.at(it.var, it.begin, it.step, index, out);
                    rest = next;
                }
                Ok(())
            }
            Nest::Rows(walk) => {
                let [.., row] = walk.levels.as_slice() else { return Ok(()) };
                // Numbers only grow: the walk goes on from where it was.
                let mut body = Block::new();
                let value = {
                    let build = &mut self.cx.build(span);
                    let (first, trips) = (build.var(walk.first), build.var(row.counted.trips));
                    build.binary(BinaryOp::Add, first, trips)
                };
                self.set(walk.first, value, &mut body);
                self.advance(walk, walk.levels.len().saturating_sub(2), &mut body)?;
                self.begin_level(row, &mut body)?;
                let condition = {
                    let build = &mut self.cx.build(span);
                    let (number, first) = (build.var(number), build.var(walk.first));
                    let at = build.binary(BinaryOp::Sub, number, first);
                    let trips = build.var(row.counted.trips);
                    build.binary(BinaryOp::Ge, at, trips)
                };
                out.push(forever(Some(condition), None, body, span));
                // The body may have changed what counts the loops around it.
                let around = walk.levels.iter().take(walk.levels.len().saturating_sub(1));
                around.for_each(|it| self.at_level(it, out));
                let value = {
                    let build = &mut self.cx.build(span);
                    let (number, first) = (build.var(number), build.var(walk.first));
                    build.binary(BinaryOp::Sub, number, first)
                };
                self.set(row.at, value, out);
                self.at_level(row, out);
                Ok(())
            }
        }
    }

    /// `var = begin + index * step`
    fn at(&mut self, var: VarId, begin: VarId, step: ExprId, index: VarId, out: &mut Block) {
        let build = &mut self.cx.build(self.span);
        let index = build.var(index);
        let index = build.as_number(index);
        let value = count::value(build, begin, step, index);
        self.set(var, value, out);
    }
}

impl Counted {
    /// The value of the variable in an iteration, which its number is given of.
    pub(super) fn value(&self, build: &mut Builder<'_>, index: ExprId) -> ExprId {
        let value = count::value(build, self.begin, self.step, index);
        let ty = build.program.vars[self.var].ty.plain();
        build.cast(value, ty)
    }
}

/// Whether a nest is known to have one iteration, or none. Nobody then goes on to a second one, and a loop that says so is
/// one whose end does not depend on the thread: PoCL 3.1 takes it for a loop that all threads run.
pub(super) fn at_most_one(program: &Program, dims: &[Dim]) -> bool {
    iterations(program, dims, &mut Vec::new()).is_some_and(|it| it < 2)
}

/// How many iterations a nest has whose bounds are small constants, or made of such and variables of loops around; more than
/// one are not counted to the end.
fn iterations(program: &Program, dims: &[Dim], outer: &mut Vec<(VarId, i64)>) -> Option<usize> {
    let Some((dim, inner)) = dims.split_first() else { return Some(1) };
    let step = dim.step.map_or(Some(1), |it| small(program, it, outer))?;
    let (mut at, bound) = (small(program, dim.begin, outer)?, small(program, dim.bound, outer)?);
    let mut count = 0;
    for _ in 0..=SMALL {
        let goes_on = match dim.test {
            LoopTest::Lt => at < bound,
            LoopTest::Le => at <= bound,
            LoopTest::Gt => at > bound,
            LoopTest::Ge => at >= bound,
            LoopTest::Ne => at != bound,
        };
        if !goes_on || count > 1 {
            return Some(count);
        }
        outer.push((dim.var, at));
        count += iterations(program, inner, outer)?;
        outer.pop();
        at += if dim.descending { -step } else { step };
    }
    None
}

/// The largest number that is the same in every type.
const SMALL: i64 = 127;

/// The value of an expression of constants and known variables, if it is the same in every type.
fn small(program: &Program, id: ExprId, known: &[(VarId, i64)]) -> Option<i64> {
    let value = match program.exprs[id].kind {
        ExprKind::Var(var) => known.iter().find(|it| it.0 == var)?.1,
        ExprKind::Cast(_, inner) => small(program, inner, known)?,
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (small(program, left, known)?, small(program, right, known)?);
            match op {
                BinaryOp::Add => left + right,
                BinaryOp::Sub => left - right,
                BinaryOp::Mul => left * right,
                _ => return None,
            }
        }
        _ => count::constant(program, id)?,
    };
    (0..=SMALL).contains(&value).then_some(value)
}

pub(super) fn forever(
    condition: Option<ExprId>,
    step: Option<ExprId>,
    body: Block,
    span: Span,
) -> Stmt {
    let it = Loop { kind: LoopKind::Before, condition, step, body };
    Stmt::new(StmtKind::Loop(Box::new(it)), span)
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
    crews.collect()
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
