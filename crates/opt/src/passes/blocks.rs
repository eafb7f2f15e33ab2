//! Blocks of iterations that run in step, as code: lanes along one dimension, rows along another.
//!
//! In: a [`Plan`]. Out: the shared loop over blocks, and what a block does.

use ir::program::{BinaryOp, ExprId, For, Init, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Dim, Schedule, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::nest::is_contiguous;
use super::strip::{Item, Rounds, Strip};
use super::workshare::{Counted, Sharing};
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
}

/// The code of an iteration of a shared loop that nothing has been made of yet, and whose order nobody asks for.
pub(super) fn whole_code(cx: &Cx<'_>, share: &Share) -> Option<StmtId> {
    let [Stmt { kind: StmtKind::Code(code), .. }] = share.body.as_slice() else { return None };
    let is_whole = share.last.is_empty() && share.pieces.is_none() && share.within.is_none();
    let is_even = share.dims.iter().all(|it| it.rectangular);
    let is_new = !cx.has_shape();
    (is_whole && !share.ordered && is_even && is_new).then_some(*code)
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
        out.push(Stmt::new(
            StmtKind::Share(Box::new(Share {
                crew: share.crew,
                dims,
                within: None,
                schedule: Schedule::Blocks,
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
        let top = row.and_then(|it| begins.get(&it).copied());
        match self.plan.how {
            How::Rounds { .. } => self.direct(top, count, &mut out),
            How::Packed(_) => self.packed(top, count, &mut out),
            How::Straight => self.straight(count, &mut out),
            How::Brought(_) => self.brought(top, count, &mut out),
        }
        out
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
    fn direct(&mut self, top: Option<VarId>, count: VarId, out: &mut Vec<StmtId>) {
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
        if let (Some(at), Some(top)) = (self.plan.row, top) {
            let rest = self.left(at, top, out);
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
    fn brought(&mut self, top: Option<VarId>, count: VarId, out: &mut Vec<StmtId>) {
        let (Some(at), Some(top)) = (self.plan.row, top) else { return };
        let items = self.plan.strip.items.clone();
        let rows = self.left(at, top, out);
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

    /// Where the packed elements of the round are.
    fn packed_index(&mut self) -> ExprId {
        let Some((now, from)) = self.packed_round().zip(self.from) else { return self.number(0) };
        let (now, from) = (self.var(now), self.var(from));
        self.build().binary(BinaryOp::Sub, now, from)
    }

    /// What counts the rounds now for which elements are packed.
    fn packed_round(&self) -> Option<VarId> {
        let rounds = self.packed_loop()?;
        self.counters.get(&rounds.dim.var).copied()
    }

    fn packed_loop(&self) -> Option<&Rounds> {
        self.plan.strip.items.iter().find_map(|it| match it {
            Item::Loop(it) => Some(it),
            Item::Run(_) => None,
        })
    }

    /// Blocks of many rows: a piece of the inner loop after the other, each with its elements packed first.
    fn packed(&mut self, top: Option<VarId>, count: VarId, out: &mut Vec<StmtId>) {
        let (Some(at), Some(top)) = (self.plan.row, top) else { return };
        let Some(rounds) = self.packed_loop().cloned() else { return };
        let own = self.plan.strip.own.clone();
        let items = self.plan.strip.items.clone();
        let rows = self.left(at, top, out);
        let arrays = self.arrays(PACKED_ROWS, &own, out);
        let buffers = self.make_buffers(out);
        self.clear(count, &arrays, &buffers, out);
        let place = items.iter().position(|it| matches!(it, Item::Loop(_))).unwrap_or(0);
        let (before, after) = items.split_at(place);
        let after = after.get(1..).unwrap_or_default();
        self.row_by_row(before, (at, top, rows), count, &arrays, out);
        // Pieces of the inner loop.
        let head = rounds.dim.clone();
        let ty = self.cx.program.vars[head.var].ty.plain();
        let (begin, bound) = (self.here(head.begin), self.here(head.bound));
        let dim = Dim { begin, bound, ..head.clone() };
        let Some(trips) = self.trips(&dim, out) else { return };
        let (start, all) = trips;
        let piece = self.build().fresh_number("piece");
        let mut body = Vec::new();
        let (left, most) = (self.build().fresh_number("left"), self.number(PACKED_ROUNDS));
        let (whole, done) = (self.var(all), self.var(piece));
        let value = self.build().binary(BinaryOp::Sub, whole, done);
        self.declare(left, value, &mut body);
        let left = self.var(left);
        let value = self.build().min(left, most);
        let length = self.build().fresh_number("length");
        self.declare(length, value, &mut body);
        let from = self.build().fresh("from", ty);
        let (start, done) = (self.var(start), self.var(piece));
        let build = &mut self.build();
        let done = build.cast(done, ty);
        let value = build.binary(BinaryOp::Add, start, done);
        self.declare(from, value, &mut body);
        self.pack(&head, from, length, count, &buffers, &mut body);
        self.from = Some(from);
        self.buffers = buffers;
        self.row_blocks(&rounds, (at, top, rows), (from, length), &arrays, &mut body);
        self.buffers = Vec::new();
        let zero = self.number(0);
        let mut init = Vec::new();
        self.declare(piece, zero, &mut init);
        let (at_piece, bound) = (self.var(piece), self.var(all));
        let build = &mut self.build();
        let cond = build.binary(BinaryOp::Lt, at_piece, bound);
        let next = build.binary(BinaryOp::Add, at_piece, most);
        let step = build.set(piece, next);
        let body = build.stmt(C::Block(body.into()));
        out.push(build.stmt(C::For(Box::new(For {
            init: init.into(),
            cond: Some(cond),
            step: Some(step),
            body,
            unroll: None,
            lanes: false,
        }))));
        self.row_by_row(after, (at, top, rows), count, &arrays, out);
    }

    /// The first value of an inner loop and how often it runs, in variables.
    fn trips(&mut self, dim: &Dim, out: &mut Vec<StmtId>) -> Option<(VarId, VarId)> {
        let common = kernel::count::common(self.cx.program, dim)?;
        let ty = self.cx.program.vars[dim.var].ty.plain();
        let begin = self.build().fresh("begin", ty);
        let end = self.build().fresh("bound", common);
        let all = self.build().fresh_number("trips");
        self.declare(begin, dim.begin, out);
        self.declare(end, dim.bound, out);
        let value = kernel::count::trips(&mut self.build(), dim, begin, end);
        self.declare(all, value, out);
        Some((begin, all))
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

    /// Lanes that a block does not have compute with zeros.
    fn clear(
        &mut self,
        count: VarId,
        arrays: &FxHashMap<VarId, VarId>,
        buffers: &[(ExprId, VarId)],
        out: &mut Vec<StmtId>,
    ) {
        let mut all: Vec<(VarId, u64)> = buffers.iter().map(|it| (it.1, PACKED_ROUNDS)).collect();
        let own = self.plan.strip.own.iter();
        all.extend(own.filter_map(|it| arrays.get(it)).map(|it| (*it, PACKED_ROWS)));
        let mut made = Vec::new();
        for (array, rows) in all {
            let row = self.build().fresh_number("row");
            let ty = self.cx.program.vars[self.first].ty;
            let lane = self.build().fresh("lane", ty);
            let (at_row, at_lane) = (self.var(row), self.var(lane));
            let place = self.element(array, at_row, at_lane);
            let build = &mut self.build();
            let int = build.int_type();
            let zero = build.int(0, int);
            let e = build.assign(place, zero);
            let set = build.stmt(C::Expr(e));
            let inner = self.along(lane, None, vec![set]);
            let (zero, bound) = (self.number(0), self.number(rows));
            made.push(self.rounds(row, zero, (LoopTest::Lt, bound), vec![inner]));
        }
        let (all, lanes) = (self.var(count), self.number(self.plan.lanes));
        let build = &mut self.build();
        let is_less = build.binary(BinaryOp::Lt, all, lanes);
        let made = build.stmt(C::Block(made.into()));
        out.push(build.stmt(C::If(is_less, made, None)));
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

    /// Packs the elements of some rounds.
    fn pack(
        &mut self,
        head: &Dim,
        from: VarId,
        length: VarId,
        count: VarId,
        buffers: &[(ExprId, VarId)],
        out: &mut Vec<StmtId>,
    ) {
        for (load, buffer) in buffers {
            let lane_dim = self.dims.get(self.plan.lane).map(|it| it.var);
            let Some(lane_dim) = lane_dim else { continue };
            let is_beside = is_contiguous(self.cx.program, *load, lane_dim);
            let (ty, round_ty) =
                (self.cx.program.vars[self.first].ty, self.cx.program.vars[head.var].ty.plain());
            let lane = self.build().fresh("lane", ty);
            let round = self.build().fresh("round", round_ty);
            let (first, at_lane) = (self.var(self.first), self.var(lane));
            let (from, at_round) = (self.var(from), self.var(round));
            let build = &mut self.build();
            let value = build.binary(BinaryOp::Add, first, at_lane);
            let now = build.binary(BinaryOp::Add, from, at_round);
            let mut exprs = FxHashMap::default();
            exprs.insert(lane_dim, value);
            exprs.insert(head.var, now);
            let vars = self.counters.clone();
            let value = Copier { vars, exprs, ..Copier::new(self.cx.program) }.expr(*load);
            let place = self.element(*buffer, at_round, at_lane);
            let build = &mut self.build();
            let e = build.assign(place, value);
            let set = build.stmt(C::Expr(e));
            let length = self.var(length);
            let bound = self.build().cast(length, round_ty);
            let zero = self.build().int(0, round_ty);
            if is_beside {
                let inner = self.along(lane, Some(count), vec![set]);
                out.push(self.rounds(round, zero, (LoopTest::Lt, bound), vec![inner]));
            } else {
                let inner = self.counting(round, zero, (LoopTest::Lt, bound), vec![set], false);
                let lanes = self.var(count);
                let lanes = self.build().cast(lanes, ty);
                let zero = self.build().int(0, ty);
                out.push(self.rounds(lane, zero, (LoopTest::Lt, lanes), vec![inner]));
            }
        }
    }

    /// Some rounds of the inner loop for all rows, as many at a time as registers hold.
    fn row_blocks(
        &mut self,
        rounds: &Rounds,
        (at, top, count): (usize, VarId, VarId),
        (from, length): (VarId, VarId),
        arrays: &FxHashMap<VarId, VarId>,
        out: &mut Vec<StmtId>,
    ) {
        let rows = self.plan.rows;
        let own = self.plan.strip.own.clone();
        let carried = self.plan.strip.carried.clone();
        let mut body = Vec::new();
        let first = self.build().fresh_number("row");
        let used: Vec<VarId> = own
            .into_iter()
            .filter(|var| {
                rounds.body.iter().any(|it| match it {
                    Item::Run(list) => list.iter().any(|it| {
                        super::nest::mentions_in(self.cx.program, ir::walk::Part::Stmt(*it), |it| {
                            it == *var
                        })
                    }),
                    Item::Loop(_) => true,
                })
            })
            .collect();
        let held = self.arrays(rows, &used, &mut body);
        let (all, one) = (self.var(count), self.number(1));
        let last = self.build().binary(BinaryOp::Sub, all, one);
        let (mut each, mut back) = (Vec::new(), Vec::new());
        for number in 0..rows {
            // Rows that a block does not have compute what the last one does.
            let place = self.build().fresh_number("at");
            let (start, more) = (self.var(first), self.number(number));
            let wanted = self.build().binary(BinaryOp::Add, start, more);
            let value = self.build().min(wanted, last);
            self.declare(place, value, &mut body);
            let (place, top) = (self.var(place), self.var(top));
            let whole = self.build().binary(BinaryOp::Add, top, place);
            let value = self.value_at(at, whole);
            let Some(var) = self.dims.get(at).map(|it| it.var) else { continue };
            let row = self.like(var);
            self.declare(row, value, &mut body);
            each.push((Some(row), more));
            let pairs = |of: &[VarId]| -> Vec<(VarId, VarId)> {
                let pair = |it: &VarId| Some((*held.get(it)?, *arrays.get(it)?));
                of.iter().filter_map(pair).collect()
            };
            for (to, other) in pairs(&used) {
                body.push(self.copied((to, more), (other, place)));
            }
            let mut stored = Vec::new();
            for (other, to) in pairs(&carried) {
                stored.push(self.copied((to, wanted), (other, more)));
            }
            let build = &mut self.build();
            let is_there = build.binary(BinaryOp::Lt, wanted, all);
            let stored = build.stmt(C::Block(stored.into()));
            back.push(build.stmt(C::If(is_there, stored, None)));
        }
        let round = self.like(rounds.dim.var);
        self.counters.insert(rounds.dim.var, round);
        let inside = self.items(&rounds.body, &Rows { each, arrays: &held }, None);
        self.counters.remove(&rounds.dim.var);
        let ty = self.cx.program.vars[round].ty;
        let (begin, length) = (self.var(from), self.var(length));
        let build = &mut self.build();
        let length = build.cast(length, ty);
        let end = build.binary(BinaryOp::Add, begin, length);
        let bound = build.fresh("end", ty);
        self.declare(bound, end, &mut body);
        let bound = self.var(bound);
        body.push(self.rounds(round, begin, (LoopTest::Lt, bound), inside));
        body.extend(back);
        let zero = self.number(0);
        let mut init = Vec::new();
        self.declare(first, zero, &mut init);
        let (start, more) = (self.var(first), self.number(rows));
        let build = &mut self.build();
        let cond = build.binary(BinaryOp::Lt, start, all);
        let next = build.binary(BinaryOp::Add, start, more);
        let step = build.set(first, next);
        let body = build.stmt(C::Block(body.into()));
        out.push(build.stmt(C::For(Box::new(For {
            init: init.into(),
            cond: Some(cond),
            step: Some(step),
            body,
            unroll: None,
            lanes: false,
        }))));
    }

    /// `to[row][…] = from[row][…]`, all lanes.
    fn copied(&mut self, to: (VarId, ExprId), from: (VarId, ExprId)) -> StmtId {
        let ty = self.cx.program.vars[self.first].ty;
        let lane = self.build().fresh("lane", ty);
        let at = self.var(lane);
        let (to, from) = (self.element(to.0, to.1, at), self.element(from.0, from.1, at));
        let build = &mut self.build();
        let e = build.assign(to, from);
        let set = build.stmt(C::Expr(e));
        self.along(lane, None, vec![set])
    }
}
