//! Loops that other directives change before their iterations are dealt: `tile`, `stripe`, `unroll`, `interchange`,
//! `reverse`, `fuse`.
//!
//! In: a construct that deals iterations, with such directives between it and its loops. Out: loops over counters from
//! zero, of which the outer ones are dealt, and the body with what the user's variables are there. Bounds of an inner
//! loop may follow the counters around it.

use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{BinaryOp, ExprId, Program, RegionId, StmtId, StmtKind as C, Typed, VarId};
use ir::region::LoopTest;
use kernel::count::{self, constant};
use kernel::{Block, Dim, Loop, LoopKind, Space, Stmt, StmtKind};
use source::Span;

use crate::{Outliner, Result, refuse};

/// How often a body is repeated where that is left to us.
const DEFAULT_FACTOR: i64 = 4;

/// A loop over a counter: `for (counter = begin; counter < end; counter += step)`, numbers of 64 bits.
#[derive(Clone, Debug)]
struct Made {
    counter: VarId,
    begin: ExprId,
    end: ExprId,
    step: ExprId,
    /// What each round begins with: values of the user's variables.
    before: Block,
    /// Bounds do not follow other counters.
    is_fixed: bool,
}

/// Loops inside each other.
#[derive(Clone, Debug)]
struct Nest {
    loops: Vec<Made>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Stmt(StmtId),
    /// One after the other, each under its condition, beginning with some statements.
    Fused(Vec<(ExprId, Block, Nest)>),
}

/// Loops whose iterations are dealt, and what one does.
#[derive(Clone, Debug)]
pub(crate) struct Transformed {
    pub(crate) dims: Vec<Dim>,
    befores: Vec<Block>,
    rest: Nest,
    /// The user's variables, with the values that they have after the loops.
    ends: Vec<(VarId, ExprId)>,
}

/// Whether a part of a construct changes the loops below it.
fn changes_loops(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Tile
            | Leaf::Unroll
            | Leaf::Interchange
            | Leaf::Reverse
            | Leaf::Fuse
            | Leaf::Split
            | Leaf::Stripe
    )
}

/// What a loop is looked for in.
enum Found {
    For(StmtId),
    Changed(RegionId),
}

fn find(program: &Program, at: StmtId) -> Option<Found> {
    match &program.stmts[at].kind {
        C::For(_) => Some(Found::For(at)),
        C::Block(list) => {
            let mut rest = list.iter().filter(|it| !matches!(program.stmts[**it].kind, C::Empty));
            let first = rest.next()?;
            if rest.next().is_some() { None } else { find(program, *first) }
        }
        C::Region(id) => {
            let region = &program.regions[*id];
            if region.construct.leaves.iter().any(|it| changes_loops(*it)) {
                return Some(Found::Changed(*id));
            }
            let says_nothing = |it: &Leaf| matches!(it, Leaf::Nothing | Leaf::Assume);
            let body = region.body.filter(|_| region.construct.leaves.iter().all(says_nothing))?;
            find(program, body)
        }
        _ => None,
    }
}

/// How many loops a construct deals.
fn collapsed(program: &Program, construct: &Construct<Typed>) -> usize {
    let count = construct.kinds().find_map(|it| match it {
        ClauseKind::Collapse { count, .. } => constant(program, *count),
        ClauseKind::Ordered(Some(count)) => constant(program, *count),
        _ => None,
    });
    count.and_then(|it| usize::try_from(it).ok()).unwrap_or(1).max(1)
}

/// Whether a directive changes loops that a construct deals.
pub(crate) fn are_changed(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let Some(mut at) = region.body else { return false };
    for _ in 0..collapsed(program, &region.construct) {
        match find_first(program, at) {
            Some(Found::Changed(_)) => return true,
            Some(Found::For(stmt)) => match &program.stmts[stmt].kind {
                C::For(it) => at = it.body,
                _ => return false,
            },
            None => return false,
        }
    }
    false
}

/// The first loop in a statement, whatever else there is.
fn find_first(program: &Program, at: StmtId) -> Option<Found> {
    match &program.stmts[at].kind {
        C::Block(list) => list.iter().find_map(|it| find_first(program, *it)),
        _ => find(program, at),
    }
}

impl Outliner<'_> {
    /// The loops of a construct after other directives have changed them. What they need is computed in `out`.
    pub(crate) fn transformed(
        &mut self,
        id: RegionId,
        space: Space,
        out: &mut Block,
    ) -> Result<Transformed> {
        let region = self.program.regions[id].clone();
        let span = region.construct.span;
        let Some(body) = region.body else { return refuse("no loop", span) };
        let wanted = collapsed(self.program, &region.construct);
        let mut maker = Maker { of: self, space, span, ends: Vec::new(), id };
        let mut nest = maker.nest(body, wanted, out)?;
        let ends = maker.ends;
        if nest.loops.len() < wanted {
            return refuse("fewer loops than are dealt", span);
        }
        let rest = nest.loops.split_off(wanted);
        let (mut dims, mut befores) = (Vec::new(), Vec::new());
        for it in nest.loops {
            let (var, begin, bound, step) = (it.counter, it.begin, it.end, Some(it.step));
            let (test, descending, rectangular) = (LoopTest::Lt, false, it.is_fixed);
            dims.push(Dim { var, begin, bound, test, step, descending, rectangular });
            befores.push(it.before);
        }
        Ok(Transformed { dims, befores, rest: Nest { loops: rest, body: nest.body }, ends })
    }

    /// What one dealt iteration does.
    pub(crate) fn transformed_body(&mut self, made: &Transformed) -> Result<Block> {
        let mut block: Block = made.befores.iter().flatten().cloned().collect();
        self.nest_code(&made.rest, &mut block)?;
        Ok(block)
    }

    /// What the user's variables are after the loops.
    pub(crate) fn transformed_ends(&mut self, made: &Transformed, last: &mut Block) {
        for (var, value) in &made.ends {
            let span = self.program.vars[*var].span;
            let e = self.build(span).set(*var, *value);
            self.eval(e, last);
        }
    }

    /// Loops that nobody deals.
    fn nest_code(&mut self, nest: &Nest, out: &mut Block) -> Result<()> {
        let Some((first, rest)) = nest.loops.split_first() else {
            return match &nest.body {
                Body::Stmt(body) => {
                    let span = self.program.stmts[*body].span;
                    let inner = self.block(&[*body])?;
                    out.push(self.once(inner, span));
                    Ok(())
                }
                Body::Fused(list) => {
                    for (condition, before, nest) in list {
                        let mut block = before.clone();
                        self.nest_code(nest, &mut block)?;
                        let span = self.program.exprs[*condition].span;
                        let kind = StmtKind::If(*condition, block, Block::new());
                        out.push(Stmt::new(kind, span));
                    }
                    Ok(())
                }
            };
        };
        let span = self.program.vars[first.counter].span;
        let e = self.build(span).set(first.counter, first.begin);
        self.eval(e, out);
        let mut body = first.before.clone();
        let inner = Nest { loops: rest.to_vec(), body: nest.body.clone() };
        self.nest_code(&inner, &mut body)?;
        let mut build = self.build(span);
        let at = build.var(first.counter);
        let condition = build.binary(BinaryOp::Lt, at, first.end);
        let next = build.binary(BinaryOp::Add, at, first.step);
        let step = build.set(first.counter, next);
        let (kind, condition, step) = (LoopKind::Before, Some(condition), Some(step));
        let made = Loop { kind, condition, step, body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(made)), span));
        Ok(())
    }

    /// A body that a `continue` leaves.
    pub(crate) fn once(&mut self, body: Block, span: Span) -> Stmt {
        let mut build = self.build(span);
        let int = build.int_type();
        let condition = Some(build.int(0, int));
        let once = Loop { kind: LoopKind::After, condition, step: None, body };
        Stmt::new(StmtKind::Loop(Box::new(once)), span)
    }
}

/// Makes the loops of one construct.
struct Maker<'a, 'p> {
    of: &'a mut Outliner<'p>,
    /// Where counters and the user's variables lie.
    space: Space,
    span: Span,
    ends: Vec<(VarId, ExprId)>,
    id: RegionId,
}

impl Maker<'_, '_> {
    fn number(&mut self, like: &str, out: &mut Block) -> VarId {
        self.of.number(like, self.space, self.span, out)
    }

    fn set(&mut self, var: VarId, value: ExprId, out: &mut Block) {
        let e = self.of.build(self.span).set(var, value);
        self.of.eval(e, out);
    }

    /// The first `count` loops of a statement.
    fn nest(&mut self, stmt: StmtId, count: usize, out: &mut Block) -> Result<Nest> {
        match find(self.of.program, stmt) {
            Some(Found::For(stmt)) => {
                let mut nest = self.counted(stmt, out)?;
                if count > 1 {
                    let Body::Stmt(body) = nest.body else { return Ok(nest) };
                    let inner = self.nest(body, count - 1, out)?;
                    nest.loops.extend(inner.loops);
                    nest.body = inner.body;
                }
                Ok(nest)
            }
            Some(Found::Changed(id)) => self.changed(id, count, out),
            None => refuse("code between loops that other directives change", self.span),
        }
    }

    /// One loop of the user's, over the number of its round.
    fn counted(&mut self, stmt: StmtId, out: &mut Block) -> Result<Nest> {
        let regions = self.of.program.regions.iter();
        let found = regions.flat_map(|(_, it)| &it.loops).find(|it| it.stmt == stmt).cloned();
        let Some(it) = found else {
            return refuse("a loop that does not count", self.span);
        };
        if !it.rectangular {
            return refuse("bounds that follow a loop which other directives change", it.span);
        }
        let begin = self.of.value(it.begin, out)?;
        let bound = self.of.value(it.bound, out)?;
        let step = it.step.map(|it| self.of.value(it, out)).transpose()?;
        let outside = self.of.env.vars.get(&it.var).copied().unwrap_or(it.var);
        let var = self.of.fresh_like(it.var, self.space, it.span)?;
        self.of.declare(var, out);
        self.of.env.vars.insert(it.var, var);
        let (test, descending, rectangular) = (it.test, it.descending, true);
        let dim = Dim { var, begin, bound, test, step, descending, rectangular };
        let Some(common) = count::common(self.of.program, &dim) else {
            return refuse("a loop that does not count", self.span);
        };
        let first = self.of.fresh_like(var, self.space, it.span)?;
        self.of.declare(first, out);
        self.set(first, begin, out);
        let end = self.of.build(self.span).fresh("bound", common);
        self.of.spaces.push((end, self.space));
        self.of.declare(end, out);
        let value = self.of.build(self.span).cast(bound, common);
        self.set(end, value, out);
        let (trips, counter) = (self.number("trips", out), self.number("round", out));
        let value = count::trips(&mut self.of.build(self.span), &dim, first, end);
        self.set(trips, value, out);
        let mut build = self.of.build(self.span);
        let step = count::step(&mut build, &dim);
        let (at, end) = (build.var(counter), build.var(trips));
        let value = count::value(&mut build, first, step, at);
        let behind = count::value(&mut build, first, step, end);
        let (zero, all, one) = (build.number(0), build.var(trips), build.number(1));
        if self.of.is_kept(self.id, it.var) {
            self.ends.push((outside, behind));
        }
        let mut before = Block::new();
        self.set(var, value, &mut before);
        let made = Made { counter, begin: zero, end: all, step: one, before, is_fixed: true };
        Ok(Nest { loops: vec![made], body: Body::Stmt(it.body) })
    }

    /// The loops that a directive makes; `wanted` of them are dealt.
    fn changed(&mut self, id: RegionId, wanted: usize, out: &mut Block) -> Result<Nest> {
        let region = self.of.program.regions[id].clone();
        let (construct, span) = (&region.construct, region.construct.span);
        let Some(body) = region.body else { return refuse("no loop", span) };
        if construct.kinds().any(|it| matches!(it, ClauseKind::Apply { .. })) {
            return refuse("directives for loops that a directive makes", span);
        }
        if construct.has(Leaf::Fuse) {
            return self.fuse(construct, body, out);
        }
        let listed = construct.kinds().find_map(|it| match it {
            ClauseKind::Sizes(list) | ClauseKind::Permutation(list) => Some(list.clone()),
            _ => None,
        });
        let arity =
            listed.as_ref().map_or(1 + usize::from(construct.has(Leaf::Interchange)), Vec::len);
        let mut nest = self.nest(body, arity, out)?;
        match construct.leaves.as_slice() {
            [Leaf::Unroll] => {
                let factor = construct.kinds().find_map(|it| match it {
                    ClauseKind::Partial(Some(factor)) => constant(self.of.program, *factor),
                    _ => None,
                });
                let factor = factor.filter(|it| *it > 0).unwrap_or(DEFAULT_FACTOR);
                let factor = self.of.build(span).number(factor);
                self.cut(nest, &[factor], false, out)
            }
            [leaf @ (Leaf::Tile | Leaf::Stripe)] => {
                let mut sizes = Vec::new();
                for size in listed.unwrap_or_default() {
                    let value = self.of.value(size, out)?;
                    let var = self.number("size", out);
                    self.set(var, value, out);
                    sizes.push(self.of.build(span).var(var));
                }
                self.cut(nest, &sizes, *leaf == Leaf::Stripe, out)
            }
            [Leaf::Interchange] => {
                let count = arity.min(nest.loops.len());
                let order: Vec<usize> = match &listed {
                    None => (0..count).rev().collect(),
                    Some(list) => {
                        let at = |it: &ExprId| constant(self.of.program, *it)?.checked_sub(1);
                        let at = |it: &ExprId| usize::try_from(at(it)?).ok();
                        list.iter().filter_map(at).collect()
                    }
                };
                let old: Vec<Made> = nest.loops.drain(..count).collect();
                let new: Vec<Made> = order.iter().filter_map(|it| old.get(*it).cloned()).collect();
                if new.len() != count || old.iter().any(|it| !it.is_fixed) {
                    return refuse("loops that cannot change places", span);
                }
                nest.loops.splice(0..0, new);
                Ok(nest)
            }
            [Leaf::Reverse] => {
                let first = nest.loops.remove(0);
                let first = self.zero_based(first, out)?;
                let counter = self.number("round", out);
                let mut build = self.of.build(span);
                let (at, one) = (build.var(counter), build.number(1));
                let last = build.binary(BinaryOp::Sub, first.end, one);
                let value = build.binary(BinaryOp::Sub, last, at);
                let mut before = Block::new();
                self.set(first.counter, value, &mut before);
                before.extend(first.before);
                nest.loops.insert(0, Made { counter, before, ..first });
                Ok(nest)
            }
            _ => {
                let _ = wanted;
                refuse("loops that a directive makes several of", span)
            }
        }
    }

    /// A loop that begins at zero and goes by one.
    fn zero_based(&mut self, one: Made, out: &mut Block) -> Result<Made> {
        let program = &self.of.program;
        let is = |e: ExprId, value: i64| constant(program, e) == Some(value);
        if !one.is_fixed {
            return refuse("bounds that follow a loop which other directives change", self.span);
        }
        if is(one.begin, 0) && is(one.step, 1) {
            return Ok(one);
        }
        let (trips, counter) = (self.number("trips", out), self.number("round", out));
        let mut build = self.of.build(self.span);
        let (zero, unit) = (build.number(0), build.number(1));
        let is_some = build.binary(BinaryOp::Lt, one.begin, one.end);
        let far = build.binary(BinaryOp::Sub, one.end, one.begin);
        let less = build.binary(BinaryOp::Sub, far, unit);
        let rounds = build.binary(BinaryOp::Div, less, one.step);
        let rounds = build.binary(BinaryOp::Add, rounds, unit);
        let count = build.either(is_some, rounds, zero);
        self.set(trips, count, out);
        let mut build = self.of.build(self.span);
        let at = build.var(counter);
        let far = build.binary(BinaryOp::Mul, at, one.step);
        let value = build.binary(BinaryOp::Add, one.begin, far);
        let all = build.var(trips);
        let mut before = Block::new();
        self.set(one.counter, value, &mut before);
        before.extend(one.before);
        Ok(Made { counter, begin: zero, end: all, step: unit, before, is_fixed: true })
    }

    /// Each loop becomes two: over tiles and in a tile, or over the places in a stripe and the stripes.
    fn cut(
        &mut self,
        mut nest: Nest,
        sizes: &[ExprId],
        is_stripe: bool,
        out: &mut Block,
    ) -> Result<Nest> {
        let old: Vec<Made> = nest.loops.drain(..sizes.len().min(nest.loops.len())).collect();
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        for (one, size) in old.into_iter().zip(sizes) {
            let one = self.zero_based(one, out)?;
            let counter = self.number("tile", out);
            let mut build = self.of.build(self.span);
            let (zero, unit, at) = (build.number(0), build.number(1), build.var(counter));
            let (before, is_fixed) = (Block::new(), true);
            if is_stripe {
                // Places beyond the end have no round.
                outer.push(Made { counter, begin: zero, end: *size, step: unit, before, is_fixed });
                inner.push(Made { begin: at, step: *size, is_fixed: false, ..one });
                continue;
            }
            let left = build.binary(BinaryOp::Sub, one.end, at);
            let is_short = build.binary(BinaryOp::Lt, left, *size);
            let next = build.binary(BinaryOp::Add, at, *size);
            let stop = build.either(is_short, one.end, next);
            outer.push(Made { counter, begin: zero, end: one.end, step: *size, before, is_fixed });
            inner.push(Made { begin: at, end: stop, step: unit, is_fixed: false, ..one });
        }
        nest.loops.splice(0..0, outer.into_iter().chain(inner));
        Ok(nest)
    }

    /// Loops side by side become one that runs as long as the longest.
    fn fuse(
        &mut self,
        construct: &Construct<Typed>,
        body: StmtId,
        out: &mut Block,
    ) -> Result<Nest> {
        let list: Vec<StmtId> = match &self.of.program.stmts[body].kind {
            C::Block(list) => list.to_vec(),
            _ => vec![body],
        };
        let is_code = |it: &&StmtId| !matches!(self.of.program.stmts[**it].kind, C::Empty);
        let list: Vec<StmtId> = list.iter().filter(is_code).copied().collect();
        let part = construct.kinds().find_map(|it| match it {
            ClauseKind::LoopRange(_, count) => Some(constant(self.of.program, *count)),
            _ => None,
        });
        let all = i64::try_from(list.len()).ok();
        if part.is_some_and(|it| it != all) {
            return refuse("loops that a directive makes several of", construct.span);
        }
        let (counter, longest) = (self.number("round", out), self.number("longest", out));
        let zero = self.of.build(self.span).number(0);
        self.set(longest, zero, out);
        let mut fused = Vec::new();
        for stmt in list {
            let mut nest = self.nest(stmt, 1, out)?;
            if nest.loops.is_empty() {
                return refuse("loops that a directive makes several of", construct.span);
            }
            let first = nest.loops.remove(0);
            let first = self.zero_based(first, out)?;
            let mut build = self.of.build(self.span);
            let (at, most) = (build.var(counter), build.var(longest));
            let is_longer = build.binary(BinaryOp::Lt, most, first.end);
            let value = build.either(is_longer, first.end, most);
            let condition = build.binary(BinaryOp::Lt, at, first.end);
            self.set(longest, value, out);
            let mut before = Block::new();
            self.set(first.counter, at, &mut before);
            before.extend(first.before);
            fused.push((condition, before, nest));
        }
        let mut build = self.of.build(self.span);
        let (begin, end, step) = (build.number(0), build.var(longest), build.number(1));
        let made = Made { counter, begin, end, step, before: Block::new(), is_fixed: true };
        Ok(Nest { loops: vec![made], body: Body::Fused(fused) })
    }
}
