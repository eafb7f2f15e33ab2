//! Blocks of a box around a nest that has corners cut off: triangles and other nests whose bounds follow each other.
//!
//! Of a block, rows that have all lanes run as blocks do, and of the others what the nest has of them, row by row. Bounds
//! are affine, so what a block has is convex: rows with all lanes follow each other, and so do the lanes of a row.

use ir::program::{BinaryOp, ExprId, For, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use kernel::copy::Copier;
use rustc_hash::FxHashMap;

use super::{Lines, Maker, Rows};

impl Maker<'_, '_> {
    /// What a block does of a nest with cut corners.
    pub(super) fn cut(&mut self, lines: Option<Lines>, count: VarId, out: &mut Vec<StmtId>) {
        let Some(Lines { at, top, rows }) = lines else {
            let (first, count) = self.lanes_there(None, count, out);
            let before = std::mem::replace(&mut self.first, first);
            self.whole(None, count, out);
            self.first = before;
            return;
        };
        let (last, one) = (self.var(count), self.number(1));
        let last = self.build().binary(BinaryOp::Sub, last, one);
        let zero = self.number(0);
        let has_all = |maker: &mut Self, row: ExprId| {
            let (low, high) = (maker.is_there(zero, Some(row)), maker.is_there(last, Some(row)));
            maker.build().and(low, high)
        };
        let row_at = |maker: &mut Self, number: VarId| {
            let (from, more) = (maker.var(top), maker.var(number));
            let number = maker.build().binary(BinaryOp::Add, from, more);
            maker.value_at(at, number)
        };
        let (head, tail) = self.stretch(rows, out, &mut |maker, number| {
            let row = row_at(maker, number);
            has_all(maker, row)
        });
        // Rows with all lanes.
        let mut inside = Vec::new();
        let (from, more) = (self.var(top), self.var(head));
        let value = self.build().binary(BinaryOp::Add, from, more);
        let begin = self.build().fresh_number("top");
        self.declare(begin, value, &mut inside);
        let (end, begin_at) = (self.var(tail), self.var(head));
        let value = self.build().binary(BinaryOp::Sub, end, begin_at);
        let many = self.build().fresh_number("rows");
        self.declare(many, value, &mut inside);
        self.whole(Some(Lines { at, top: begin, rows: many }), count, &mut inside);
        let build = &mut self.build();
        let has_some = build.binary(BinaryOp::Lt, begin_at, end);
        let inside = build.stmt(C::Block(inside.into()));
        out.push(build.stmt(C::If(has_some, inside, None)));
        // The others.
        let number = self.build().fresh_number("one");
        let value = row_at(self, number);
        let mut body = Vec::new();
        let Some(var) = self.dims.get(at).map(|it| it.var) else { return };
        let row = self.like(var);
        self.declare(row, value, &mut body);
        let (first, count) = self.lanes_there(Some(row), count, &mut body);
        let before = std::mem::replace(&mut self.first, first);
        let own = self.plan.strip.own.clone();
        let arrays = self.arrays(1, &own, &mut body);
        let items = self.plan.strip.items.clone();
        let each = vec![(Some(row), zero)];
        body.extend(self.items(&items, &Rows { each, arrays: &arrays }, Some(count)));
        self.first = before;
        let now = self.var(number);
        let build = &mut self.build();
        let is_early = build.binary(BinaryOp::Lt, now, begin_at);
        let is_late = build.binary(BinaryOp::Ge, now, end);
        let is_other = build.binary(BinaryOp::BitOr, is_early, is_late);
        let body = build.stmt(C::Block(body.into()));
        let body = build.stmt(C::If(is_other, body, None));
        let bound = self.var(rows);
        out.push(self.rounds(number, zero, (LoopTest::Lt, bound), vec![body]));
    }

    /// The first of the lanes that a row has, and how many there are.
    fn lanes_there(
        &mut self,
        row: Option<VarId>,
        count: VarId,
        out: &mut Vec<StmtId>,
    ) -> (VarId, VarId) {
        let row = row.map(|it| self.var(it));
        let (head, tail) = self.stretch(count, out, &mut |maker, number| {
            let number = maker.var(number);
            maker.is_there(number, row)
        });
        let ty = self.cx.program.vars[self.first].ty;
        let (first, more) = (self.var(self.first), self.var(head));
        let build = &mut self.build();
        let more = build.cast(more, ty);
        let value = build.binary(BinaryOp::Add, first, more);
        let first = build.fresh("first", ty);
        self.declare(first, value, out);
        let (begin, end) = (self.var(head), self.var(tail));
        let build = &mut self.build();
        let value = build.binary(BinaryOp::Sub, end, begin);
        let count = build.fresh_number("count");
        self.declare(count, value, out);
        (first, count)
    }

    /// The first of so many numbers that something is true for, and the first one after it that it is not.
    fn stretch(
        &mut self,
        count: VarId,
        out: &mut Vec<StmtId>,
        is_true: &mut dyn FnMut(&mut Self, VarId) -> ExprId,
    ) -> (VarId, VarId) {
        let (head, tail) = (self.build().fresh_number("head"), self.build().fresh_number("tail"));
        for (var, from, ends_with) in [(head, None, true), (tail, Some(head), false)] {
            let begin = match from {
                Some(from) => self.var(from),
                None => self.number(0),
            };
            self.declare(var, begin, out);
            let (at, all) = (self.var(var), self.var(count));
            let is_left = self.build().binary(BinaryOp::Lt, at, all);
            let found = is_true(self, var);
            let build = &mut self.build();
            let int = build.int_type();
            let none = build.int(0, int);
            let op = if ends_with { BinaryOp::Eq } else { BinaryOp::Ne };
            let goes_on = build.binary(op, found, none);
            let cond = build.and(is_left, goes_on);
            let step = build.increment(var);
            let body = build.stmt(C::Block(Box::default()));
            out.push(build.stmt(C::For(Box::new(For {
                init: Box::default(),
                cond: Some(cond),
                step: Some(step),
                body,
                unroll: None,
                lanes: false,
            }))));
        }
        (head, tail)
    }

    /// Whether the nest has the iteration of a lane in a row.
    fn is_there(&mut self, lane: ExprId, row: Option<ExprId>) -> ExprId {
        let ty = self.cx.program.vars[self.first].ty;
        let first = self.var(self.first);
        let build = &mut self.build();
        let lane = build.cast(lane, ty);
        let value = build.binary(BinaryOp::Add, first, lane);
        let mut exprs: FxHashMap<VarId, ExprId> = FxHashMap::default();
        exprs.extend(self.dims.get(self.plan.lane).map(|it| (it.var, value)));
        if let (Some(row), Some(at)) = (row, self.plan.row) {
            exprs.extend(self.dims.get(at).map(|it| (it.var, row)));
        }
        let vars = self.counters.clone();
        let mut all: Option<ExprId> = None;
        for dim in self.plan.cut.clone() {
            let Some(common) = kernel::count::common(self.cx.program, &dim) else { continue };
            let at = self.build().var(dim.var);
            let test = if dim.test == LoopTest::Le { BinaryOp::Le } else { BinaryOp::Lt };
            for (end, op) in [(dim.begin, BinaryOp::Ge), (dim.bound, test)] {
                let (vars, exprs) = (vars.clone(), exprs.clone());
                let mut copier = Copier { vars, exprs, ..Copier::new(self.cx.program) };
                let (at, end) = (copier.expr(at), copier.expr(end));
                let build = &mut self.build();
                let (at, end) = (build.cast(at, common), build.cast(end, common));
                let is_within = build.binary(op, at, end);
                all = Some(match all {
                    Some(all) => build.and(all, is_within),
                    None => is_within,
                });
            }
        }
        let int = self.build().int_type();
        all.unwrap_or_else(|| self.build().int(1, int))
    }
}
