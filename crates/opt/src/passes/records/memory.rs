//! Elements of iterations in memory of their own: what is brought there, found there and brought back.

use ir::program::{BinaryOp, ExprId, Program, StmtId, StmtKind as C, VarId};
use ir::types::{IntKind, Ty, TypeKind};
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::super::nest::size_of;
use super::super::turns::{Turns, Work, declared, element, steps};
use super::super::{Cx, Result};
use super::place::{Extent, Own, Place, address_of};
use super::{LINE, MOST_LINES};

/// Bytes from one iteration's elements to the next at least: others are loaded in whole lines anyway.
const LEAST: i64 = 12;
/// Elements of an iteration at most.
const MOST: i64 = 64;

/// Elements that iterations have of their own, all of one type.
pub(super) struct Record {
    pub(super) root: VarId,
    pub(super) ty: Ty,
    pub(super) size: i64,
    /// Bytes from one iteration's to the next.
    pub(super) stride: i64,
    /// The first byte.
    pub(super) low: i64,
    /// Elements that are looked at, and those that are changed, each by its number.
    pub(super) looked: Vec<bool>,
    pub(super) changed: Vec<bool>,
    /// Where they are named.
    pub(super) places: Vec<(ExprId, Place)>,
}

impl Record {
    pub(super) fn of(program: &Program, all: &[&Own], extent: Extent) -> Option<Record> {
        let Extent { root, stride, low, high } = extent;
        let types = &program.types;
        let ty = types.resolve(program.exprs[all.first()?.access.expr].ty).plain();
        let is_alike = |it: &&Own| types.resolve(program.exprs[it.access.expr].ty).plain() == ty;
        let is_number =
            (types.is_integer(ty) || types.is_real_floating(ty)) && !types.is_complex(ty);
        let size = i64::try_from(size_of(program, ty)).ok()?;
        let count = (high - low) / size;
        let fits = stride % size == 0
            && all.iter().flat_map(|it| &it.offsets).all(|it| it % size == 0)
            && all.iter().flat_map(|it| &it.place.terms).all(|it| it.1 % size == 0);
        // Lines are brought for a good part of them.
        let is_worth = stride >= LEAST && count > 1 && (high - low) * 2 >= stride;
        let is_own = high - low <= stride && count <= MOST;
        (all.iter().all(is_alike) && is_number && matches!(size, 4 | 8)).then_some(())?;
        (fits && is_worth && is_own && program.model.align_of(types, ty).ok()? as i64 == size)
            .then_some(())?;
        let (mut looked, mut changed) = (vec![false; count as usize], vec![false; count as usize]);
        let mut certain = looked.clone();
        let number = |offset: i64| usize::try_from((offset - low) / size).ok();
        let mark = |marks: &mut [bool], offset: i64| {
            if let Some(it) = number(offset).and_then(|it| marks.get_mut(it)) {
                *it = true;
            }
        };
        for it in all {
            let is_certain = it.is_certain(program);
            for offset in &it.offsets {
                if it.is_changed && is_certain {
                    mark(&mut changed, *offset);
                }
                if !it.access.is_only_set && is_certain {
                    mark(&mut looked, *offset);
                }
                if is_certain {
                    mark(&mut certain, *offset);
                }
            }
        }
        // What only some iterations change would be changed by all, and what they look at by none.
        for it in all.iter().filter(|it| !it.is_certain(program)) {
            let has = |marks: &[bool], offset: i64| {
                number(offset).and_then(|it| marks.get(it)).copied().unwrap_or_default()
            };
            for offset in &it.offsets {
                let is_stored = !it.is_changed || has(&changed, *offset);
                let is_there = it.access.is_only_set || has(&certain, *offset);
                (is_stored && is_there).then_some(())?;
                if !it.access.is_only_set {
                    mark(&mut looked, *offset);
                }
            }
        }
        let places = all.iter().map(|it| (it.access.expr, it.place.clone())).collect();
        Some(Record { root, ty, size, stride, low, looked, changed, places })
    }

    pub(super) fn count(&self) -> i64 {
        self.looked.len() as i64
    }

    /// Elements from one iteration's to the next in the memory of the group: an odd number, so that they lie in all of its banks.
    pub(super) fn width(&self) -> i64 {
        self.count() | 1
    }

    pub(super) fn memory(&self, cx: &mut Cx<'_>, turns: &Turns) -> VarId {
        let build = &mut cx.build(turns.span);
        let ty = build.array_of(self.ty, u64::from(turns.owners) * self.width() as u64);
        build.fresh("staged", ty)
    }

    /// The threads of the group copy elements of some iterations that follow each other.
    fn copied(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        staged: &Staged<'_>,
        how: Copy,
    ) -> Result<StmtId> {
        let Copy { memory, is_back, is_whole } = how;
        let span = turns.span;
        let me = cx.kernel.threads.number;
        let marks = if is_back { &self.changed } else { &self.looked };
        let build = &mut cx.build(span);
        let int = build.program.types.get(TypeKind::Int(IntKind::UInt));
        let [part, number, inside] = ["part", "record", "element"].map(|it| build.fresh(it, int));
        let count = build.int(self.count(), int);
        let at = build.var(part);
        let quotient = build.binary(BinaryOp::Div, at, count);
        let rest = build.binary(BinaryOp::Rem, at, count);
        let mut list = vec![declared(build, number, quotient), declared(build, inside, rest)];
        let (record, within) = (build.var(number), build.var(inside));
        let width = build.int(self.width(), int);
        let here = build.binary(BinaryOp::Mul, record, width);
        let here = build.binary(BinaryOp::Add, here, within);
        let memory = build.var(memory);
        let here = element(cx, memory, here, span)?;
        let there = self.element_of(cx, turns, staged, [at, record, within])?;
        let build = &mut cx.build(span);
        let copy = if is_back { build.assign(there, here) } else { build.assign(here, there) };
        let mut copy = build.stmt(C::Expr(copy));
        if marks.contains(&false) {
            let bits =
                marks.iter().enumerate().fold(0_i64, |all, (at, it)| all | i64::from(*it) << at);
            let (bits, within) = (build.number(bits), build.as_number(within));
            let bit = build.binary(BinaryOp::Shr, bits, within);
            let one = build.number(1);
            let is_one = build.binary(BinaryOp::BitAnd, bit, one);
            copy = build.stmt(C::If(is_one, copy, None));
        }
        list.push(copy);
        let body = build.stmt(C::Block(list.into()));
        let me = build.var(me);
        let from = build.cast(me, int);
        let end = match is_whole {
            true => build.int(self.count() * i64::from(turns.owners), int),
            false => {
                let there = build.var(staged.there);
                let there = build.cast(there, int);
                build.binary(BinaryOp::Mul, there, count)
            }
        };
        let unroll =
            if is_whole { self.count() as u32 / turns.threads.div_ceil(turns.owners) } else { 1 };
        Ok(steps(build, part, [from, end], turns.threads, unroll.clamp(1, 16), body))
    }

    /// An element of the group's iterations, by its number among all, and by that of the iteration and its own there.
    fn element_of(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        staged: &Staged<'_>,
        [number, record, within]: [ExprId; 3],
    ) -> Result<ExprId> {
        let span = turns.span;
        // Elements of neighbours follow each other where there is nothing between them.
        let is_dense = self.stride / self.size == self.count();
        let build = &mut cx.build(span);
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let (begin, first) = (build.var(staged.begin), build.var(turns.first));
        let (begin, first) = (build.cast(begin, long), build.cast(first, long));
        let mut first = build.binary(BinaryOp::Add, begin, first);
        if !is_dense {
            let record = build.cast(record, long);
            first = build.binary(BinaryOp::Add, first, record);
        }
        let rest = build.cast(if is_dense { number } else { within }, long);
        self.element_at(cx, first, rest, span)
    }

    /// An element so far behind the first of an iteration, by the value of the loop's variable.
    pub(super) fn element_at(
        &self,
        cx: &mut Cx<'_>,
        value: ExprId,
        number: ExprId,
        span: Span,
    ) -> Result<ExprId> {
        let build = &mut cx.build(span);
        let pointer = build.program.types.pointer_to(self.ty);
        let root = address_of(build, self.root);
        let root = build.cast(root, pointer);
        let long = build.type_of(value);
        let (each, low) = (self.stride / self.size, self.low / self.size);
        let (each, low) = (build.int(each, long), build.int(low, long));
        let at = build.binary(BinaryOp::Mul, value, each);
        let at = build.binary(BinaryOp::Add, at, low);
        let at = build.binary(BinaryOp::Add, at, number);
        element(cx, root, at, span)
    }

    /// Where elements of the first iteration begin.
    pub(super) fn address(&self, cx: &mut Cx<'_>, begin: VarId, span: Span) -> ExprId {
        let build = &mut cx.build(span);
        let root = address_of(build, self.root);
        let (root, begin) = (build.as_number(root), build.var(begin));
        let begin = build.as_number(begin);
        let (stride, low) = (build.number(self.stride), build.number(self.low));
        let far = build.binary(BinaryOp::Mul, begin, stride);
        let at = build.binary(BinaryOp::Add, root, far);
        build.binary(BinaryOp::Add, at, low)
    }

    /// The same with whole lines for each iteration, if that looks at nothing that may not be there.
    pub(super) fn in_lines(&self, program: &Program) -> Option<Record> {
        let ty = program.vars[self.root].ty;
        let whole = program.types.element(ty).or_else(|| program.types.pointee(ty))?;
        // All of an object is there if a part of it is.
        let is_object = i64::try_from(size_of(program, whole)) == Ok(self.stride);
        let end = self.low + self.count() * self.size;
        let (low, high) = match is_object && self.low >= 0 && end <= self.stride {
            true => (self.low / LINE * LINE, (end + LINE - 1) / LINE * LINE),
            false => (self.low, end),
        };
        let fits = self.stride % LINE == 0 && (high - low) % LINE == 0;
        (fits && high - low <= MOST_LINES * LINE).then_some(())?;
        let [before, behind] = [self.low - low, high - end].map(|it| (it / self.size) as usize);
        let wider = |marks: &[bool]| {
            let around = |count| std::iter::repeat_n(false, count);
            around(before).chain(marks.iter().copied()).chain(around(behind)).collect()
        };
        let (looked, changed) = (wider(&self.looked), wider(&self.changed));
        let places = self.places.clone();
        Some(Record { low, looked, changed, places, ..*self })
    }

    /// Which element of memory that has all of an iteration a place is.
    pub(super) fn index(
        &self,
        build: &mut Builder<'_>,
        place: &Place,
        first: Option<ExprId>,
    ) -> ExprId {
        let int = build.int_type();
        let far = build.int((place.at - self.low) / self.size, int);
        let mut at = match first {
            Some(first) => build.binary(BinaryOp::Add, first, far),
            None => far,
        };
        for (var, times) in &place.terms {
            let (var, times) = (build.var(*var), build.int(times / self.size, int));
            let var = build.cast(var, int);
            let far = build.binary(BinaryOp::Mul, var, times);
            at = build.binary(BinaryOp::Add, at, far);
        }
        at
    }

    /// An element of the thread's own iteration, in the memory of the group.
    fn own(&self, cx: &mut Cx<'_>, memory: VarId, place: &Place, span: Span) -> Result<ExprId> {
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(span);
        let int = build.int_type();
        let me = build.var(me);
        let (me, width) = (build.cast(me, int), build.int(self.width(), int));
        let first = build.binary(BinaryOp::Mul, me, width);
        let at = self.index(build, place, Some(first));
        let memory = build.var(memory);
        element(cx, memory, at, span)
    }
}

/// How elements are copied.
#[derive(Clone, Copy)]
struct Copy {
    memory: VarId,
    /// From the memory of the group.
    is_back: bool,
    /// All iterations of the group are there.
    is_whole: bool,
}

/// Groups bring the elements of their iterations to their memory, and what was changed back.
pub(super) struct Staged<'a> {
    pub(super) records: &'a [Record],
    /// What an iteration does.
    pub(super) code: StmtId,
    /// The memory of the group for each record.
    pub(super) memory: Vec<VarId>,
    /// How many iterations the group has in this turn.
    pub(super) there: VarId,
    /// The first value of the loop's variable.
    pub(super) begin: VarId,
    /// Whether it may be done so.
    pub(super) fits: ExprId,
}

impl Staged<'_> {
    fn copies(&self, cx: &mut Cx<'_>, turns: &Turns, is_back: bool, out: &mut Block) -> Result<()> {
        let span = turns.span;
        for (record, memory) in self.records.iter().zip(&self.memory) {
            let marks = if is_back { &record.changed } else { &record.looked };
            if !marks.contains(&true) {
                continue;
            }
            let mut code = |is_whole| {
                let how = Copy { memory: *memory, is_back, is_whole };
                let made = record.copied(cx, turns, self, how)?;
                Ok(vec![Stmt::new(StmtKind::Code(made), span)])
            };
            let (whole, part) = (code(true)?, code(false)?);
            let build = &mut cx.build(span);
            let (there, all) = (build.var(self.there), build.number(i64::from(turns.owners)));
            let is_whole = build.binary(BinaryOp::Eq, there, all);
            out.push(Stmt::new(StmtKind::If(is_whole, whole, part), span));
        }
        Ok(())
    }
}

impl Work for Staged<'_> {
    fn variables(&self) -> Vec<(VarId, Space)> {
        let memory = self.memory.iter().map(|it| (*it, Space::Group));
        [(self.there, Space::Uniform)].into_iter().chain(memory).collect()
    }

    fn condition(&self, _: &mut Cx<'_>) -> Option<ExprId> {
        Some(self.fits)
    }

    fn begin(&mut self, _: &mut Cx<'_>, _: &Turns, _: &mut Block) -> Result<()> {
        Ok(())
    }

    fn together(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()> {
        let span = turns.span;
        let build = &mut cx.build(span);
        let (all, first) = (build.var(turns.total), build.var(turns.first));
        let most = build.number(i64::from(turns.owners));
        let left = build.binary(BinaryOp::Sub, all, first);
        let value = build.min(left, most);
        cx.set(self.there, value, span, out);
        self.copies(cx, turns, false, out)?;
        out.push(Stmt::new(StmtKind::Barrier, span));
        let mut places = FxHashMap::default();
        for (record, memory) in self.records.iter().zip(&self.memory) {
            for (e, place) in &record.places {
                places.insert(*e, record.own(cx, *memory, place, span)?);
            }
        }
        let code = Copier { places, ..Copier::new(cx.program) }.stmt(self.code);
        let is_mine = turns.is_mine(cx);
        let code = vec![Stmt::new(StmtKind::Code(code), span)];
        out.push(Stmt::new(StmtKind::If(is_mine, code, Block::new()), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
        if self.records.iter().any(|it| it.changed.contains(&true)) {
            self.copies(cx, turns, true, out)?;
            out.push(Stmt::new(StmtKind::Barrier, span));
        }
        Ok(())
    }
}
