//! Blocks of iterations that run in step, as code: lanes along one dimension, rows along another.
//!
//! In: a [`Plan`]. Out: the shared loop over blocks, and what a block does.

mod cut;
mod packed;

use ir::program::{BinaryOp, ExprId, For, Init, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Dim, Schedule, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::numbering::{Counted, Sharing};
use super::strip::{Item, Strip};
use super::{Cx, Result};

/// Rows for which packed elements are used.
pub(super) const PACKED_ROWS: u64 = 64;
/// Rounds of the inner loop for which elements are packed.
pub(super) const PACKED_ROUNDS: u64 = 256;

/// How a shared loop is cut into blocks.
pub(super) struct Plan {
    pub(super) strip: Strip,
    /// Which dimension lanes follow, and which rows.
    pub(super) lane: usize,
    pub(super) row: Option<usize>,
    /// How many of them run in step.
    pub(super) lanes: u64,
    pub(super) rows: u64,
    pub(super) how: How,
    /// Dimensions with bounds that follow others; iterations are those of a box around the nest.
    pub(super) cut: Vec<Dim>,
}

/// The code of an iteration of a shared loop that nothing has been made of yet, and whose order nobody asks for.
pub(super) fn whole_code(cx: &Cx<'_>, share: &Share) -> Option<StmtId> {
    let [Stmt { kind: StmtKind::Code(code), .. }] = share.body.as_slice() else { return None };
    let is_whole = share.last.is_empty() && share.pieces.is_none() && share.within.is_none();
    let is_new = !cx.has_shape();
    (is_whole && !share.ordered && is_new).then_some(*code)
}

/// Whether no loop's bounds follow another one.
pub(super) fn is_even(share: &Share) -> bool {
    share.dims.iter().all(|it| it.rectangular)
}

/// What blocks do.
pub(super) enum How {
    /// They go round inner loops together. `has_reuse`: rows share elements that lanes have side by side.
    Rounds { has_reuse: bool },
    /// The same, with these elements packed first for many rows.
    Packed(Vec<ExprId>),
    /// One loop along the lanes.
    Straight,
    /// The same for each row, with these elements brought first in the order of memory, along the rows.
    Brought(Vec<ExprId>),
}

impl Plan {
    /// What the shared loop becomes; the kernel's notes say it.
    pub(super) fn made(self, cx: &mut Cx<'_>, share: &Share, span: Span) -> Result<Block> {
        let note = self.note(cx.program, share);
        let made = Maker::blocks(cx, share, self, span)?;
        cx.kernel.launch.notes.push(note);
        Ok(made)
    }

    fn note(&self, program: &Program, share: &Share) -> String {
        let name = |at: usize| {
            let var = share.dims.get(at).and_then(|it| program.vars[it.var].name);
            let name = var.map_or("", |it| program.names.text(it));
            name.rsplit('_').next().unwrap_or_default().to_owned()
        };
        let lane = name(self.lane);
        let rows = match self.row {
            Some(at) if self.rows > 1 => format!("{} of `{}` by ", self.rows, name(at)),
            Some(_) | None => String::new(),
        };
        let operands = |list: &[ExprId]| match list.len() {
            1 => "one operand".to_owned(),
            many => format!("{many} operands"),
        };
        let lanes = self.lanes;
        match &self.how {
            How::Rounds { .. } => {
                format!("blocks of {rows}{lanes} iterations of `{lane}` in registers")
            }
            How::Packed(list) => format!(
                "blocks of {rows}{lanes} iterations of `{lane}` in registers, {} packed",
                operands(list)
            ),
            How::Straight => format!("iterations of `{lane}` side by side"),
            How::Brought(list) => format!(
                "blocks of {rows}{lanes} iterations of `{lane}`, {} brought in the order of memory",
                operands(list)
            ),
        }
    }
}

/// Rows of a block.
#[derive(Clone, Copy)]
struct Lines {
    /// Their dimension.
    at: usize,
    /// The number of the first.
    top: VarId,
    /// How many there are.
    rows: VarId,
}

/// Iterations of a block that stand one below the other, and where their variables are.
struct Rows<'a> {
    /// The value of the dimension in each, and its place in arrays.
    each: Vec<(Option<VarId>, ExprId)>,
    arrays: &'a FxHashMap<VarId, VarId>,
}

/// Makes the blocks.
struct Maker<'a, 'p> {
    cx: &'a mut Cx<'p>,
    plan: Plan,
    dims: Vec<Counted>,
    span: Span,
    /// The value of the lanes' dimension in the first lane.
    first: VarId,
    /// Counters of inner loops, as they are now.
    counters: FxHashMap<VarId, VarId>,
    /// Where packed elements are now.
    buffers: Vec<(ExprId, VarId)>,
    /// The round that packed elements begin with.
    from: Option<VarId>,
}

impl Maker<'_, '_> {
    fn blocks(cx: &mut Cx<'_>, share: &Share, plan: Plan, span: Span) -> Result<Block> {
        let mut out = Block::new();
        let mut dims = Vec::new();
        for dim in &share.dims {
            dims.push(Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?);
        }
        let lane = dims.get(plan.lane).map(|it| it.var);
        let int = cx.build(span).int_type();
        let ty = lane.map_or(int, |it| cx.program.vars[it].ty.plain());
        let first = cx.build(span).fresh("first", ty);
        let (counters, buffers) = (FxHashMap::default(), Vec::new());
        let mut maker = Maker { cx, plan, dims, span, first, counters, buffers, from: None };
        maker.share(share, &mut out);
        Ok(vec![Stmt::new(StmtKind::Block(out), span)])
    }

    fn build(&mut self) -> Builder<'_> {
        self.cx.build(self.span)
    }

    fn var(&mut self, var: VarId) -> ExprId {
        self.build().var(var)
    }

    fn number(&mut self, value: u64) -> ExprId {
        self.build().number(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// So many iterations of a dimension are in a block.
    fn length(&self, at: usize) -> u64 {
        match self.plan.row {
            _ if at == self.plan.lane => self.plan.lanes,
            Some(row) if at == row => match self.plan.how {
                How::Packed(_) => PACKED_ROWS,
                How::Rounds { .. } | How::Straight | How::Brought(_) => self.plan.rows,
            },
            Some(_) | None => 1,
        }
    }

    /// The loop over blocks.
    fn share(&mut self, share: &Share, out: &mut Block) {
        let span = self.span;
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        // Blocks that follow each other share what lies side by side, or what was packed for none of them.
        let is_moved = |it: &usize| Some(*it) == self.plan.row || *it == self.plan.lane;
        order.retain(|it| !is_moved(it));
        let row = self.plan.row.into_iter();
        match self.plan.how {
            How::Rounds { has_reuse: true } => {
                order.extend([self.plan.lane].into_iter().chain(row));
            }
            How::Rounds { .. } | How::Packed(_) | How::Straight | How::Brought(_) => {
                order.extend(row.chain([self.plan.lane]));
            }
        }
        let mut dims = Vec::new();
        let mut numbers: FxHashMap<usize, VarId> = FxHashMap::default();
        for at in order {
            let Some(trips) = self.dims.get(at).map(|it| it.trips) else { continue };
            let length = self.length(at);
            let blocks = self.cx.number("blocks", Space::Uniform, span, out);
            let all = self.var(trips);
            let (less, length) = (self.number(length - 1), self.number(length));
            let build = &mut self.build();
            let up = build.binary(BinaryOp::Add, all, less);
            let value = build.binary(BinaryOp::Div, up, length);
            self.cx.set(blocks, value, span, out);
            let block = self.cx.number("block", Space::Private, span, out);
            numbers.insert(at, block);
            let (begin, bound) = (self.number(0), self.var(blocks));
            dims.push(Dim {
                var: block,
                begin,
                bound,
                test: LoopTest::Lt,
                step: None,
                descending: false,
                rectangular: true,
            });
        }
        let body = self.block(&numbers);
        let code = self.build().stmt(C::Block(body.into()));
        let body = vec![Stmt::new(StmtKind::Code(code), span)];
        let number = self.cx.number("iteration", Space::Private, span, out);
        // Some blocks of a nest with cut corners have nothing to do.
        let schedule = match self.plan.cut.is_empty() {
            true => Schedule::Blocks,
            false => Schedule::RoundRobin(self.number(1)),
        };
        out.push(Stmt::new(
            StmtKind::Share(Box::new(Share {
                crew: share.crew,
                dims,
                within: None,
                schedule,
                ordered: false,
                pieces: None,
                number,
                body,
                last: Block::new(),
            })),
            span,
        ));
    }

    /// `ty like = value;`
    fn declare(&mut self, var: VarId, value: ExprId, out: &mut Vec<StmtId>) {
        let build = &mut self.build();
        let ty = build.program.vars[var].ty;
        let value = build.cast(value, ty);
        let init = build.init(value);
        build.program.vars[var].init = Some(init);
        out.push(build.stmt(C::Local(var)));
    }

    /// Arrays for the variables that iterations have for themselves.
    fn arrays(
        &mut self,
        rows: u64,
        which: &[VarId],
        out: &mut Vec<StmtId>,
    ) -> FxHashMap<VarId, VarId> {
        let lanes = self.plan.lanes;
        let mut made = FxHashMap::default();
        for var in which {
            let build = &mut self.build();
            let (name, ty) = (build.name_of(*var), build.program.vars[*var].ty.plain());
            let name = name.rsplit('_').next().unwrap_or_default().to_owned();
            let ty = build.array_of(ty, lanes);
            let ty = build.array_of(ty, rows);
            let array = build.fresh(&name, ty);
            build.program.vars[array].align = Some(64);
            out.push(build.stmt(C::Local(array)));
            made.insert(*var, array);
        }
        made
    }

    /// `array[row][lane]`
    fn element(&mut self, array: VarId, row: ExprId, lane: ExprId) -> ExprId {
        let build = &mut self.build();
        let base = build.var(array);
        let base = build.element(base, row).unwrap_or(base);
        build.element(base, lane).unwrap_or(base)
    }

    /// What a block does; which block it is its numbers say.
    fn block(&mut self, numbers: &FxHashMap<usize, VarId>) -> Vec<StmtId> {
        let mut out = Vec::new();
        let (lane, row) = (self.plan.lane, self.plan.row);
        let mut begins: FxHashMap<usize, VarId> = FxHashMap::default();
        for at in 0..self.dims.len() {
            let Some(block) = numbers.get(&at).copied() else { continue };
            let length = self.length(at);
            let begin = self.build().fresh_number("from");
            let (block, length) = (self.var(block), self.number(length));
            let value = self.build().binary(BinaryOp::Mul, block, length);
            self.declare(begin, value, &mut out);
            begins.insert(at, begin);
            if at == lane || Some(at) == row {
                continue;
            }
            let value = self.value(at, begin);
            let Some(var) = self.dims.get(at).map(|it| it.var) else { continue };
            let own = self.like(var);
            self.declare(own, value, &mut out);
            self.counters.insert(var, own);
        }
        let Some(from) = begins.get(&lane).copied() else { return out };
        let value = self.value(lane, from);
        let first = self.first;
        self.declare(first, value, &mut out);
        let count = self.left(lane, from, &mut out);
        let top = row.and_then(|it| Some((it, begins.get(&it).copied()?)));
        let lines = top.map(|(at, top)| Lines { at, top, rows: self.left(at, top, &mut out) });
        match self.plan.cut.is_empty() {
            true => self.whole(lines, count, &mut out),
            false => self.cut(lines, count, &mut out),
        }
        out
    }

    /// What a block of these rows and so many lanes does.
    fn whole(&mut self, lines: Option<Lines>, count: VarId, out: &mut Vec<StmtId>) {
        match self.plan.how {
            How::Rounds { .. } => self.direct(lines, count, out),
            How::Packed(_) => self.packed(lines, count, out),
            How::Straight => self.straight(count, out),
            How::Brought(_) => self.brought(lines, count, out),
        }
    }

    /// A variable like a dimension's.
    fn like(&mut self, var: VarId) -> VarId {
        let build = &mut self.build();
        let (name, ty) = (build.name_of(var), build.program.vars[var].ty.plain());
        let name = name.rsplit('_').next().unwrap_or_default().to_owned();
        build.fresh(&name, ty)
    }

    /// The value of a dimension in the iteration with a number.
    fn value(&mut self, at: usize, number: VarId) -> ExprId {
        let number = self.var(number);
        self.value_at(at, number)
    }

    fn value_at(&mut self, at: usize, number: ExprId) -> ExprId {
        let span = self.span;
        match self.dims.get(at) {
            Some(it) => it.value(&mut self.cx.build(span), number),
            None => number,
        }
    }

    /// How many iterations of a dimension are in the block that begins there, in the type of the lanes' dimension.
    fn left(&mut self, at: usize, from: VarId, out: &mut Vec<StmtId>) -> VarId {
        let length = self.length(at);
        let trips = self.dims.get(at).map_or(from, |it| it.trips);
        let (all, from, most) = (self.var(trips), self.var(from), self.number(length));
        let build = &mut self.build();
        let left = build.binary(BinaryOp::Sub, all, from);
        let rest = build.fresh_number("left");
        self.declare(rest, left, out);
        let rest = self.var(rest);
        let build = &mut self.build();
        let value = build.min(rest, most);
        let count = build.fresh_number("count");
        self.declare(count, value, out);
        count
    }

    /// The pieces of the iterations of some rows.
    fn items(&mut self, items: &[Item], rows: &Rows<'_>, count: Option<VarId>) -> Vec<StmtId> {
        let mut made = Vec::new();
        for item in items {
            match item {
                Item::Run(list) => made.push(self.lanes(list, rows, count)),
                Item::Loop(it) => {
                    let head = it.dim.clone();
                    let at = self.like(head.var);
                    let before = self.counters.insert(head.var, at);
                    let (begin, bound) = (self.here(head.begin), self.here(head.bound));
                    let body = self.items(&it.body, rows, count);
                    made.push(self.rounds(at, begin, (head.test, bound), body));
                    match before {
                        Some(before) => self.counters.insert(head.var, before),
                        None => self.counters.remove(&head.var),
                    };
                }
            }
        }
        made
    }

    /// An expression with the counters that stand for others.
    fn here(&mut self, e: ExprId) -> ExprId {
        let vars = self.counters.clone();
        Copier { vars, ..Copier::new(self.cx.program) }.expr(e)
    }

    /// `for (var = begin; var < bound; var++) body`
    fn rounds(
        &mut self,
        var: VarId,
        begin: ExprId,
        (test, bound): (LoopTest, ExprId),
        body: Vec<StmtId>,
    ) -> StmtId {
        self.counting(var, begin, (test, bound), body, false)
    }

    fn counting(
        &mut self,
        var: VarId,
        begin: ExprId,
        (test, bound): (LoopTest, ExprId),
        body: Vec<StmtId>,
        lanes: bool,
    ) -> StmtId {
        let mut init = Vec::new();
        self.declare(var, begin, &mut init);
        let build = &mut self.build();
        let at = build.var(var);
        let op = if test == LoopTest::Le { BinaryOp::Le } else { BinaryOp::Lt };
        let cond = build.binary(op, at, bound);
        let step = build.increment(var);
        let body = build.stmt(C::Block(body.into()));
        build.stmt(C::For(Box::new(For {
            init: init.into(),
            cond: Some(cond),
            step: Some(step),
            body,
            unroll: None,
            lanes,
        })))
    }

    /// A loop over lanes: all of them, or so many. It counts in the type of their dimension: compilers see that what follows
    /// it lies side by side.
    fn along(&mut self, lane: VarId, count: Option<VarId>, body: Vec<StmtId>) -> StmtId {
        let ty = self.cx.program.vars[lane].ty;
        let lanes = i64::try_from(self.plan.lanes).unwrap_or(1);
        let bound = match count {
            Some(count) => {
                let count = self.var(count);
                self.build().cast(count, ty)
            }
            None => self.build().int(lanes, ty),
        };
        let zero = self.build().int(0, ty);
        self.counting(lane, zero, (LoopTest::Lt, bound), body, true)
    }

    /// Statements of all lanes and of some rows.
    fn lanes(&mut self, list: &[StmtId], rows: &Rows<'_>, count: Option<VarId>) -> StmtId {
        let ty = self.cx.program.vars[self.first].ty;
        let lane = self.build().fresh("lane", ty);
        let at = self.var(lane);
        let mut body = Vec::new();
        for (row, place) in &rows.each {
            let copy = self.copy(list, (*row, *place), at, rows.arrays);
            body.push(self.build().stmt(C::Block(copy.into())));
        }
        self.along(lane, count, body)
    }

    /// Statements of one iteration.
    fn copy(
        &mut self,
        list: &[StmtId],
        (row, place): (Option<VarId>, ExprId),
        lane: ExprId,
        arrays: &FxHashMap<VarId, VarId>,
    ) -> Vec<StmtId> {
        let mut exprs = FxHashMap::default();
        for var in self.plan.strip.own.clone() {
            if let Some(array) = arrays.get(&var) {
                exprs.insert(var, self.element(*array, place, lane));
            }
        }
        let first = self.var(self.first);
        let value = self.build().binary(BinaryOp::Add, first, lane);
        exprs.extend(self.dims.get(self.plan.lane).map(|it| (it.var, value)));
        let mut vars = self.counters.clone();
        if let (Some(row), Some(at)) = (row, self.plan.row) {
            vars.extend(self.dims.get(at).map(|it| (it.var, row)));
        }
        let mut places = FxHashMap::default();
        for (load, buffer) in self.buffers.clone() {
            let index = match self.plan.how {
                How::Brought(_) => place,
                How::Rounds { .. } | How::Packed(_) | How::Straight => self.packed_index(),
            };
            places.insert(load, self.element(buffer, index, lane));
        }
        let (span, function) = (self.span, self.cx.function);
        let mut made = Vec::new();
        for var in self.plan.strip.scratch.clone() {
            let named = |it: &StmtId| {
                let part = ir::walk::Part::Stmt(*it);
                super::nest::mentions_in(self.cx.program, part, |it| it == var)
            };
            if list.iter().any(named) {
                let own = self.like(var);
                made.push(self.build().stmt(C::Local(own)));
                vars.insert(var, own);
            }
        }
        let mut copier = Copier { vars, exprs, places, ..Copier::new(self.cx.program) };
        for stmt in list {
            let C::Local(var) = copier.program.stmts[*stmt].kind else {
                made.push(copier.stmt(*stmt));
                continue;
            };
            let Some(own) = copier.exprs.get(&var).copied() else {
                made.push(copier.stmt(*stmt));
                continue;
            };
            // It is declared already.
            let init = copier.program.vars[var].init.map(|it| copier.program.inits[it].clone());
            if let Some(Init::Expr(value)) = init {
                let value = copier.expr(value);
                let build = &mut Builder { program: copier.program, function, span };
                let e = build.assign(own, value);
                made.push(build.stmt(C::Expr(e)));
            }
        }
        made
    }

    /// Blocks that look at elements where they are: whole ones, and others row by row.
    fn direct(&mut self, lines: Option<Lines>, count: VarId, out: &mut Vec<StmtId>) {
        let own = self.plan.strip.own.clone();
        let items = self.plan.strip.items.clone();
        let rows = self.plan.rows;
        let (lanes, all) = (self.number(self.plan.lanes), self.var(count));
        let mut is_whole = self.build().binary(BinaryOp::Eq, all, lanes);
        // All rows and lanes.
        let mut whole = Vec::new();
        let arrays = self.arrays(rows, &own, &mut whole);
        let mut each = Vec::new();
        let mut left = None;
        if let Some(Lines { at, top, rows: rest }) = lines {
            let (rest_of, most) = (self.var(rest), self.number(rows));
            let build = &mut self.build();
            let has_rows = build.binary(BinaryOp::Eq, rest_of, most);
            is_whole = build.and(is_whole, has_rows);
            left = Some((at, top, rest));
            for one in 0..rows {
                let (top, more) = (self.var(top), self.number(one));
                let number = self.build().binary(BinaryOp::Add, top, more);
                let value = self.value_at(at, number);
                let Some(var) = self.dims.get(at).map(|it| it.var) else { continue };
                let row = self.like(var);
                self.declare(row, value, &mut whole);
                each.push((Some(row), more));
            }
        } else {
            each.push((None, self.number(0)));
        }
        whole.extend(self.items(&items, &Rows { each, arrays: &arrays }, None));
        // One row, some lanes.
        let mut rest = Vec::new();
        let arrays = self.arrays(1, &own, &mut rest);
        let zero = self.number(0);
        match left {
            None => {
                let rows = Rows { each: vec![(None, zero)], arrays: &arrays };
                rest.extend(self.items(&items, &rows, Some(count)));
            }
            Some((at, top, left)) => {
                let mut body = Vec::new();
                let one = self.build().fresh_number("one");
                let (from, more) = (self.var(top), self.var(one));
                let number = self.build().binary(BinaryOp::Add, from, more);
                let value = self.value_at(at, number);
                if let Some(var) = self.dims.get(at).map(|it| it.var) {
                    let row = self.like(var);
                    self.declare(row, value, &mut body);
                    let rows = Rows { each: vec![(Some(row), zero)], arrays: &arrays };
                    body.extend(self.items(&items, &rows, Some(count)));
                }
                let bound = self.var(left);
                rest.push(self.rounds(one, zero, (LoopTest::Lt, bound), body));
            }
        }
        let build = &mut self.build();
        let whole = build.stmt(C::Block(whole.into()));
        let rest = build.stmt(C::Block(rest.into()));
        out.push(build.stmt(C::If(is_whole, whole, Some(rest))));
    }

    /// Blocks without inner loops.
    fn straight(&mut self, count: VarId, out: &mut Vec<StmtId>) {
        let items = self.plan.strip.items.clone();
        let arrays = FxHashMap::default();
        let each = vec![(None, self.number(0))];
        out.extend(self.items(&items, &Rows { each, arrays: &arrays }, Some(count)));
    }

    /// The same with some elements brought first.
    fn brought(&mut self, lines: Option<Lines>, count: VarId, out: &mut Vec<StmtId>) {
        let Some(Lines { at, top, rows }) = lines else { return };
        let items = self.plan.strip.items.clone();
        let buffers = self.make_buffers(out);
        let dim = |maker: &Self, at: usize| maker.dims.get(at).map(|it| it.var);
        let (Some(row_dim), Some(lane_dim)) = (dim(self, at), dim(self, self.plan.lane)) else {
            return;
        };
        for (load, buffer) in &buffers {
            let (ty, row_ty) =
                (self.cx.program.vars[self.first].ty, self.cx.program.vars[row_dim].ty.plain());
            let lane = self.build().fresh("lane", ty);
            let row = self.build().fresh("row", row_ty);
            let start = self.build().fresh("start", row_ty);
            let mut body = Vec::new();
            let value = self.value(at, top);
            self.declare(start, value, &mut body);
            let (first, at_lane) = (self.var(self.first), self.var(lane));
            let (start, at_row) = (self.var(start), self.var(row));
            let build = &mut self.build();
            let along = build.binary(BinaryOp::Add, first, at_lane);
            let across = build.binary(BinaryOp::Add, start, at_row);
            let exprs = [(lane_dim, along), (row_dim, across)].into_iter().collect();
            let vars = self.counters.clone();
            let value = Copier { vars, exprs, ..Copier::new(self.cx.program) }.expr(*load);
            let place = self.element(*buffer, at_row, at_lane);
            let build = &mut self.build();
            let e = build.assign(place, value);
            let set = build.stmt(C::Expr(e));
            let bound = self.var(rows);
            let bound = self.build().cast(bound, row_ty);
            let zero = self.build().int(0, row_ty);
            body.push(self.counting(row, zero, (LoopTest::Lt, bound), vec![set], true));
            let lanes = self.var(count);
            let lanes = self.build().cast(lanes, ty);
            let zero = self.build().int(0, ty);
            out.push(self.rounds(lane, zero, (LoopTest::Lt, lanes), body));
        }
        self.buffers = buffers;
        let arrays = FxHashMap::default();
        self.row_by_row(&items, (at, top, rows), count, &arrays, out);
        self.buffers = Vec::new();
    }

    fn make_buffers(&mut self, out: &mut Vec<StmtId>) -> Vec<(ExprId, VarId)> {
        let mut made = Vec::new();
        let (list, rows) = match &self.plan.how {
            How::Packed(list) => (list.clone(), PACKED_ROUNDS),
            How::Brought(list) => (list.clone(), self.plan.rows),
            How::Rounds { .. } | How::Straight => return made,
        };
        for load in list {
            let lanes = self.plan.lanes;
            let build = &mut self.build();
            let ty = build.type_of(load);
            let ty = build.array_of(ty, lanes);
            let ty = build.array_of(ty, rows);
            let buffer = build.fresh("packed", ty);
            build.program.vars[buffer].align = Some(64);
            out.push(build.stmt(C::Local(buffer)));
            made.push((load, buffer));
        }
        made
    }

    /// Pieces that stand outside of the inner loop.
    fn row_by_row(
        &mut self,
        items: &[Item],
        (at, top, rows): (usize, VarId, VarId),
        count: VarId,
        arrays: &FxHashMap<VarId, VarId>,
        out: &mut Vec<StmtId>,
    ) {
        if items.is_empty() {
            return;
        }
        let one = self.build().fresh_number("one");
        let (from, more) = (self.var(top), self.var(one));
        let number = self.build().binary(BinaryOp::Add, from, more);
        let value = self.value_at(at, number);
        let Some(var) = self.dims.get(at).map(|it| it.var) else { return };
        let row = self.like(var);
        let mut body = Vec::new();
        self.declare(row, value, &mut body);
        let rows_of = Rows { each: vec![(Some(row), more)], arrays };
        body.extend(self.items(items, &rows_of, Some(count)));
        let (zero, bound) = (self.number(0), self.var(rows));
        out.push(self.rounds(one, zero, (LoopTest::Lt, bound), body));
    }
}
