//! Iterations of nests by number: how many there are, and the values that the variables of the loops have in one.
//!
//! A nest whose bounds do not follow each other is counted by products and taken apart by divisions. In one whose inner
//! bounds follow outer variables, who goes through it walks along the rows of the innermost loop, as far as the next number.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use kernel::build::Builder;
use kernel::{Block, Dim, Loop, LoopKind, Space, Stmt, StmtKind};
use kernel::{count, intrinsic};
use source::Span;

use super::{Cx, Result, refuse};

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

    /// The variables of a nest get the values that they have at these digits.
    pub(super) fn set_digits(&mut self, counted: &[Counted], digits: &[VarId], out: &mut Block) {
        for (it, index) in counted.iter().zip(digits) {
            self.at(it.var, it.begin, it.step, *index, out);
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

    /// What a number is made of: how far it is in each loop of a nest.
    pub(super) fn digits(
        &mut self,
        number: VarId,
        counted: &[Counted],
        out: &mut Block,
    ) -> Vec<VarId> {
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
    pub(super) fn add_digits(
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

    pub(super) fn number(&mut self, like: &str, out: &mut Block) -> VarId {
        self.cx.number(like, self.space, self.span, out)
    }

    pub(super) fn set(&mut self, var: VarId, value: ExprId, out: &mut Block) {
        self.cx.set(var, value, self.span, out);
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

/// A loop that goes on while a condition holds.
pub(super) fn forever(
    condition: Option<ExprId>,
    step: Option<ExprId>,
    body: Block,
    span: Span,
) -> Stmt {
    let it = Loop { kind: LoopKind::Before, condition, step, body };
    Stmt::new(StmtKind::Loop(Box::new(it)), span)
}
