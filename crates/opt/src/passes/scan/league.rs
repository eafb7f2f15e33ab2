//! All groups go through the iterations, each through a part of them.

use ir::construct::ReductionOp;
use ir::program::{BinaryOp, VarId};
use kernel::{Block, Crew, Prefix, Space, Stmt, StmtKind, intrinsic};

use super::{Room, Scanning};
use crate::passes::Result;
use crate::passes::nest::size_of;
use crate::passes::numbering::forever;

impl Scanning<'_, '_> {
    /// All groups go through the iterations, each through a part of them.
    pub(super) fn league(&mut self, room: &Room, out: &mut Block) -> Result<()> {
        let span = self.span;
        let Crew { count, number: me } = self.scan.share.crew;
        let first = self.ticket(out);
        let [ticket, parts, each, begin, end] = ["ticket", "many", "each", "begin", "end"]
            .map(|it| self.number(it, Space::Uniform, out));
        let groups = self.cx.kernel.groups.count;
        let (posts, tile) = (self.cx.groups.posts.cast_signed(), room.each.cast_signed());
        let total = self.total;
        let value = self.cx.build(span).var(first);
        self.set(ticket, value, out);
        // No more than there are tiles: who has a part looks at what all parts before it give.
        let build = &mut self.cx.build(span);
        let (all, own, threads) = (build.var(total), build.number(tile), build.var(count));
        let wide = build.binary(BinaryOp::Mul, own, threads);
        let one = build.number(1);
        let more = build.binary(BinaryOp::Sub, wide, one);
        let tiles = build.binary(BinaryOp::Add, all, more);
        let tiles = build.binary(BinaryOp::Div, tiles, wide);
        let is_none = build.binary(BinaryOp::Lt, tiles, one);
        let tiles = build.either(is_none, one, tiles);
        let (all, most) = (build.var(groups), build.number(posts));
        let most = build.min(all, most);
        let value = build.min(most, tiles);
        self.set(parts, value, out);
        // Whole tiles: ceil(ceil(total / parts) / tile) * tile
        let build = &mut self.cx.build(span);
        let (all, by, own, threads) =
            (build.var(total), build.var(parts), build.number(tile), build.var(count));
        let tile = build.binary(BinaryOp::Mul, own, threads);
        let wide = build.binary(BinaryOp::Mul, by, tile);
        let one = build.number(1);
        let more = build.binary(BinaryOp::Sub, wide, one);
        let value = build.binary(BinaryOp::Add, all, more);
        let value = build.binary(BinaryOp::Div, value, wide);
        let value = build.binary(BinaryOp::Mul, value, tile);
        self.set(each, value, out);
        for (var, far) in [(begin, 0), (end, 1)] {
            let build = &mut self.cx.build(span);
            let (number, far, each, all) =
                (build.var(ticket), build.number(far), build.var(each), build.var(total));
            let number = build.binary(BinaryOp::Add, number, far);
            let value = build.binary(BinaryOp::Mul, number, each);
            let value = build.min(value, all);
            self.set(var, value, out);
        }
        let mut part = Block::new();
        // What was there before is looked at before the group tells what it has: the last may change it then.
        let carries = self.carries(&mut part);
        let mut before = Block::new();
        for (carry, prefix) in carries.iter().zip(&self.scan.prefixes) {
            let build = &mut self.cx.build(span);
            let (to, from) = (build.var(*carry), build.var(prefix.original));
            let e = build.copy(to, from);
            before.push(Stmt::new(StmtKind::Eval(e), span));
        }
        self.primary(before, &mut part);
        self.sum_up(room, (begin, end), &mut part)?;
        let places = self.places();
        self.tell(room, &places, ticket, &mut part);
        self.look_back(room, &places, ticket, &carries, &mut part);
        self.tiles(room, (begin, end), &carries, &mut part)?;
        // The last part has the whole.
        let mut whole = Block::new();
        for (carry, prefix) in carries.iter().zip(&self.scan.prefixes) {
            let build = &mut self.cx.build(span);
            let (to, from) = (build.var(prefix.original), build.var(*carry));
            let e = build.copy(to, from);
            whole.push(Stmt::new(StmtKind::Eval(e), span));
        }
        let build = &mut self.cx.build(span);
        let (number, one, all) = (build.var(ticket), build.number(1), build.var(parts));
        let next = build.binary(BinaryOp::Add, number, one);
        let is_last = build.binary(BinaryOp::Eq, next, all);
        let whole = vec![Stmt::new(StmtKind::If(is_last, whole, Block::new()), span)];
        self.primary(whole, &mut part);
        let build = &mut self.cx.build(span);
        let (number, all) = (build.var(ticket), build.var(parts));
        let is_some = build.binary(BinaryOp::Lt, number, all);
        out.push(Stmt::new(StmtKind::If(is_some, part, Block::new()), span));
        self.forget(me, count, parts, out);
        Ok(())
    }

    /// Which part the group gets.
    pub(super) fn ticket(&mut self, out: &mut Block) -> VarId {
        let span = self.span;
        let first = self.number("ticket", Space::Group, out);
        let mut take = Block::new();
        let value = intrinsic::ask(&mut self.cx.build(span), intrinsic::TICKET);
        self.cx.set(first, value, span, &mut take);
        self.primary(take, out);
        self.barrier(out);
        first
    }

    /// Variables of the group for what is before the next tile.
    pub(super) fn carries(&mut self, out: &mut Block) -> Vec<VarId> {
        let types: Vec<_> =
            self.scan.prefixes.iter().map(|it| self.cx.program.vars[it.copy].ty.plain()).collect();
        let span = self.span;
        types.iter().map(|it| self.cx.fresh("carry", *it, Space::Group, span, out)).collect()
    }

    /// Where groups leave what they give: the first word and the bytes of each prefix.
    pub(super) fn places(&mut self) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for prefix in &self.scan.prefixes {
            let size = size_of(self.cx.program, self.cx.program.vars[prefix.copy].ty);
            found.push((self.cx.kernel.launch.words, size));
            self.cx.kernel.launch.words += size.div_ceil(8);
        }
        found
    }

    /// What the group's iterations give, as the prefix of the last thread in `parts`.
    pub(super) fn sum_up(
        &mut self,
        room: &Room,
        range: (VarId, VarId),
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let prefixes = self.scan.prefixes.clone();
        let Crew { number: me, count } = self.scan.share.crew;
        let is_users = |it: &Prefix| matches!(it.op, ReductionOp::User(_));
        if prefixes.iter().any(is_users) {
            return self.sum_up_in_order(room, range, out);
        }
        // Those of the language may be combined in any order: neighbours stay side by side.
        let mut block = Block::new();
        let sums: Vec<VarId> = prefixes
            .iter()
            .map(|it| {
                let ty = self.cx.program.vars[it.copy].ty.plain();
                self.cx.fresh("sum", ty, Space::Private, span, &mut block)
            })
            .collect();
        for (prefix, sum) in prefixes.iter().zip(&sums) {
            let mut begin = vec![Stmt::new(StmtKind::Local(prefix.copy), span)];
            begin.extend(prefix.begin.iter().cloned());
            begin.push(self.copied(*sum, prefix.copy));
            block.push(Stmt::new(StmtKind::Block(begin), span));
        }
        let mut body = Block::new();
        for prefix in &prefixes {
            body.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            body.extend(prefix.begin.iter().cloned());
        }
        self.giving(&mut body)?;
        for (prefix, sum) in prefixes.iter().zip(&sums) {
            let mut join = vec![Stmt::new(StmtKind::Local(prefix.join.other), span)];
            join.push(self.copied(prefix.join.other, prefix.copy));
            join.push(self.copied(prefix.copy, *sum));
            join.extend(prefix.join.code.iter().cloned());
            join.push(self.copied(*sum, prefix.copy));
            body.push(Stmt::new(StmtKind::Block(join), span));
        }
        let number = self.scan.share.number;
        let build = &mut self.cx.build(span);
        let (begin, own) = (build.var(range.0), build.var(me));
        let first = build.binary(BinaryOp::Add, begin, own);
        let (end, by) = (build.var(range.1), build.var(count));
        self.counting(number, [first, end, by], body, &mut block);
        for (parts, sum) in room.parts.iter().zip(&sums) {
            let own = self.element(*parts, me);
            let build = &mut self.cx.build(span);
            let sum = build.var(*sum);
            let e = build.copy(own, sum);
            block.push(Stmt::new(StmtKind::Eval(e), span));
        }
        out.push(Stmt::new(StmtKind::Block(block), span));
        self.scan_parts(room, out);
        Ok(())
    }

    /// The same, in the order of iterations.
    pub(super) fn sum_up_in_order(
        &mut self,
        room: &Room,
        range: (VarId, VarId),
        out: &mut Block,
    ) -> Result<()> {
        let span = self.span;
        let count = self.scan.share.crew.count;
        let prefixes = self.scan.prefixes.clone();
        let sums = self.carries(out);
        let mut begin = Block::new();
        for (prefix, sum) in prefixes.iter().zip(&sums) {
            begin.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            begin.extend(prefix.begin.iter().cloned());
            begin.push(self.copied(*sum, prefix.copy));
        }
        self.primary(begin, out);
        let mut round = Block::new();
        let base = self.number("base", Space::Uniform, out);
        self.tile(room, base, range.1, &mut round)?;
        let mut add = Block::new();
        for ((prefix, sum), parts) in prefixes.iter().zip(&sums).zip(&room.parts) {
            let last = self.last_element(*parts, count);
            add.extend(self.joined(prefix, *sum, last));
        }
        self.primary(add, &mut round);
        self.barrier(&mut round);
        self.over_tiles(room, base, range, round, out);
        // As if it were the last tile alone.
        let mut all = Block::new();
        for (sum, parts) in sums.iter().zip(&room.parts) {
            let last = self.last_element(*parts, count);
            let build = &mut self.cx.build(span);
            let from = build.var(*sum);
            let e = build.copy(last, from);
            all.push(Stmt::new(StmtKind::Eval(e), span));
        }
        self.primary(all, out);
        self.barrier(out);
        Ok(())
    }

    /// The group tells what its part gives.
    pub(super) fn tell(
        &mut self,
        room: &Room,
        places: &[(u64, u64)],
        ticket: VarId,
        out: &mut Block,
    ) {
        let span = self.span;
        let count = self.scan.share.crew.count;
        let mut tell = Block::new();
        let copies: Vec<VarId> = self.scan.prefixes.iter().map(|it| it.copy).collect();
        for ((copy, (word, size)), own) in copies.iter().zip(places).zip(&room.parts) {
            tell.push(Stmt::new(StmtKind::Local(*copy), span));
            let last = self.last_element(*own, count);
            let build = &mut self.cx.build(span);
            let to = build.var(*copy);
            let take = build.copy(to, last);
            let (word, from) = (build.number(word.cast_signed()), build.var(*copy));
            let (from, place) = (build.address(from), build.var(ticket));
            let leave = intrinsic::leave(build, word, from, *size, place);
            tell.push(Stmt::new(StmtKind::Eval(take), span));
            tell.push(Stmt::new(StmtKind::Eval(leave), span));
        }
        let build = &mut self.cx.build(span);
        let place = build.var(ticket);
        let post = intrinsic::at_place(build, intrinsic::POST, place);
        tell.push(Stmt::new(StmtKind::Eval(post), span));
        self.primary(tell, out);
    }

    /// What the parts before this one give is combined with what was there.
    pub(super) fn look_back(
        &mut self,
        room: &Room,
        places: &[(u64, u64)],
        ticket: VarId,
        carries: &[VarId],
        out: &mut Block,
    ) {
        let span = self.span;
        let Crew { number: me, count } = self.scan.share.crew;
        let prefixes = self.scan.prefixes.clone();
        self.barrier(out);
        let mut block = Block::new();
        let [each, at, end] =
            ["each", "at", "end"].map(|it| self.number(it, Space::Private, &mut block));
        let build = &mut self.cx.build(span);
        let (all, by, one) = (build.var(ticket), build.var(count), build.number(1));
        let more = build.binary(BinaryOp::Add, all, by);
        let more = build.binary(BinaryOp::Sub, more, one);
        let value = build.binary(BinaryOp::Div, more, by);
        self.set(each, value, &mut block);
        for (var, far) in [(at, 0), (end, 1)] {
            let build = &mut self.cx.build(span);
            let (number, far, each, all) =
                (build.var(me), build.number(far), build.var(each), build.var(ticket));
            let number = build.binary(BinaryOp::Add, number, far);
            let value = build.binary(BinaryOp::Mul, number, each);
            let value = build.min(value, all);
            self.set(var, value, &mut block);
        }
        let mut round = Block::new();
        let build = &mut self.cx.build(span);
        let place = build.var(at);
        let wait = intrinsic::at_place(build, intrinsic::AWAIT, place);
        round.push(Stmt::new(StmtKind::Eval(wait), span));
        for (prefix, (word, size)) in prefixes.iter().zip(places) {
            block.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            block.extend(prefix.begin.iter().cloned());
            let build = &mut self.cx.build(span);
            let (word, to) = (build.number(word.cast_signed()), build.var(prefix.join.other));
            let (to, place) = (build.address(to), build.var(at));
            let take = intrinsic::take(build, word, to, *size, place);
            let mut join = vec![Stmt::new(StmtKind::Local(prefix.join.other), span)];
            join.push(Stmt::new(StmtKind::Eval(take), span));
            join.extend(prefix.join.code.iter().cloned());
            round.push(Stmt::new(StmtKind::Block(join), span));
        }
        let build = &mut self.cx.build(span);
        let (from, to) = (build.var(at), build.var(end));
        let condition = build.binary(BinaryOp::Lt, from, to);
        let step = build.increment(at);
        block.push(forever(Some(condition), Some(step), round, span));
        for (prefix, parts) in prefixes.iter().zip(&room.parts) {
            let own = self.element(*parts, me);
            let build = &mut self.cx.build(span);
            let copy = build.var(prefix.copy);
            let e = build.copy(own, copy);
            block.push(Stmt::new(StmtKind::Eval(e), span));
        }
        out.push(Stmt::new(StmtKind::Block(block), span));
        self.scan_parts(room, out);
        let mut add = Block::new();
        for ((prefix, parts), carry) in prefixes.iter().zip(&room.parts).zip(carries) {
            let last = self.last_element(*parts, count);
            add.extend(self.joined(prefix, *carry, last));
        }
        self.primary(add, out);
        self.barrier(out);
    }

    /// When all groups are done, the last makes the places ready for the next launch.
    pub(super) fn forget(&mut self, me: VarId, count: VarId, parts: VarId, out: &mut Block) {
        let span = self.span;
        let question = self.cx.kernel.launch.questions;
        self.cx.kernel.launch.questions += 1;
        let int = self.cx.build(span).int_type();
        let last = self.cx.fresh("last", int, Space::Group, span, out);
        let mut ask = Block::new();
        let answer = intrinsic::is_last(&mut self.cx.build(span), question);
        self.cx.set(last, answer, span, &mut ask);
        self.primary(ask, out);
        self.barrier(out);
        let mut block = Block::new();
        let at = self.number("at", Space::Private, &mut block);
        let build = &mut self.cx.build(span);
        let place = build.var(at);
        let forget = intrinsic::at_place(build, intrinsic::FORGET, place);
        let (first, all, by) = (build.var(me), build.var(parts), build.var(count));
        let body = vec![Stmt::new(StmtKind::Eval(forget), span)];
        self.counting(at, [first, all, by], body, &mut block);
        let is_last = self.cx.build(span).var(last);
        out.push(Stmt::new(StmtKind::If(is_last, block, Block::new()), span));
    }
}
