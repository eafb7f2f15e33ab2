//! `transpose`: elements that lie side by side along another dimension than threads do go through the memory of the group.
//!
//! In: a loop of at least two dimensions that all threads share, whose iterations store to elements side by side along its
//! last dimension and look at others that lie side by side along another one: transpositions and what is like them. Out:
//! tiles; a group loads its elements in the order of memory, and its threads find them in the memory of the group. Only
//! elements that every iteration looks at before it stores anything.

use ir::program::{BinaryOp, ExprId, StmtId, StmtKind as C, VarId};
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Loop, LoopKind, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::nest::{
    Load, Straight, is_contiguous, is_known, mentions, nest_code, replace_share, taken,
};
use super::numbering::{Counted, Sharing};
use super::{Cx, Result};

/// Rows and columns of a tile.
const TILE: u32 = 32;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, set) else { return Ok(None) };
        let made = Maker::tiles(cx, share, &plan, span)?;
        // Tiles at the edges have fewer iterations: twice as many groups as whole tiles need.
        let threads = u32::try_from(cx.groups.most_threads).unwrap_or(1);
        cx.kernel.launch.spread = Some([2 * threads, TILE * TILE, 0]);
        cx.kernel.launch.notes.push(format!(
            "tiles of {TILE} x {TILE} iterations, with elements of {} in group memory",
            if plan.staged.len() == 1 { "one operand" } else { "some operands" }
        ));
        Ok(Some(made))
    })
}

struct Plan {
    code: StmtId,
    /// The dimension that is not the last.
    rows: usize,
    /// What goes through the memory of the group.
    staged: Vec<Load>,
}

fn plan(cx: &mut Cx<'_>, share: &Share, set: &FxHashSet<VarId>) -> Option<Plan> {
    let code = nest_code(share)?;
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let bounds = share.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
    if !bounds.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims)) {
        return None;
    }
    let straight = Straight::find(cx.program, cx.kernel, code, &taken(share, set))?;
    let (column, others) = dims.split_last()?;
    let program = &cx.program;
    let beside = |it: &ExprId| is_contiguous(program, *it, *column);
    if straight.stores.is_empty() || !straight.stores.iter().all(beside) {
        return None;
    }
    let apart = |load: &&Load, row: VarId| {
        let has = mentions(program, load.value, |it| it == *column);
        has && is_contiguous(program, load.value, row)
            && !is_contiguous(program, load.value, *column)
    };
    let rows = others.iter().position(|row| straight.loads.iter().any(|it| apart(&it, *row)))?;
    let row = *others.get(rows)?;
    let staged: Vec<Load> = straight.loads.iter().filter(|it| apart(it, row)).copied().collect();
    let bytes: u64 =
        staged.iter().map(|it| super::nest::size_of(program, program.exprs[it.value].ty)).sum();
    let room = u64::from(TILE * (TILE + 1)).saturating_mul(bytes);
    (room <= cx.groups.memory).then_some(Plan { code, rows, staged })
}

/// Makes the tiles.
struct Maker<'a, 'p> {
    cx: &'a mut Cx<'p>,
    plan: &'a Plan,
    dims: Vec<Counted>,
    span: Span,
    /// Where the tile begins.
    top: VarId,
    left: VarId,
    memory: Vec<VarId>,
    others: FxHashMap<VarId, VarId>,
}

impl Maker<'_, '_> {
    fn tiles(cx: &mut Cx<'_>, share: &Share, plan: &Plan, span: Span) -> Result<Block> {
        let mut out = Block::new();
        let mut dims = Vec::new();
        for dim in &share.dims {
            dims.push(Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?);
        }
        let [top, left] = ["top", "left"].map(|it| cx.build(span).fresh_number(it));
        let (memory, others) = (Vec::new(), FxHashMap::default());
        let mut maker = Maker { cx, plan, dims, span, top, left, memory, others };
        maker.all(&mut out);
        Ok(vec![Stmt::new(StmtKind::Block(out), span)])
    }

    fn build(&mut self) -> Builder<'_> {
        self.cx.build(self.span)
    }

    fn op(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.build().binary(op, a, b)
    }

    fn var(&mut self, var: VarId) -> ExprId {
        self.build().var(var)
    }

    fn number(&mut self, value: u32) -> ExprId {
        self.build().number(i64::from(value))
    }

    fn all(&mut self, out: &mut Block) {
        let span = self.span;
        for load in &self.plan.staged {
            let ty = self.cx.program.exprs[load.value].ty.plain();
            let array = self.cx.build(span).array_of(ty, u64::from(TILE * (TILE + 1)));
            self.memory.push(self.cx.fresh("staged", array, Space::Group, span, out));
        }
        let last = self.dims.len().saturating_sub(1);
        let sides = [self.plan.rows, last];
        let counts = sides.map(|dim| {
            let var = self.cx.number("tiles", Space::Uniform, span, out);
            let trips = self.dims.get(dim).map_or(self.top, |it| it.trips);
            let (trips, by, less) = (self.var(trips), self.number(TILE), self.number(TILE - 1));
            let more = self.op(BinaryOp::Add, trips, less);
            let value = self.op(BinaryOp::Div, more, by);
            self.cx.set(var, value, span, out);
            var
        });
        let [down, across] = counts.map(|it| self.var(it));
        let mut value = self.op(BinaryOp::Mul, down, across);
        for (at, trips) in self.dims.iter().map(|it| it.trips).enumerate().collect::<Vec<_>>() {
            if !sides.contains(&at) {
                let trips = self.var(trips);
                value = self.op(BinaryOp::Mul, value, trips);
            }
        }
        let all = self.cx.number("tiles", Space::Uniform, span, out);
        self.cx.set(all, value, span, out);
        let groups = self.cx.kernel.groups;
        let tile = self.cx.number("tile", Space::Uniform, span, out);
        let group = self.var(groups.number);
        self.cx.set(tile, group, span, out);
        let body = self.tile(tile, counts, sides);
        let build = &mut self.build();
        let (one, end, by) = (build.var(tile), build.var(all), build.var(groups.count));
        let condition = build.binary(BinaryOp::Lt, one, end);
        let next = build.binary(BinaryOp::Add, one, by);
        let step = build.set(tile, next);
        let kind = LoopKind::Before;
        let each = Loop { kind, condition: Some(condition), step: Some(step), body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
    }

    fn tile(&mut self, tile: VarId, counts: [VarId; 2], sides: [usize; 2]) -> Block {
        let (span, mut out) = (self.span, Block::new());
        for var in [self.top, self.left] {
            self.cx.kernel.spaces.push((var, Space::Uniform));
            out.push(Stmt::new(StmtKind::Local(var), span));
        }
        let rest = self.cx.number("rest", Space::Uniform, span, &mut out);
        let value = self.var(tile);
        self.cx.set(rest, value, span, &mut out);
        let take = |this: &mut Self, to: VarId, count: VarId, by: u32, out: &mut Block| {
            let (all, count, by) = (this.var(rest), this.var(count), this.number(by));
            let index = this.op(BinaryOp::Rem, all, count);
            let value = this.op(BinaryOp::Mul, index, by);
            this.cx.set(to, value, span, out);
            let next = this.op(BinaryOp::Div, all, count);
            this.cx.set(rest, next, span, out);
        };
        take(self, self.left, counts[1], TILE, &mut out);
        take(self, self.top, counts[0], TILE, &mut out);
        for at in (0..self.dims.len()).rev().filter(|it| !sides.contains(it)) {
            let Some((var, trips)) = self.dims.get(at).map(|it| (it.var, it.trips)) else {
                continue;
            };
            let index = self.cx.number("index", Space::Uniform, span, &mut out);
            take(self, index, trips, 1, &mut out);
            let ty = self.cx.program.vars[var].ty.plain();
            let other = self.cx.fresh("other", ty, Space::Uniform, span, &mut out);
            let index = self.var(index);
            let Some(value) = self.dims.get(at).map(|it| it.value(&mut self.cx.build(span), index))
            else {
                continue;
            };
            self.cx.set(other, value, span, &mut out);
            self.others.insert(var, other);
        }
        out.push(Stmt::new(StmtKind::Barrier, span));
        out.push(self.bring(sides));
        out.push(Stmt::new(StmtKind::Barrier, span));
        out.push(self.compute(sides));
        out
    }

    /// Code for each element of a tile, dealt to the threads; `quick` of two numbers follows neighbours among threads. Groups of
    /// the size that the target has go round a number of times that the compiler knows.
    fn each(&mut self, body: impl Fn(&mut Self, ExprId, ExprId, &mut Vec<StmtId>)) -> StmtId {
        let most = u32::try_from(self.cx.groups.most_threads).unwrap_or(1);
        let threads = self.cx.kernel.threads.count;
        let any = self.rounds(None, &body);
        if !(TILE * TILE).is_multiple_of(most) {
            return any;
        }
        let known = self.rounds(Some(most), &body);
        let build = &mut self.build();
        let (have, most) = (build.var(threads), build.number(i64::from(most)));
        let is_known = build.binary(BinaryOp::Eq, have, most);
        build.stmt(C::If(is_known, known, Some(any)))
    }

    fn rounds(
        &mut self,
        threads: Option<u32>,
        body: &impl Fn(&mut Self, ExprId, ExprId, &mut Vec<StmtId>),
    ) -> StmtId {
        let one = self.build().fresh_number("one");
        let (thread, count) = (self.cx.kernel.threads.number, self.cx.kernel.threads.count);
        let by = match threads {
            Some(threads) => self.number(threads),
            None => self.var(count),
        };
        // Counted from zero, so that the compiler knows how many there are.
        let (me, index, row) = (self.var(thread), self.var(one), self.number(TILE));
        let index = self.op(BinaryOp::Add, index, me);
        let slow = self.op(BinaryOp::Div, index, row);
        let quick = self.op(BinaryOp::Rem, index, row);
        let mut list = Vec::new();
        body(self, slow, quick, &mut list);
        let build = &mut self.build();
        if threads.is_none() {
            let end = build.number(i64::from(TILE * TILE));
            let is_there = build.binary(BinaryOp::Lt, index, end);
            let inside = build.stmt(C::Block(std::mem::take(&mut list).into()));
            list.push(build.stmt(C::If(is_there, inside, None)));
        }
        let zero = build.number(0);
        let init = build.init(zero);
        build.program.vars[one].init = Some(init);
        let declared = build.stmt(C::Local(one));
        let (at, end) = (build.var(one), build.number(i64::from(TILE * TILE)));
        let cond = build.binary(BinaryOp::Lt, at, end);
        let next = build.binary(BinaryOp::Add, at, by);
        let step = build.set(one, next);
        let body = build.stmt(C::Block(list.into()));
        let unroll = threads.map(|it| TILE * TILE / it);
        build.stmt(C::For(Box::new(ir::program::For {
            init: Box::new([declared]),
            cond: Some(cond),
            step: Some(step),
            body,
            unroll,
            lanes: false,
        })))
    }

    /// Variables with the values of the two dimensions at places of the tile, and whether there is such an iteration; beyond
    /// the end they have the last values there are.
    fn values(
        &mut self,
        sides: [usize; 2],
        [row, column]: [ExprId; 2],
        out: &mut Vec<StmtId>,
    ) -> (FxHashMap<VarId, VarId>, ExprId) {
        let mut vars = self.others.clone();
        let span = self.span;
        let mut is_there: Option<ExprId> = None;
        for (dim, (begin, place)) in sides.into_iter().zip([(self.top, row), (self.left, column)]) {
            let begin = self.var(begin);
            let index = self.op(BinaryOp::Add, begin, place);
            let Some(dim) = self.dims.get(dim) else { continue };
            let build = &mut self.cx.build(span);
            let (trips, less) = (build.var(dim.trips), build.number(1));
            let end = build.binary(BinaryOp::Sub, trips, less);
            let clamped = build.min(index, end);
            let value = dim.value(build, clamped);
            let (name, ty) = (build.name_of(dim.var), build.program.vars[dim.var].ty.plain());
            let var = build.fresh(&name, ty);
            let init = build.init(value);
            build.program.vars[var].init = Some(init);
            out.push(build.stmt(C::Local(var)));
            vars.insert(dim.var, var);
            let trips = build.var(dim.trips);
            let is_one = build.binary(BinaryOp::Lt, index, trips);
            is_there = Some(match is_there {
                Some(other) => build.and(other, is_one),
                None => is_one,
            });
        }
        let is_there = is_there.unwrap_or_else(|| self.number(1));
        (vars, is_there)
    }

    /// The place of an element in the memory of the group; rows are longer than they need be, so that threads that take a
    /// column of them meet less.
    fn spot(&mut self, memory: VarId, row: ExprId, column: ExprId) -> ExprId {
        let by = self.number(TILE + 1);
        let far = self.op(BinaryOp::Mul, column, by);
        let spot = self.op(BinaryOp::Add, far, row);
        let build = &mut self.build();
        let ty = build.program.vars[memory].ty;
        let element = build.program.types.element(ty).unwrap_or(ty);
        let array = build.var(memory);
        build.expr(ir::program::ExprKind::Index(array, spot), element)
    }

    fn bring(&mut self, sides: [usize; 2]) -> Stmt {
        let staged: Vec<(Load, VarId)> =
            self.plan.staged.iter().copied().zip(self.memory.clone()).collect();
        let code = self.each(|this, slow, quick, list| {
            let (vars, _) = this.values(sides, [quick, slow], list);
            for (load, memory) in staged.clone() {
                let value = this.copier(vars.clone(), FxHashMap::default()).expr(load.value);
                let to = this.spot(memory, quick, slow);
                let build = &mut this.build();
                let e = build.assign(to, value);
                list.push(build.stmt(C::Expr(e)));
            }
        });
        Stmt::new(StmtKind::Code(code), self.span)
    }

    fn compute(&mut self, sides: [usize; 2]) -> Stmt {
        let staged: Vec<(Load, VarId)> =
            self.plan.staged.iter().copied().zip(self.memory.clone()).collect();
        let code = self.plan.code;
        let code = self.each(|this, slow, quick, list| {
            let (vars, is_there) = this.values(sides, [slow, quick], list);
            let mut places = FxHashMap::default();
            for (load, memory) in staged.clone() {
                let from = this.spot(memory, slow, quick);
                places.insert(load.expr, from);
            }
            let body = this.copier(vars, places).stmt(code);
            let build = &mut this.build();
            list.push(build.stmt(C::If(is_there, body, None)));
        });
        Stmt::new(StmtKind::Code(code), self.span)
    }

    fn copier(
        &mut self,
        vars: FxHashMap<VarId, VarId>,
        places: FxHashMap<ExprId, ExprId>,
    ) -> Copier<'_> {
        Copier { vars, places, ..Copier::new(self.cx.program) }
    }
}
