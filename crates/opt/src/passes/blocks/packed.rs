//! Blocks whose elements are packed first, for many rows: a piece of the inner loop after the other.

use ir::program::{BinaryOp, ExprId, For, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use kernel::Dim;
use kernel::copy::Copier;
use rustc_hash::FxHashMap;

use super::{Lines, Maker, PACKED_ROUNDS, PACKED_ROWS, Rows};
use crate::passes::nest::{is_contiguous, mentions_in};
use crate::passes::strip::{Item, Rounds};

impl Maker<'_, '_> {
    /// Where the packed elements of the round are.
    pub(super) fn packed_index(&mut self) -> ExprId {
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
    pub(super) fn packed(&mut self, lines: Option<Lines>, count: VarId, out: &mut Vec<StmtId>) {
        let Some(Lines { at, top, rows }) = lines else { return };
        let Some(rounds) = self.packed_loop().cloned() else { return };
        let own = self.plan.strip.own.clone();
        let items = self.plan.strip.items.clone();
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
                        mentions_in(self.cx.program, ir::walk::Part::Stmt(*it), |it| it == *var)
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
