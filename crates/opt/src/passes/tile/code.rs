//! The code of tiles.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Init, StmtId, StmtKind as C, VarId};
use ir::types::Ty;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Loop, LoopKind, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::super::numbering::{Counted, Sharing};
use super::super::{Cx, Result};
use super::{Guard, Plan, Side, Sizes, Staged, at, size_of};

/// Elements of the inner loop that are brought at a time, if they take four bytes.
const DEPTH: u32 = 16;
/// Bytes that are loaded at once from the memory of a group.
const WIDE: u64 = 16;

/// The tiles of a shared loop; the loop itself where groups do not have the threads that tiles need, or it is too short.
pub(super) fn tiles(cx: &mut Cx<'_>, share: Share, plan: &Plan, span: Span) -> Result<Block> {
    let mut out = Block::new();
    let mut dims = Vec::new();
    for dim in &share.dims {
        dims.push(Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?);
    }
    let choice = cx.number("choice", Space::Uniform, span, &mut out);
    let zero = cx.build(span).number(0);
    cx.set(choice, zero, span, &mut out);
    // The largest that fits.
    let many = cx.groups.many;
    for ((sizes, from), number) in plan.sizes.into_iter().zip([0, many / 8, many]).zip(1..) {
        let fits = fits(cx, plan, &dims, sizes, from, span);
        let build = &mut cx.build(span);
        let (number, now) = (build.number(number), build.var(choice));
        let value = build.either(fits, number, now);
        cx.set(choice, value, span, &mut out);
    }
    for (sizes, number) in plan.sizes.into_iter().zip(1..) {
        let tiles = Maker::new(cx, plan, &dims, sizes, span).tiles()?;
        out.push(chosen(cx, choice, number, tiles, span));
    }
    let plain = vec![at(span, StmtKind::Share(Box::new(share)))];
    out.push(chosen(cx, choice, 0, plain, span));
    Ok(vec![at(span, StmtKind::Block(out))])
}

fn chosen(cx: &mut Cx<'_>, choice: VarId, number: i64, code: Block, span: Span) -> Stmt {
    let build = &mut cx.build(span);
    let (choice, number) = (build.var(choice), build.number(number));
    let is_it = build.binary(BinaryOp::Eq, choice, number);
    at(span, StmtKind::If(is_it, code, Block::new()))
}

/// Whether tiles of a size are good: there are enough iterations, and at most a third more would be computed than there are.
fn fits(
    cx: &mut Cx<'_>,
    plan: &Plan,
    dims: &[Counted],
    sizes: Sizes,
    from: u32,
    span: Span,
) -> ExprId {
    let threads = cx.kernel.threads.count;
    let build = &mut cx.build(span);
    let [rows, columns] = sizes.threads;
    let (have, need) = (build.var(threads), build.number(i64::from(rows * columns)));
    let mut fits = build.binary(BinaryOp::Eq, have, need);
    let mut all = build.number(1);
    for it in dims {
        let trips = build.var(it.trips);
        all = build.binary(BinaryOp::Mul, all, trips);
    }
    let from = build.number(i64::from(from));
    let are_many = build.binary(BinaryOp::Ge, all, from);
    fits = build.and(fits, are_many);
    let [high, wide] = sizes.tile();
    for (dim, by) in [(plan.rows, high), (plan.columns, wide)] {
        let Some(dim) = dims.get(dim) else { continue };
        let trips = build.var(dim.trips);
        let (by, less) = (build.number(i64::from(by)), build.number(i64::from(by - 1)));
        let more = build.binary(BinaryOp::Add, trips, less);
        let tiles = build.binary(BinaryOp::Div, more, by);
        let padded = build.binary(BinaryOp::Mul, tiles, by);
        let (three, four) = (build.number(3), build.number(4));
        let padded = build.binary(BinaryOp::Mul, padded, three);
        let most = build.binary(BinaryOp::Mul, trips, four);
        let is_full = build.binary(BinaryOp::Le, padded, most);
        fits = build.and(fits, is_full);
    }
    fits
}

/// Makes tiles of one size.
struct Maker<'a, 'p> {
    cx: &'a mut Cx<'p>,
    plan: &'a Plan,
    dims: &'a [Counted],
    span: Span,
    sizes: Sizes,
    /// Elements of the inner loop that are brought at a time.
    depth: u32,
    /// Columns that lie side by side for a thread.
    beside: u32,
    /// Where the tile begins, and which of the others it belongs to.
    top: VarId,
    left: VarId,
    /// Row and column of the thread in its group.
    row: VarId,
    column: VarId,
    /// The first round that is brought, how many there are, and what the first counts.
    first: VarId,
    /// Arrays of the thread: its values of the two dimensions.
    values: [VarId; 2],
    /// And of each variable of the iteration.
    own: FxHashMap<VarId, VarId>,
    /// Memory of the group for what is staged, and what each thread brings of it next.
    memory: Vec<VarId>,
    brought: Vec<VarId>,
    /// Dimensions that are the same for the tile.
    others: FxHashMap<VarId, VarId>,
}

impl<'a, 'p> Maker<'a, 'p> {
    fn new(
        cx: &'a mut Cx<'p>,
        plan: &'a Plan,
        dims: &'a [Counted],
        sizes: Sizes,
        span: Span,
    ) -> Maker<'a, 'p> {
        let bytes = |it: &Staged| size_of(cx.program, cx.program.exprs[it.value].ty);
        let largest = plan.staged.iter().map(bytes).max().unwrap_or(4).max(1);
        let smallest = plan.staged.iter().map(bytes).min().unwrap_or(4).max(1);
        let [rows, columns] = sizes.each;
        let depth = if largest > 4 { DEPTH / 2 } else { DEPTH };
        let beside = u32::try_from(WIDE / smallest).unwrap_or(1).clamp(1, columns);
        let mut fresh = |like: &str| cx.build(span).fresh_number(like);
        let [top, left, row, column, first] =
            ["top", "left", "row", "column", "first"].map(&mut fresh);
        let values = [plan.rows, plan.columns].map(|it| {
            let var = dims.get(it).map(|it| it.var);
            let ty = var.map(|it| cx.program.vars[it].ty.plain());
            let count = if it == plan.rows { rows } else { columns };
            let build = &mut cx.build(span);
            let ty = ty.unwrap_or_else(|| build.int_type());
            let array = build.array_of(ty, u64::from(count));
            build.fresh("values", array)
        });
        Maker {
            cx,
            plan,
            dims,
            span,
            sizes,
            depth,
            beside,
            top,
            left,
            row,
            column,
            first,
            values,
            own: FxHashMap::default(),
            memory: Vec::new(),
            brought: Vec::new(),
            others: FxHashMap::default(),
        }
    }

    fn build(&mut self) -> Builder<'_> {
        self.cx.build(self.span)
    }

    fn place(&mut self, var: VarId, space: Space, out: &mut Block) {
        self.cx.kernel.spaces.push((var, space));
        out.push(at(self.span, StmtKind::Local(var)));
    }

    fn set(&mut self, var: VarId, value: ExprId, out: &mut Block) {
        self.cx.set(var, value, self.span, out);
    }

    fn number(&mut self, value: u32) -> ExprId {
        self.build().number(i64::from(value))
    }

    fn op(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.build().binary(op, a, b)
    }

    fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.op(BinaryOp::Add, a, b)
    }

    fn times(&mut self, a: ExprId, by: u32) -> ExprId {
        if by == 1 {
            return a;
        }
        let by = self.number(by);
        self.op(BinaryOp::Mul, a, by)
    }

    fn var(&mut self, var: VarId) -> ExprId {
        self.build().var(var)
    }

    /// Trips of one of the two dimensions.
    fn trips(&mut self, side: Side) -> VarId {
        let dim = if side == Side::Rows { self.plan.rows } else { self.plan.columns };
        self.dims.get(dim).map_or(self.top, |it| it.trips)
    }

    fn tiles(mut self) -> Result<Block> {
        let mut out = Block::new();
        let span = self.span;
        let [high, wide] = self.sizes.tile();
        let (row, column) = (self.row, self.column);
        for var in [row, column] {
            self.place(var, Space::Private, &mut out);
        }
        let thread = self.cx.kernel.threads.number;
        let [_, lanes] = self.sizes.threads;
        let (me, lanes) = (self.var(thread), self.number(lanes));
        let value = self.op(BinaryOp::Div, me, lanes);
        self.set(row, value, &mut out);
        let value = self.op(BinaryOp::Rem, me, lanes);
        self.set(column, value, &mut out);
        for var in self.values {
            self.place(var, Space::Private, &mut out);
        }
        let count = u64::from(self.sizes.each[0] * self.sizes.each[1]);
        for var in self.plan.nest.own.clone() {
            let ty = self.cx.program.vars[var].ty.plain();
            let mut build = self.build();
            let array = build.array_of(ty, count);
            let name = build.name_of(var);
            let own = build.fresh(&name, array);
            self.place(own, Space::Private, &mut out);
            self.own.insert(var, own);
        }
        for staged in &self.plan.staged {
            let ty = self.cx.program.exprs[staged.value].ty.plain();
            let length = u64::from(self.depth * self.stride(staged));
            let times = u64::from(self.times_brought(staged));
            let mut build = self.cx.build(span);
            let array = build.array_of(ty, length);
            let memory = build.fresh("staged", array);
            let array = build.array_of(ty, times);
            let brought = build.fresh("brought", array);
            self.place(memory, Space::Group, &mut out);
            self.place(brought, Space::Private, &mut out);
            self.memory.push(memory);
            self.brought.push(brought);
        }
        // How many tiles there are.
        let counts = [(Side::Rows, high), (Side::Columns, wide)].map(|(side, by)| {
            let var = self.cx.number("tiles", Space::Uniform, span, &mut out);
            let trips = self.trips(side);
            let (trips, by, less) = (self.var(trips), self.number(by), self.number(by - 1));
            let more = self.add(trips, less);
            let value = self.op(BinaryOp::Div, more, by);
            self.set(var, value, &mut out);
            var
        });
        let all = self.cx.number("tiles", Space::Uniform, span, &mut out);
        let [by_row, by_column] = counts.map(|it| self.var(it));
        let mut value = self.op(BinaryOp::Mul, by_row, by_column);
        for (dim, it) in self.dims.iter().enumerate() {
            if dim != self.plan.rows && dim != self.plan.columns {
                let trips = self.var(it.trips);
                value = self.op(BinaryOp::Mul, value, trips);
            }
        }
        self.set(all, value, &mut out);
        let tile = self.cx.number("tile", Space::Uniform, span, &mut out);
        let groups = self.cx.kernel.groups;
        let group = self.var(groups.number);
        self.set(tile, group, &mut out);
        let body = self.tile(tile, counts, [high, wide])?;
        let (condition, step) = {
            let build = &mut self.build();
            let (one, end, by) = (build.var(tile), build.var(all), build.var(groups.count));
            let condition = build.binary(BinaryOp::Lt, one, end);
            let next = build.binary(BinaryOp::Add, one, by);
            (condition, build.set(tile, next))
        };
        let kind = LoopKind::Before;
        let each = Loop { kind, condition: Some(condition), step: Some(step), body };
        out.push(at(span, StmtKind::Loop(Box::new(each))));
        Ok(out)
    }

    /// One tile.
    fn tile(&mut self, tile: VarId, counts: [VarId; 2], by: [u32; 2]) -> Result<Block> {
        let mut out = Block::new();
        let span = self.span;
        for var in [self.top, self.left] {
            self.place(var, Space::Uniform, &mut out);
        }
        let rest = self.cx.number("rest", Space::Uniform, span, &mut out);
        let value = self.var(tile);
        self.set(rest, value, &mut out);
        let take = |this: &mut Self, to: VarId, count: VarId, by: u32, out: &mut Block| {
            let (all, count) = (this.var(rest), this.var(count));
            let index = this.op(BinaryOp::Rem, all, count);
            let value = this.times(index, by);
            this.set(to, value, out);
            let next = this.op(BinaryOp::Div, all, count);
            this.set(rest, next, out);
        };
        take(self, self.top, counts[0], by[0], &mut out);
        take(self, self.left, counts[1], by[1], &mut out);
        for (dim, it) in self.dims.iter().enumerate().rev() {
            if dim == self.plan.rows || dim == self.plan.columns {
                continue;
            }
            let index = self.cx.number("index", Space::Uniform, span, &mut out);
            take(self, index, it.trips, 1, &mut out);
            let ty = self.cx.program.vars[it.var].ty.plain();
            let other = self.cx.fresh("other", ty, Space::Uniform, span, &mut out);
            let value = {
                let build = &mut self.cx.build(span);
                let index = build.var(index);
                it.value(build, index)
            };
            self.set(other, value, &mut out);
            self.others.insert(it.var, other);
        }
        // The rounds of the inner loop.
        let mut rounds = self.plan.nest.rounds.clone();
        let others = self.others.clone();
        rounds.begin = self.copier(others.clone()).expr(rounds.begin);
        rounds.bound = self.copier(others).expr(rounds.bound);
        let rounds =
            Sharing { cx: self.cx, span, space: Space::Uniform }.counted(&rounds, &mut out)?;
        if let Some(guard) = self.plan.guard {
            // A tile without iterations has no rounds.
            let is_some = self.has_some(guard);
            let build = &mut self.build();
            let (all, none) = (build.var(rounds.trips), build.number(0));
            let value = build.either(is_some, all, none);
            self.set(rounds.trips, value, &mut out);
        }
        out.push(self.own_values());
        let before = self.plan.nest.before.clone();
        out.push(self.each(&before, None));
        // So many at a time.
        self.place(self.first, Space::Uniform, &mut out);
        let zero = self.number(0);
        self.set(self.first, zero, &mut out);
        let bring = vec![self.bring(&rounds)];
        let is_some = {
            let build = &mut self.build();
            let (trips, zero) = (build.var(rounds.trips), build.number(0));
            build.binary(BinaryOp::Gt, trips, zero)
        };
        out.push(at(span, StmtKind::If(is_some, bring, Block::new())));
        let mut body = vec![at(span, StmtKind::Barrier), self.store()];
        body.push(at(span, StmtKind::Barrier));
        // The next ones come while these are computed with.
        let step = {
            let (first, depth) = (self.first, i64::from(self.depth));
            let build = &mut self.build();
            let (one, by) = (build.var(first), build.number(depth));
            build.binary(BinaryOp::Add, one, by)
        };
        let next = self.cx.number("next", Space::Uniform, span, &mut body);
        self.set(next, step, &mut body);
        let here = std::mem::replace(&mut self.first, next);
        body.push(self.bring(&rounds));
        self.first = here;
        body.push(self.compute(&rounds));
        let (condition, step) = {
            let (first, depth) = (self.first, i64::from(self.depth));
            let build = &mut self.build();
            let (one, end, by) = (build.var(first), build.var(rounds.trips), build.number(depth));
            let condition = build.binary(BinaryOp::Lt, one, end);
            let next = build.binary(BinaryOp::Add, one, by);
            (condition, build.set(first, next))
        };
        let kind = LoopKind::Before;
        let each = Loop { kind, condition: Some(condition), step: Some(step), body };
        out.push(at(span, StmtKind::Loop(Box::new(each))));
        let after = self.plan.nest.after.clone();
        out.push(self.each_within(&after));
        Ok(out)
    }

    /// Whether the tile has iterations: a condition that is linear in rows and columns holds somewhere if it holds in a
    /// corner.
    fn has_some(&mut self, guard: Guard) -> ExprId {
        let by = self.sizes.tile();
        let sides = [(Side::Rows, self.plan.rows), (Side::Columns, self.plan.columns)];
        let mut corners = vec![FxHashMap::default()];
        for ((side, dim), by) in sides.into_iter().zip(by) {
            let Some(dim) = self.dims.get(dim) else { continue };
            let last = self.number(by - 1);
            let begin = self.begin_of(side);
            let end = self.add(begin, last);
            let end = self.clamped(end, dim.trips);
            let ends = [begin, end].map(|it| dim.value(&mut self.build(), it));
            let with = |corner: &FxHashMap<VarId, ExprId>| {
                ends.map(|it| {
                    let mut corner = corner.clone();
                    corner.insert(dim.var, it);
                    corner
                })
            };
            corners = corners.iter().flat_map(with).collect();
        }
        self.holds_in_any(guard.condition, corners)
    }

    /// Whether a condition holds for one of several values of variables.
    fn holds_in_any(&mut self, condition: ExprId, all: Vec<FxHashMap<VarId, ExprId>>) -> ExprId {
        let mut found = None;
        for exprs in all {
            let vars = self.others.clone();
            let mut copier = Copier { vars, exprs, ..Copier::new(self.cx.program) };
            let holds = copier.expr(condition);
            let build = &mut self.build();
            found = Some(match found {
                None => holds,
                Some(before) => {
                    let int = build.int_type();
                    build.expr(ExprKind::Or(before, holds), int)
                }
            });
        }
        found.unwrap_or(condition)
    }

    fn copier(&mut self, vars: FxHashMap<VarId, VarId>) -> Copier<'_> {
        Copier { vars, ..Copier::new(self.cx.program) }
    }

    /// Elements of a row of what is staged, with room between rows so that threads that store a column meet less.
    fn stride(&self, staged: &Staged) -> u32 {
        let [high, wide] = self.sizes.tile();
        let size = size_of(self.cx.program, self.cx.program.exprs[staged.value].ty).max(1);
        let apart = u32::try_from(WIDE / size).unwrap_or(1).max(1);
        match staged.side {
            Side::Rows => high + apart,
            Side::Columns => wide + apart,
            Side::Neither => 1,
        }
    }

    /// `for (var = 0; var < count; var++) body`, all rounds one after the other.
    fn unrolled(&mut self, var: VarId, count: u32, body: Vec<StmtId>) -> StmtId {
        let end = self.number(count);
        self.counting(var, end, Some(count), body)
    }

    fn counting(
        &mut self,
        var: VarId,
        end: ExprId,
        unroll: Option<u32>,
        body: Vec<StmtId>,
    ) -> StmtId {
        let build = &mut self.build();
        let zero = build.number(0);
        let init = build.init(zero);
        build.program.vars[var].init = Some(init);
        let declared = build.stmt(C::Local(var));
        let one = build.var(var);
        let cond = build.binary(BinaryOp::Lt, one, end);
        let step = build.increment(var);
        let body = build.stmt(C::Block(body.into()));
        build.stmt(C::For(Box::new(For {
            init: Box::new([declared]),
            cond: Some(cond),
            step: Some(step),
            body,
            unroll,
            lanes: false,
        })))
    }

    fn code(&mut self, list: Vec<StmtId>) -> Stmt {
        let code = self.build().stmt(C::Block(list.into()));
        at(self.span, StmtKind::Code(code))
    }

    fn element(&mut self, array: VarId, index: ExprId) -> ExprId {
        let build = &mut self.build();
        let ty = build.program.vars[array].ty;
        let element = build.program.types.element(ty).unwrap_or(ty);
        let array = build.var(array);
        build.expr(ExprKind::Index(array, index), element)
    }

    fn assign(&mut self, to: ExprId, value: ExprId) -> StmtId {
        let build = &mut self.build();
        let e = build.assign(to, value);
        build.stmt(C::Expr(e))
    }

    /// The smaller of an index and the last one there is.
    fn clamped(&mut self, index: ExprId, trips: VarId) -> ExprId {
        let build = &mut self.build();
        let (count, one) = (build.var(trips), build.number(1));
        let last = build.binary(BinaryOp::Sub, count, one);
        build.min(index, last)
    }

    /// The iteration of a dimension that a thread has as its `which`th of a tile, counted from the tile's begin.
    fn offset(&mut self, side: Side, which: ExprId) -> ExprId {
        match side {
            Side::Rows => {
                let (row, [rows, _]) = (self.var(self.row), self.sizes.each);
                let far = self.times(row, rows);
                self.add(far, which)
            }
            Side::Columns | Side::Neither => {
                let [_, lanes] = self.sizes.threads;
                let beside = self.beside;
                let column = self.var(self.column);
                let far = self.times(column, beside);
                let by = self.number(beside);
                let bundle = self.op(BinaryOp::Div, which, by);
                let bundle = self.times(bundle, beside * lanes);
                let rest = self.op(BinaryOp::Rem, which, by);
                let far = self.add(bundle, far);
                self.add(far, rest)
            }
        }
    }

    fn begin_of(&mut self, side: Side) -> ExprId {
        let var = if side == Side::Rows { self.top } else { self.left };
        self.var(var)
    }

    /// The thread's values of the two dimensions; beyond the end the last one there is.
    fn own_values(&mut self) -> Stmt {
        let mut list = Vec::new();
        let [rows, columns] = self.values;
        let counts = self.sizes.each;
        let sides =
            [(Side::Rows, self.plan.rows, rows), (Side::Columns, self.plan.columns, columns)];
        for ((side, dim, values), count) in sides.into_iter().zip(counts) {
            let Some(dim) = self.dims.get(dim) else { continue };
            let which = self.build().fresh_number("which");
            let index = self.var(which);
            let far = self.offset(side, index);
            let begin = self.begin_of(side);
            let index = self.add(begin, far);
            let index = self.clamped(index, dim.trips);
            let value = dim.value(&mut self.build(), index);
            let which_one = self.var(which);
            let to = self.element(values, which_one);
            let body = vec![self.assign(to, value)];
            list.push(self.unrolled(which, count, body));
        }
        self.code(list)
    }

    /// What stands for variables in one of a thread's iterations.
    fn here(&mut self, row: VarId, column: VarId) -> FxHashMap<VarId, ExprId> {
        let mut exprs = FxHashMap::default();
        let [rows, columns] = self.values;
        for (dim, values, which) in
            [(self.plan.rows, rows, row), (self.plan.columns, columns, column)]
        {
            let Some(var) = self.dims.get(dim).map(|it| it.var) else { continue };
            let which = self.var(which);
            let value = self.element(values, which);
            exprs.insert(var, value);
        }
        let own: Vec<(VarId, VarId)> = self.own.iter().map(|it| (*it.0, *it.1)).collect();
        for (var, array) in own {
            let (row, column) = (self.var(row), self.var(column));
            let [_, columns] = self.sizes.each;
            let far = self.times(row, columns);
            let index = self.add(far, column);
            let value = self.element(array, index);
            exprs.insert(var, value);
        }
        exprs
    }

    /// Statements of one of a thread's iterations. `places`: what stands for loads.
    fn copied(
        &mut self,
        list: &[StmtId],
        [row, column]: [VarId; 2],
        counter: Option<(VarId, VarId)>,
        places: FxHashMap<ExprId, ExprId>,
    ) -> Vec<StmtId> {
        let exprs = self.here(row, column);
        let mut vars = self.others.clone();
        vars.extend(counter);
        let mut copier = Copier { vars, exprs, places, ..Copier::new(self.cx.program) };
        let mut made = Vec::new();
        for stmt in list {
            let kind = copier.program.stmts[*stmt].kind.clone();
            let C::Local(var) = kind else {
                made.push(copier.stmt(*stmt));
                continue;
            };
            let Some(place) = copier.exprs.get(&var).copied() else {
                made.push(copier.stmt(*stmt));
                continue;
            };
            // It is an element of an array now.
            let init = copier.program.vars[var].init.map(|it| copier.program.inits[it].clone());
            if let Some(Init::Expr(value)) = init {
                let value = copier.expr(value);
                let span = self.span;
                let function = self.cx.function;
                let build = &mut Builder { program: copier.program, function, span };
                let e = build.assign(place, value);
                made.push(build.stmt(C::Expr(e)));
            }
        }
        made
    }

    /// Statements for each of a thread's iterations.
    fn each(&mut self, list: &[StmtId], counter: Option<(VarId, VarId)>) -> Stmt {
        let [row, column] = ["row", "column"].map(|it| self.build().fresh_number(it));
        let body = self.copied(list, [row, column], counter, FxHashMap::default());
        let list = self.nested([row, column], body);
        self.code(vec![list])
    }

    fn nested(&mut self, [row, column]: [VarId; 2], body: Vec<StmtId>) -> StmtId {
        let [rows, columns] = self.sizes.each;
        let inner = self.unrolled(column, columns, body);
        self.unrolled(row, rows, vec![inner])
    }

    /// The same for those iterations that there are.
    fn each_within(&mut self, list: &[StmtId]) -> Stmt {
        let [row, column] = ["row", "column"].map(|it| self.build().fresh_number(it));
        let body = self.copied(list, [row, column], None, FxHashMap::default());
        let mut is_there = Vec::new();
        for (side, which) in [(Side::Rows, row), (Side::Columns, column)] {
            let which = self.var(which);
            let far = self.offset(side, which);
            let begin = self.begin_of(side);
            let index = self.add(begin, far);
            let trips = self.trips(side);
            let trips = self.var(trips);
            is_there.push(self.op(BinaryOp::Lt, index, trips));
        }
        if let Some(guard) = self.plan.guard {
            let (vars, exprs) = (self.others.clone(), self.here(row, column));
            let mut copier = Copier { vars, exprs, ..Copier::new(self.cx.program) };
            is_there.push(copier.expr(guard.condition));
        }
        let build = &mut self.build();
        let body = build.stmt(C::Block(body.into()));
        let condition = is_there.into_iter().reduce(|a, b| build.and(a, b));
        let body = match condition {
            Some(condition) => build.stmt(C::If(condition, body, None)),
            None => body,
        };
        let list = self.nested([row, column], vec![body]);
        self.code(vec![list])
    }

    /// How many elements of an operand each thread brings at a time.
    fn times_brought(&self, staged: &Staged) -> u32 {
        let [rows, columns] = self.sizes.threads;
        (self.length(staged) * self.depth).div_ceil(rows * columns)
    }

    /// How many places of a tile an operand has elements for.
    fn length(&self, staged: &Staged) -> u32 {
        let [high, wide] = self.sizes.tile();
        match staged.side {
            Side::Rows => high,
            Side::Columns => wide,
            Side::Neither => 1,
        }
    }

    /// What a thread brings of an operand: code for each time, which gets the number of the element, its place in the tile
    /// and its round. Neighbours among threads bring neighbours in memory.
    fn each_brought(
        &mut self,
        staged: &Staged,
        body: impl FnOnce(&mut Self, VarId, [ExprId; 3], &mut Vec<StmtId>),
    ) -> StmtId {
        let [rows, columns] = self.sizes.threads;
        let [time, one] = ["time", "one"].map(|it| self.build().fresh_number(it));
        let thread = self.cx.kernel.threads.number;
        let (me, which) = (self.var(thread), self.var(time));
        let far = self.times(which, rows * columns);
        let index = self.add(me, far);
        let init = self.build().init(index);
        self.cx.program.vars[one].init = Some(init);
        let mut list = vec![self.build().stmt(C::Local(one))];
        let by = if staged.is_along_rounds { self.depth } else { self.length(staged) };
        let (index, by) = (self.var(one), self.number(by));
        let slow = self.op(BinaryOp::Div, index, by);
        let quick = self.op(BinaryOp::Rem, index, by);
        let (place, round) = if staged.is_along_rounds { (slow, quick) } else { (quick, slow) };
        body(self, time, [index, place, round], &mut list);
        let times = self.times_brought(staged);
        self.unrolled(time, times, list)
    }

    /// Brings operands; beyond the last round or place the last ones, which nobody uses.
    fn bring(&mut self, rounds: &Counted) -> Stmt {
        let mut list = Vec::new();
        let staged: Vec<(Staged, VarId)> =
            self.plan.staged.iter().cloned().zip(self.brought.clone()).collect();
        for (it, brought) in staged {
            list.push(self.each_brought(&it, |this, time, [_, place, round], body| {
                let first = this.var(this.first);
                let at_round = this.add(first, round);
                let at_round = this.clamped(at_round, rounds.trips);
                let mut vars = this.others.clone();
                let counter = this.local(rounds, at_round, body);
                vars.insert(this.plan.nest.rounds.var, counter);
                let dim = match it.side {
                    Side::Rows => Some(this.plan.rows),
                    Side::Columns => Some(this.plan.columns),
                    Side::Neither => None,
                };
                if let Some(dim) = dim.and_then(|it| this.dims.get(it)) {
                    let begin = this.begin_of(it.side);
                    let index = this.add(begin, place);
                    let index = this.clamped(index, dim.trips);
                    let value = this.local(dim, index, body);
                    vars.insert(dim.var, value);
                }
                let value = this.copier(vars.clone()).expr(it.value);
                let time = this.var(time);
                let to = this.element(brought, time);
                let mut bring = this.assign(to, value);
                if let Some(guard) = this.plan.guard
                    && let Some(outer) = vars.get(&guard.outer).copied()
                    && dim.and_then(|it| this.dims.get(it)).is_some_and(|it| it.var == guard.outer)
                {
                    // What no iteration looks at may not be there.
                    let is_some = this.has_any(guard, outer);
                    let zero = this.number(0);
                    let nothing = this.assign(to, zero);
                    bring = this.build().stmt(C::If(is_some, bring, Some(nothing)));
                }
                body.push(bring);
            }));
        }
        self.code(list)
    }

    /// Whether there are iterations with a value of the outer dimension.
    fn has_any(&mut self, guard: Guard, outer: VarId) -> ExprId {
        let mut ends = Vec::new();
        if let Some(it) = self.dims.iter().find(|it| it.var == guard.inner) {
            let build = &mut self.cx.build(self.span);
            let (trips, zero, one) = (build.var(it.trips), build.number(0), build.number(1));
            let last = build.binary(BinaryOp::Sub, trips, one);
            for index in [zero, last] {
                let (value, outer) = (it.value(build, index), build.var(outer));
                ends.push(FxHashMap::from_iter([(guard.inner, value), (guard.outer, outer)]));
            }
        }
        self.holds_in_any(guard.condition, ends)
    }

    /// Stores what was brought in the memory of the group.
    fn store(&mut self) -> Stmt {
        let mut list = Vec::new();
        let [rows, columns] = self.sizes.threads;
        let pairs = self.memory.clone().into_iter().zip(self.brought.clone());
        let staged: Vec<(Staged, (VarId, VarId))> =
            self.plan.staged.iter().cloned().zip(pairs).collect();
        for (it, (memory, brought)) in staged {
            let all = self.length(&it) * self.depth;
            list.push(self.each_brought(&it, |this, time, [index, place, round], body| {
                let stride = this.stride(&it);
                let row = this.times(round, stride);
                let spot = if it.side == Side::Neither { row } else { this.add(row, place) };
                let to = this.element(memory, spot);
                let time = this.var(time);
                let value = this.element(brought, time);
                let mut store = this.assign(to, value);
                if !all.is_multiple_of(rows * columns) {
                    let count = this.number(all);
                    let is_there = this.op(BinaryOp::Lt, index, count);
                    store = this.build().stmt(C::If(is_there, store, None));
                }
                body.push(store);
            }));
        }
        self.code(list)
    }

    /// A variable with the value of a dimension at an index.
    fn local(&mut self, dim: &Counted, index: ExprId, out: &mut Vec<StmtId>) -> VarId {
        let ty: Ty = self.cx.program.vars[dim.var].ty.plain();
        let build = &mut self.build();
        let value = dim.value(build, index);
        let name = build.name_of(dim.var);
        let var = build.fresh(&name, ty);
        let init = build.init(value);
        build.program.vars[var].init = Some(init);
        let stmt = build.stmt(C::Local(var));
        out.push(stmt);
        var
    }

    /// Rounds for which operands are there.
    fn compute(&mut self, rounds: &Counted) -> Stmt {
        let depth = self.depth;
        let left = {
            let first = self.first;
            let build = &mut self.build();
            let (all, one) = (build.var(rounds.trips), build.var(first));
            build.binary(BinaryOp::Sub, all, one)
        };
        let end = self.number(depth);
        let is_whole = self.op(BinaryOp::Ge, left, end);
        let whole = self.rounds(rounds, None);
        let part = self.rounds(rounds, Some(left));
        let code = self.build().stmt(C::If(is_whole, whole, Some(part)));
        self.code(vec![code])
    }

    fn rounds(&mut self, rounds: &Counted, left: Option<ExprId>) -> StmtId {
        let [round, row, column] =
            ["round", "row", "column"].map(|it| self.build().fresh_number(it));
        let mut before = Vec::new();
        let (first, one) = (self.var(self.first), self.var(round));
        let at_round = self.add(first, one);
        let counter = self.local(rounds, at_round, &mut before);
        let mut places = FxHashMap::default();
        let staged: Vec<(Staged, VarId)> =
            self.plan.staged.iter().cloned().zip(self.memory.clone()).collect();
        for (it, memory) in staged {
            let one = self.var(round);
            let stride = self.stride(&it);
            let far = self.times(one, stride);
            let spot = match it.side {
                Side::Neither => far,
                Side::Rows => {
                    let which = self.var(row);
                    let offset = self.offset(it.side, which);
                    self.add(far, offset)
                }
                Side::Columns => {
                    let which = self.var(column);
                    let offset = self.offset(it.side, which);
                    self.add(far, offset)
                }
            };
            let element = self.element(memory, spot);
            places.extend(it.places.iter().map(|it| (*it, element)));
        }
        let list = self.plan.nest.body.clone();
        let counters = Some((self.plan.nest.rounds.var, counter));
        let body = self.copied(&list, [row, column], counters, places);
        before.push(self.nested([row, column], body));
        match left {
            Some(left) => self.counting(round, left, None, before),
            None => {
                let depth = self.depth;
                self.unrolled(round, depth, before)
            }
        }
    }
}
