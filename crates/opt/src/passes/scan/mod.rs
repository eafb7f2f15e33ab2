//! `scan`: prefixes over iterations.
//!
//! Threads go through the iterations in tiles: they run the half that gives, neighbours side by side, and leave what it
//! gave in memory of the group; each combines some that follow each other, all compute the prefixes of that in as many
//! steps as the number of threads has bits, and each goes through its own again; then they run the half that finds the
//! prefix. Where there is no room for that, and on targets whose groups cannot tell each other anything (PoCL takes half a
//! minute for the code, and loses stores in it), a tile has one iteration for each thread, and one combines what they give.
//!
//! If one team does nothing else in the kernel and the half that gives can be run twice, all groups take part. Each gets
//! the next part of the iterations when it begins, sums it up and tells the others; it waits for what the parts before
//! it have given, each of which has begun before, and then goes through its own. No order of groups is assumed.

mod league;
mod tiles;

use ir::program::{BinaryOp, ExprId, ExprKind, VarId};
use ir::walk::Part;
use kernel::{Block, Crew, Loop, LoopKind, Prefix, Scan, Space, Stmt, StmtKind, Teams, Who};
use source::Span;

use super::flatten::asks_for_several;
use super::nest::{Quiet, size_of};
use super::numbering::{Nest, Sharing, forever};
use super::workshare::leaves_iteration;
use super::{Cx, Result, rewrite};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let is_league = cx.groups.posts > 0
        && asks_for_several(cx.program, cx.kernel.region)
        && is_all(cx, &cx.kernel.body)
        && has_places(cx);
    let mut body = std::mem::take(&mut cx.kernel.body);
    let mut is_spread = false;
    body = rewrite(body, &mut |stmt, out| match stmt.kind {
        StmtKind::Scan(scan) => {
            let span = stmt.span;
            let mut block = Block::new();
            let mut scanning = Scanning::new(cx, *scan, span, &mut block)?;
            match scanning.room(&mut block) {
                Some(room) if is_league => {
                    is_spread = true;
                    scanning.league(&room, &mut block)?;
                }
                Some(room) => scanning.team(&room, &mut block)?,
                None => scanning.rounds(&mut block)?,
            }
            out.push(Stmt::new(StmtKind::Block(block), span));
            Ok(())
        }
        kind => {
            out.push(Stmt::new(kind, stmt.span));
            Ok(())
        }
    })?;
    if is_spread {
        let span = cx.kernel.span;
        let (number, count) = {
            let build = &mut cx.build(span);
            (build.fresh_number("team"), build.fresh_number("teams"))
        };
        cx.kernel.spaces.extend([(number, Space::Uniform), (count, Space::Uniform)]);
        let crew = Crew { number, count };
        let teams = Teams { crew, teams: None, limit: None, body };
        body = vec![Stmt::new(StmtKind::Teams(Box::new(teams)), span)];
        let note = "all groups compute its prefixes, each those of a part";
        cx.kernel.launch.notes.push(note.to_owned());
    }
    cx.kernel.body = body;
    Ok(())
}

/// Whether a scan is all that is done besides giving variables of the kernel values that are the same in every group, and
/// what gives can be run twice.
fn is_all(cx: &Cx<'_>, block: &Block) -> bool {
    let Some((last, before)) = block.split_last() else { return false };
    if !before.iter().all(|it| is_repeatable(cx, it)) {
        return false;
    }
    match &last.kind {
        StmtKind::Block(inner) => is_all(cx, inner),
        StmtKind::Parallel(it) => {
            let asked = it.threads.into_iter();
            it.condition.is_none()
                && asked.into_iter().all(|it| is_steady(cx, it))
                && is_all(cx, &it.body)
        }
        StmtKind::Scan(it) => {
            let dims = it.share.dims.iter();
            let mut bounds =
                dims.flat_map(|it| [Some(it.begin), Some(it.bound), it.step]).flatten();
            let begins = it.prefixes.iter().flat_map(|it| &it.begin);
            bounds.all(|it| is_steady(cx, it))
                && it.share.body.iter().chain(begins).all(|it| is_quiet(cx, it))
        }
        _ => false,
    }
}

/// Whether a statement only gives variables of the kernel values, which are the same whenever it runs.
fn is_repeatable(cx: &Cx<'_>, stmt: &Stmt) -> bool {
    let reads_steady = |part| {
        let (uses, declared) = kernel::walk::uses(cx.program, part);
        let mut named = uses.iter().filter(|it| !declared.contains(&it.var));
        named.all(|it| is_own(cx, it.var) || is_given(cx, it.var))
            && !cx
                .program
                .any_expr(part, |it| matches!(it, ExprKind::Index(..) | ExprKind::Deref(_)))
    };
    is_quiet(cx, stmt)
        && match &stmt.kind {
            StmtKind::Local(_) => true,
            StmtKind::Eval(e) => reads_steady(Part::Expr(*e)),
            StmtKind::Code(code) => reads_steady(Part::Stmt(*code)),
            _ => false,
        }
}

/// Whether a value is the same in every group.
fn is_steady(cx: &Cx<'_>, e: ExprId) -> bool {
    let named = kernel::walk::uses(cx.program, Part::Expr(e)).0;
    let loads =
        |it: &ExprKind| matches!(it, ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Call(..));
    named.iter().all(|it| is_own(cx, it.var) || is_given(cx, it.var))
        && !cx.program.any_expr(Part::Expr(e), loads)
}

/// Whether a variable is one of the kernel's.
fn is_own(cx: &Cx<'_>, var: VarId) -> bool {
    cx.kernel.space(var).is_some()
}

/// Whether a variable from outside keeps its value.
fn is_given(cx: &Cx<'_>, var: VarId) -> bool {
    let mut vars = cx.program.regions[cx.kernel.region].vars.iter();
    vars.any(|it| it.var == var && !it.written) && !cx.program.vars[var].ty.quals.is_volatile
}

/// Whether a statement sets nothing but variables of the kernel and its own.
fn is_quiet(cx: &Cx<'_>, stmt: &Stmt) -> bool {
    let mut quiet = Quiet::with_parts(cx.program);
    let mut is_so = |part| {
        let (_, declared) = kernel::walk::uses(cx.program, part);
        let set = quiet.set(part, false);
        set.is_some_and(|it| it.iter().all(|it| is_own(cx, *it) || declared.contains(it)))
    };
    kernel::walk::all(&vec![stmt.clone()]).into_iter().all(|stmt| match &stmt.kind {
        StmtKind::Code(code) => is_so(Part::Stmt(*code)),
        StmtKind::Local(_)
        | StmtKind::Eval(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Loop(_)
        | StmtKind::Break
        | StmtKind::Continue => stmt.kind.exprs().into_iter().all(|it| is_so(Part::Expr(it))),
        _ => false,
    })
}

/// Whether groups can leave what they give in memory of the launch.
fn has_places(cx: &Cx<'_>) -> bool {
    let all = kernel::walk::all(&cx.kernel.body);
    let scans = all.iter().filter_map(|it| match &it.kind {
        StmtKind::Scan(it) => Some(it),
        _ => None,
    });
    let prefixes = scans.flat_map(|it| &it.prefixes);
    let words = prefixes.map(|it| size_of(cx.program, cx.program.vars[it.copy].ty).div_ceil(8));
    let words = words.fold(cx.kernel.launch.words, u64::saturating_add);
    words <= cx.groups.words && cx.kernel.launch.questions < cx.groups.questions
}

/// Memory of the group for what is given.
struct Room {
    /// Iterations that each thread has of a tile.
    each: u64,
    /// What iterations of a tile give, for each prefix.
    slots: Vec<VarId>,
    /// What threads have, for each prefix.
    parts: Vec<VarId>,
}

/// One scan.
struct Scanning<'a, 'p> {
    cx: &'a mut Cx<'p>,
    scan: Scan,
    span: Span,
    nest: Nest,
    /// How many iterations there are: the same in all threads.
    total: VarId,
}

impl<'a, 'p> Scanning<'a, 'p> {
    fn new(cx: &'a mut Cx<'p>, scan: Scan, span: Span, out: &mut Block) -> Result<Self> {
        let counted = cx.number("counted", Space::Private, span, out);
        let nest =
            Sharing { cx, span, space: Space::Private }.nest(&scan.share.dims, counted, out)?;
        let total = told(cx, counted, span, out);
        Ok(Scanning { cx, scan, span, nest, total })
    }

    /// Memory for tiles, as large as there is room for.
    fn room(&mut self, out: &mut Block) -> Option<Room> {
        let (span, most) = (self.span, self.cx.groups.most_threads);
        if self.cx.groups.posts == 0 {
            return None;
        }
        let sizes = self
            .scan
            .prefixes
            .iter()
            .map(|it| size_of(self.cx.program, self.cx.program.vars[it.copy].ty));
        let size = sizes.fold(0, u64::saturating_add);
        let of_groups = self.cx.kernel.spaces.iter().filter(|it| it.1 == Space::Group);
        let taken = of_groups.map(|it| size_of(self.cx.program, self.cx.program.vars[it.0].ty));
        let taken = taken.fold(0, u64::saturating_add);
        // Half of what is left is for others.
        let left = self.cx.groups.memory.saturating_sub(taken) / 2;
        // Odd numbers, so that threads find theirs in different banks.
        let fits = |each: &u64| size.saturating_mul(most).saturating_mul(each + 1) <= left;
        let each = [9, 7, 5, 3, 1].into_iter().find(fits)?;
        let mut room = Room { each, slots: Vec::new(), parts: Vec::new() };
        let copies: Vec<VarId> = self.scan.prefixes.iter().map(|it| it.copy).collect();
        for copy in copies {
            let ty = self.cx.program.vars[copy].ty.plain();
            let build = &mut self.cx.build(span);
            let (slots, parts) = (build.array_of(ty, most * each), build.array_of(ty, most));
            room.slots.push(self.cx.fresh("slots", slots, Space::Group, span, out));
            room.parts.push(self.cx.fresh("parts", parts, Space::Group, span, out));
        }
        Some(room)
    }

    /// The half of an iteration that gives, whose number is known.
    fn giving(&mut self, out: &mut Block) -> Result<()> {
        let (span, number) = (self.span, self.scan.share.number);
        Sharing { cx: self.cx, span, space: Space::Private }.place(&self.nest, number, out)?;
        let half = self.scan.share.body.clone();
        self.half(half, out);
        Ok(())
    }

    /// A half of an iteration. What leaves it leaves a loop of one round.
    fn half(&mut self, half: Block, out: &mut Block) {
        let span = self.span;
        if !half.iter().any(leaves_iteration) {
            return out.push(Stmt::new(StmtKind::Block(half), span));
        }
        let build = &mut self.cx.build(span);
        let int = build.int_type();
        let never = build.int(0, int);
        let once = Loop { kind: LoopKind::After, condition: Some(never), step: None, body: half };
        out.push(Stmt::new(StmtKind::Loop(Box::new(once)), span));
    }

    /// Runs code if the iteration is one before the end.
    fn if_some(&mut self, end: VarId, body: Block, out: &mut Block) {
        let number = self.scan.share.number;
        let build = &mut self.cx.build(self.span);
        let (at, end) = (build.var(number), build.var(end));
        let is_some = build.binary(BinaryOp::Lt, at, end);
        out.push(Stmt::new(StmtKind::If(is_some, body, Block::new()), self.span));
    }

    /// `copy = copy ⊕ value`
    fn join_with(&mut self, prefix: &Prefix, value: ExprId) -> Block {
        let span = self.span;
        let build = &mut self.cx.build(span);
        let other = build.var(prefix.join.other);
        let take = build.copy(other, value);
        let mut out = vec![Stmt::new(StmtKind::Local(prefix.join.other), span)];
        out.push(Stmt::new(StmtKind::Eval(take), span));
        out.extend(prefix.join.code.iter().cloned());
        vec![Stmt::new(StmtKind::Block(out), span)]
    }

    /// `to = to ⊕ value`
    fn joined(&mut self, prefix: &Prefix, to: VarId, value: ExprId) -> Block {
        let span = self.span;
        let mut out = vec![Stmt::new(StmtKind::Local(prefix.copy), span)];
        out.push(self.copied(prefix.copy, to));
        out.extend(self.join_with(prefix, value));
        out.push(self.copied(to, prefix.copy));
        vec![Stmt::new(StmtKind::Block(out), span)]
    }

    /// `to = from`
    fn copied(&mut self, to: VarId, from: VarId) -> Stmt {
        let build = &mut self.cx.build(self.span);
        let (to, from) = (build.var(to), build.var(from));
        let e = build.copy(to, from);
        Stmt::new(StmtKind::Eval(e), self.span)
    }

    fn element(&mut self, array: VarId, at: VarId) -> ExprId {
        let at = self.cx.build(self.span).var(at);
        self.element_at(array, at)
    }

    fn element_at(&mut self, array: VarId, at: ExprId) -> ExprId {
        let types = &self.cx.program.types;
        let ty = self.cx.program.vars[array].ty;
        let element = types.element(ty).unwrap_or(ty);
        let build = &mut self.cx.build(self.span);
        let array = build.var(array);
        build.expr(ExprKind::Index(array, at), element)
    }

    /// The element of the last thread.
    fn last_element(&mut self, array: VarId, count: VarId) -> ExprId {
        let build = &mut self.cx.build(self.span);
        let (all, one) = (build.var(count), build.number(1));
        let last = build.binary(BinaryOp::Sub, all, one);
        self.element_at(array, last)
    }

    /// `for (at = begin; at < end; at += by) body`
    fn counting(&mut self, at: VarId, [begin, end, by]: [ExprId; 3], body: Block, out: &mut Block) {
        self.set(at, begin, out);
        let build = &mut self.cx.build(self.span);
        let here = build.var(at);
        let condition = build.binary(BinaryOp::Lt, here, end);
        let next = build.binary(BinaryOp::Add, here, by);
        let step = build.set(at, next);
        out.push(forever(Some(condition), Some(step), body, self.span));
    }

    fn number(&mut self, like: &str, space: Space, out: &mut Block) -> VarId {
        self.cx.number(like, space, self.span, out)
    }

    fn set(&mut self, var: VarId, value: ExprId, out: &mut Block) {
        self.cx.set(var, value, self.span, out);
    }

    fn set_to(&mut self, var: VarId, value: i64, out: &mut Block) {
        let value = self.cx.build(self.span).number(value);
        self.set(var, value, out);
    }

    fn primary(&self, body: Block, out: &mut Block) {
        out.push(Stmt::new(StmtKind::On(Who::Primary, body), self.span));
    }

    fn barrier(&self, out: &mut Block) {
        out.push(Stmt::new(StmtKind::Barrier, self.span));
    }
}

/// What the first thread has counted, told to all.
fn told(cx: &mut Cx<'_>, counted: VarId, span: Span, out: &mut Block) -> VarId {
    let shared = cx.number("all", Space::Group, span, out);
    let total = cx.number("total", Space::Uniform, span, out);
    let value = cx.build(span).var(counted);
    let mut tell = Block::new();
    cx.set(shared, value, span, &mut tell);
    out.push(Stmt::new(StmtKind::On(Who::Primary, tell), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    let value = cx.build(span).var(shared);
    cx.set(total, value, span, out);
    total
}
