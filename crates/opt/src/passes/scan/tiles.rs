//! Threads of a team go through iterations tile by tile.

use ir::program::{BinaryOp, VarId};
use kernel::{Block, Crew, Reduce, Space, Stmt, StmtKind};

use super::{Room, Scanning};
use crate::passes::Result;
use crate::passes::numbering::{Sharing, forever};

impl Scanning<'_, '_> {
    /// One team goes through all iterations; what was there before them is in the originals.
    pub(super) fn team(&mut self, room: &Room, out: &mut Block) -> Result<()> {
        let begin = self.number("begin", Space::Uniform, out);
        self.set_to(begin, 0, out);
        let carries: Vec<VarId> = self.scan.prefixes.iter().map(|it| it.original).collect();
        self.tiles(room, (begin, self.total), &carries, out)
    }

    /// Goes through iterations in tiles. `carries` have what was before them, and then what is before those that follow.
    pub(super) fn tiles(
        &mut self,
        room: &Room,
        range: (VarId, VarId),
        carries: &[VarId],
        out: &mut Block,
    ) -> Result<()> {
        let Crew { number: me, count } = self.scan.share.crew;
        let span = self.span;
        let prefixes = self.scan.prefixes.clone();
        let base = self.number("base", Space::Uniform, out);
        let mut round = Block::new();
        self.tile(room, base, range.1, &mut round)?;
        // Each goes through its own again, and leaves the prefixes.
        let mut block = Block::new();
        let slot = self.number("slot", Space::Private, &mut block);
        for (at, prefix) in prefixes.iter().enumerate() {
            let (Some(slots), Some(parts), Some(carry)) =
                (room.slots.get(at), room.parts.get(at), carries.get(at))
            else {
                continue;
            };
            let mut own = vec![Stmt::new(StmtKind::Local(prefix.copy), span)];
            own.push(self.copied(prefix.copy, *carry));
            let build = &mut self.cx.build(span);
            let (number, one, zero) = (build.var(me), build.number(1), build.number(0));
            let before = build.binary(BinaryOp::Sub, number, one);
            let is_behind = build.binary(BinaryOp::Gt, number, zero);
            let before = self.element_at(*parts, before);
            let join = self.join_with(prefix, before);
            own.push(Stmt::new(StmtKind::If(is_behind, join, Block::new()), span));
            let place = self.element(*slots, slot);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let leave = Stmt::new(StmtKind::Eval(build.copy(place, copy)), span);
            let other = build.var(prefix.join.other);
            let take = Stmt::new(StmtKind::Eval(build.copy(other, place)), span);
            let mut body = vec![Stmt::new(StmtKind::Local(prefix.join.other), span), take];
            if self.scan.is_exclusive {
                body.push(leave);
                body.extend(prefix.join.code.iter().cloned());
            } else {
                body.extend(prefix.join.code.iter().cloned());
                body.push(leave);
            }
            self.own_slots(room, slot, 0, body, &mut own);
            block.push(Stmt::new(StmtKind::Block(own), span));
        }
        round.push(Stmt::new(StmtKind::Block(block), span));
        self.barrier(&mut round);
        let mut add = Block::new();
        for ((prefix, parts), carry) in prefixes.iter().zip(&room.parts).zip(carries) {
            let last = self.last_element(*parts, count);
            add.extend(self.joined(prefix, *carry, last));
        }
        self.found(room, base, range.1, &mut round)?;
        self.primary(add, &mut round);
        self.barrier(&mut round);
        self.over_tiles(room, base, range, round, out);
        Ok(())
    }

    /// A round for each tile of a range.
    pub(super) fn over_tiles(
        &mut self,
        room: &Room,
        base: VarId,
        range: (VarId, VarId),
        round: Block,
        out: &mut Block,
    ) {
        let span = self.span;
        let count = self.scan.share.crew.count;
        let build = &mut self.cx.build(span);
        let (begin, end) = (build.var(range.0), build.var(range.1));
        let (count, each) = (build.var(count), build.number(room.each.cast_signed()));
        let far = build.binary(BinaryOp::Mul, count, each);
        self.counting(base, [begin, end, far], round, out);
    }

    /// What iterations of a tile give is in `slots`, and the prefixes of what threads have of it in `parts`.
    pub(super) fn tile(
        &mut self,
        room: &Room,
        base: VarId,
        end: VarId,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let me = self.scan.share.crew.number;
        let prefixes = self.scan.prefixes.clone();
        let mut body = Block::new();
        let slot = self.number("slot", Space::Private, out);
        for prefix in &prefixes {
            body.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            body.extend(prefix.begin.iter().cloned());
        }
        let mut giving = Block::new();
        self.giving(&mut giving)?;
        self.if_some(end, giving, &mut body);
        for (prefix, slots) in prefixes.iter().zip(&room.slots) {
            let place = self.element(*slots, slot);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(place, copy);
            body.push(Stmt::new(StmtKind::Eval(e), span));
        }
        self.side_by_side(room, slot, base, body, out);
        self.barrier(out);
        for (at, prefix) in prefixes.iter().enumerate() {
            let (Some(slots), Some(parts)) = (room.slots.get(at), room.parts.get(at)) else {
                continue;
            };
            let mut own = vec![Stmt::new(StmtKind::Local(prefix.copy), span)];
            let build = &mut self.cx.build(span);
            let (number, each) = (build.var(me), build.number(room.each.cast_signed()));
            let first = build.binary(BinaryOp::Mul, number, each);
            let first = self.element_at(*slots, first);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(copy, first);
            own.push(Stmt::new(StmtKind::Eval(e), span));
            if room.each > 1 {
                let place = self.element(*slots, slot);
                let body = self.join_with(prefix, place);
                self.own_slots(room, slot, 1, body, &mut own);
            }
            let place = self.element(*parts, me);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(place, copy);
            own.push(Stmt::new(StmtKind::Eval(e), span));
            out.push(Stmt::new(StmtKind::Block(own), span));
        }
        self.scan_parts(room, out);
        Ok(())
    }

    /// Runs the half that finds the prefixes for the iterations of a tile.
    pub(super) fn found(
        &mut self,
        room: &Room,
        base: VarId,
        end: VarId,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let slot = self.number("slot", Space::Private, out);
        let prefixes = self.scan.prefixes.clone();
        let mut using = Block::new();
        for (prefix, slots) in prefixes.iter().zip(&room.slots) {
            using.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            let place = self.element(*slots, slot);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(copy, place);
            using.push(Stmt::new(StmtKind::Eval(e), span));
        }
        let number = self.scan.share.number;
        Sharing { cx: self.cx, span, space: Space::Private }
            .place(&self.nest, number, &mut using)?;
        let half = self.scan.using.clone();
        self.half(half, &mut using);
        let last = self.scan.share.last.clone();
        if !last.is_empty() {
            let build = &mut self.cx.build(span);
            let (at, one, all) = (build.var(number), build.number(1), build.var(self.total));
            let next = build.binary(BinaryOp::Add, at, one);
            let is_last = build.binary(BinaryOp::Eq, next, all);
            using.push(Stmt::new(StmtKind::If(is_last, last, Block::new()), span));
        }
        let mut body = Block::new();
        self.if_some(end, using, &mut body);
        self.side_by_side(room, slot, base, body, out);
        Ok(())
    }

    /// Runs code for each iteration of a tile, neighbours by neighbours.
    pub(super) fn side_by_side(
        &mut self,
        room: &Room,
        slot: VarId,
        base: VarId,
        body: Block,
        out: &mut Block,
    ) {
        let span = self.span;
        let Crew { number: me, count } = self.scan.share.crew;
        let number = self.scan.share.number;
        let mut round = Block::new();
        let build = &mut self.cx.build(span);
        let (base, at) = (build.var(base), build.var(slot));
        let value = build.binary(BinaryOp::Add, base, at);
        self.set(number, value, &mut round);
        round.extend(body);
        let build = &mut self.cx.build(span);
        let (begin, all) = (build.var(me), build.var(count));
        let each = build.number(room.each.cast_signed());
        let end = build.binary(BinaryOp::Mul, all, each);
        self.counting(slot, [begin, end, all], round, out);
    }

    /// Runs code for each of the thread's own slots, from the one with this number on.
    pub(super) fn own_slots(
        &mut self,
        room: &Room,
        slot: VarId,
        from: i64,
        body: Block,
        out: &mut Block,
    ) {
        let span = self.span;
        let me = self.scan.share.crew.number;
        let build = &mut self.cx.build(span);
        let (number, each) = (build.var(me), build.number(room.each.cast_signed()));
        let begin = build.binary(BinaryOp::Mul, number, each);
        let far = build.number(from);
        let first = build.binary(BinaryOp::Add, begin, far);
        let end = build.binary(BinaryOp::Add, begin, each);
        let at = build.var(slot);
        let condition = build.binary(BinaryOp::Lt, at, end);
        let step = build.increment(slot);
        self.set(slot, first, out);
        out.push(forever(Some(condition), Some(step), body, span));
    }

    /// What threads have in `parts` becomes the prefix of it: each takes what one has that is twice as far away each time.
    pub(super) fn scan_parts(&mut self, room: &Room, out: &mut Block) {
        let span = self.span;
        let Crew { number: me, count } = self.scan.share.crew;
        let prefixes = self.scan.prefixes.clone();
        self.barrier(out);
        let far = self.number("far", Space::Uniform, out);
        self.set_to(far, 1, out);
        let (mut round, mut take, mut leave) = (Block::new(), Block::new(), Block::new());
        for (prefix, parts) in prefixes.iter().zip(&room.parts) {
            round.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            let own = self.element(*parts, me);
            let build = &mut self.cx.build(span);
            let (number, by) = (build.var(me), build.var(far));
            let before = build.binary(BinaryOp::Sub, number, by);
            let before = self.element_at(*parts, before);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(copy, before);
            take.push(Stmt::new(StmtKind::Eval(e), span));
            take.extend(self.join_with(prefix, own));
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(own, copy);
            leave.push(Stmt::new(StmtKind::Eval(e), span));
        }
        for code in [take, leave] {
            let build = &mut self.cx.build(span);
            let (number, by) = (build.var(me), build.var(far));
            let has_other = build.binary(BinaryOp::Ge, number, by);
            round.push(Stmt::new(StmtKind::If(has_other, code, Block::new()), span));
            self.barrier(&mut round);
        }
        let build = &mut self.cx.build(span);
        let (by, all, two) = (build.var(far), build.var(count), build.number(2));
        let condition = build.binary(BinaryOp::Lt, by, all);
        let next = build.binary(BinaryOp::Mul, by, two);
        let step = build.set(far, next);
        out.push(forever(Some(condition), Some(step), round, span));
    }

    /// One iteration for each thread, and one after the other combines what it gave: for what takes much room.
    pub(super) fn rounds(&mut self, out: &mut Block) -> Result<()> {
        let span = self.span;
        let (crew, number) = (self.scan.share.crew, self.scan.share.number);
        let prefixes = self.scan.prefixes.clone();
        let base = self.number("base", Space::Uniform, out);
        let mut round = Block::new();
        for prefix in &prefixes {
            round.push(Stmt::new(StmtKind::Local(prefix.copy), span));
        }
        let build = &mut self.cx.build(span);
        let (at, me) = (build.var(base), build.var(crew.number));
        let value = build.binary(BinaryOp::Add, at, me);
        self.set(number, value, &mut round);
        round.extend(prefixes.iter().flat_map(|it| it.begin.iter().cloned()));
        let mut giving = Block::new();
        self.giving(&mut giving)?;
        self.if_some(self.total, giving, &mut round);
        for prefix in prefixes {
            let mut combine = Block::new();
            if self.scan.is_exclusive {
                let ty = self.cx.program.vars[prefix.copy].ty.plain();
                let kept = self.cx.fresh("kept", ty, Space::Private, span, &mut combine);
                combine.push(self.copied(kept, prefix.original));
                combine.extend(prefix.combine);
                combine.push(self.copied(prefix.copy, kept));
            } else {
                combine.extend(prefix.combine);
                combine.push(self.copied(prefix.copy, prefix.original));
            }
            let made = Reduce {
                crew,
                is_league: false,
                op: prefix.op,
                copy: prefix.copy,
                elements: None,
                combine,
                join: None,
            };
            round.push(Stmt::new(StmtKind::Reduce(Box::new(made)), span));
        }
        let mut using = Block::new();
        Sharing { cx: self.cx, span, space: Space::Private }
            .place(&self.nest, number, &mut using)?;
        let half = self.scan.using.clone();
        self.half(half, &mut using);
        let last = self.scan.share.last.clone();
        let build = &mut self.cx.build(span);
        let (at, one, all) = (build.var(number), build.number(1), build.var(self.total));
        let next = build.binary(BinaryOp::Add, at, one);
        let is_last = build.binary(BinaryOp::Eq, next, all);
        using.push(Stmt::new(StmtKind::If(is_last, last, Block::new()), span));
        self.if_some(self.total, using, &mut round);
        self.set_to(base, 0, out);
        let build = &mut self.cx.build(span);
        let (at, all, many) = (build.var(base), build.var(self.total), build.var(crew.count));
        let condition = build.binary(BinaryOp::Lt, at, all);
        let next = build.binary(BinaryOp::Add, at, many);
        let step = build.set(base, next);
        out.push(forever(Some(condition), Some(step), round, span));
        Ok(())
    }
}
