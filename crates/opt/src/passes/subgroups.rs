//! `subgroups`: where there are many teams with little to share, each is a subgroup of threads, and a group runs several.
//!
//! In: a league that shares a loop, whose iterations are code of the team, loops for its threads and what they combine for
//! it: the rows of a softmax, of a normalisation, of a sparse matrix. Out: the same, and beside it code in which a group
//! takes as many iterations at a time as it has subgroups. What is the team's own each of its threads has for itself, all
//! the same: all compute it, what is combined comes to them through registers, and memory is written by the first. Threads
//! wait for each other only where one may look at memory that another writes. Which of both runs is decided by how many
//! iterations there are.
//!
//! Only if nobody can tell who runs an iteration, as [`super::flatten`] asks too.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, VarId};
use ir::region::{Attribute, Mapping, RegionVar};
use ir::types::Ty;
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::{self, How};
use kernel::{
    Block, Crew, Dim, Kernel, Loop, LoopKind, Parallel, Reduce, Schedule, Share, Shuffle, Space,
    Stmt, StmtKind, Teams,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::flatten::{asks_for_several, names_any};
use super::nest::{Quiet, is_known};
use super::numbering::{Nest, Sharing};
use super::{Cx, Result};

/// Rounds of a loop for threads, at most, that are few for a subgroup.
const FEW_ROUNDS: i64 = 16;
/// A device is busy with this part of the iterations that keep it busy one by one.
const BUSY: u32 = 256;
/// If subgroups take this many iterations in a row, or more, it makes little that some take one less.
const EVEN: i64 = 4;

/// What reports say of it.
const NOTE: &str = "subgroups of threads are teams where there are many";

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let lanes = cx.groups.exchange();
    if cx.kernel.all.is_some() || lanes < 2 || !asks_for_several(cx.program, cx.kernel.region) {
        return Ok(());
    }
    let Some((teams, span)) = only_teams(&cx.kernel.body) else { return Ok(()) };
    let teams = teams.clone();
    let kernel = cx.kernel.clone();
    match Rows::find(&teams).and_then(|rows| made(cx, &teams, &rows, lanes, span)) {
        Some(body) => {
            if let Some(teams) = only_teams_mut(&mut cx.kernel.body) {
                teams.body = body;
            }
            cx.kernel.launch.notes.push(NOTE.to_owned());
        }
        None => *cx.kernel = kernel,
    }
    Ok(())
}

/// The league, if there is nothing beside it.
fn only_teams(block: &Block) -> Option<(&Teams, Span)> {
    let mut found = None;
    for stmt in block {
        match &stmt.kind {
            StmtKind::Local(_) => {}
            _ if found.is_some() => return None,
            StmtKind::Block(inner) => found = Some(only_teams(inner)?),
            StmtKind::Teams(it) => found = Some((it.as_ref(), stmt.span)),
            _ => return None,
        }
    }
    found
}

fn only_teams_mut(block: &mut Block) -> Option<&mut Teams> {
    block.iter_mut().find_map(|stmt| match &mut stmt.kind {
        StmtKind::Block(inner) => only_teams_mut(inner),
        StmtKind::Teams(it) => Some(it.as_mut()),
        _ => None,
    })
}

/// The iterations that teams share.
struct Rows<'a> {
    share: &'a Share,
    /// Variables that are declared around them.
    around: Vec<VarId>,
}

impl<'a> Rows<'a> {
    /// Nothing if there is anything else, or if iterations are more than code by a number.
    fn find(teams: &'a Teams) -> Option<Rows<'a>> {
        let mut around = Vec::new();
        let mut block = &teams.body;
        loop {
            let mut inner = None;
            for stmt in block {
                match &stmt.kind {
                    StmtKind::Local(var) => around.push(*var),
                    _ if inner.is_some() => return None,
                    StmtKind::Block(_) | StmtKind::Share(_) => inner = Some(&stmt.kind),
                    _ => return None,
                }
            }
            match inner? {
                StmtKind::Block(inside) => block = inside,
                StmtKind::Share(it) => {
                    let is_plain = is_plain(it) && it.crew == teams.crew;
                    let is_even = it.dims.iter().all(|it| it.rectangular);
                    return (is_plain && is_even).then_some(Rows { share: it, around });
                }
                _ => return None,
            }
        }
    }
}

/// Whether nothing depends on the order of a loop or on its last iteration.
fn is_plain(share: &Share) -> bool {
    let is_whole = share.within.is_none() && share.pieces.is_none();
    is_whole && !share.ordered && share.last.is_empty()
}

/// What teams do: both forms, and the choice between them.
fn made(cx: &mut Cx<'_>, teams: &Teams, rows: &Rows<'_>, lanes: u64, span: Span) -> Option<Block> {
    let mut out = Block::new();
    let [wide, total] =
        ["subgroups", "total"].map(|it| cx.number(it, Space::Uniform, span, &mut out));
    let mut form = Form {
        lanes,
        span,
        crew: lane_crew(cx, span),
        is_mine: flag(cx, "is_mine", span),
        vars: FxHashMap::default(),
        own: FxHashSet::default(),
        loops: Vec::new(),
        has_sums: false,
        read: false,
        written: false,
        cx,
    };
    let mut inside = Block::new();
    for var in &rows.around {
        form.declare(*var, &mut inside)?;
    }
    // Nobody looks at who runs an iteration.
    let crews = [form.cx.kernel.threads, form.cx.kernel.groups, teams.crew];
    let counts = walk::all(&rows.share.body).into_iter().filter_map(|it| match &it.kind {
        StmtKind::Parallel(it) => Some(it.crew.count),
        _ => None,
    });
    let gone = crews.iter().flat_map(|it| it.vars()).chain(counts).collect();
    if asks(form.cx, &rows.share.body, &gone) {
        return None;
    }
    let dims: Vec<Dim> = rows.share.dims.iter().map(|it| form.dim(it)).collect();
    let counted = Sharing { cx: form.cx, span, space: Space::Uniform };
    let nest = { counted }.nest(&dims, total, &mut out).ok()?;
    let Nest::Even(_) = nest else { return None };
    let mut row = Block::new();
    form.team(&rows.share.body, &mut row)?;
    let Form { crew, is_mine, vars, loops, has_sums, cx, .. } = form;
    // Teams whose threads share nothing have no use for others.
    if loops.is_empty() {
        return None;
    }
    let longest = longest(cx, &loops, span, &mut out)?;
    let choice = choice(cx, (lanes, wide, total, longest), teams.crew, span, &mut out);
    let number = *vars.get(&rows.share.number)?;
    let (me, threads) = (cx.kernel.threads.number, cx.kernel.threads.count);
    // Who I am, once; then as many iterations at a time as there are subgroups.
    let mut body = Block::new();
    for (var, space) in [(crew.number, Space::Private), (crew.count, Space::Uniform)] {
        cx.kernel.spaces.push((var, space));
        body.push(Stmt::new(StmtKind::Local(var), span));
    }
    let mine = cx.number("subgroup", Space::Private, span, &mut body);
    let first = cx.number("first", Space::Uniform, span, &mut body);
    let build = &mut cx.build(span);
    let (thread, width) = (build.var(me), build.number(lanes.cast_signed()));
    let lane = build.binary(BinaryOp::Rem, thread, width);
    let subgroup = build.binary(BinaryOp::Div, thread, width);
    let (team, each) = (build.var(teams.crew.number), build.var(wide));
    let begin = build.binary(BinaryOp::Mul, team, each);
    cx.set(crew.number, lane, span, &mut body);
    cx.set(crew.count, width, span, &mut body);
    cx.set(mine, subgroup, span, &mut body);
    cx.set(first, begin, span, &mut body);
    let mut turn = inside;
    turn.push(Stmt::new(StmtKind::Local(is_mine), span));
    cx.kernel.spaces.push((is_mine, Space::Private));
    let build = &mut cx.build(span);
    let (from, far, all) = (build.var(first), build.var(mine), build.var(total));
    let at = build.binary(BinaryOp::Add, from, far);
    cx.set(number, at, span, &mut turn);
    let build = &mut cx.build(span);
    let at = build.var(number);
    let is_there = build.binary(BinaryOp::Lt, at, all);
    cx.set(is_mine, is_there, span, &mut turn);
    let mut placed = Block::new();
    let sharing = Sharing { cx, span, space: Space::Private };
    { sharing }.place(&nest, number, &mut placed).ok()?;
    let is_there = cx.build(span).var(is_mine);
    turn.push(Stmt::new(StmtKind::If(is_there, placed, Block::new()), span));
    turn.extend(row);
    let build = &mut cx.build(span);
    let (count, each) = (build.var(teams.crew.count), build.var(wide));
    let by = build.binary(BinaryOp::Mul, count, each);
    let next = build.binary(BinaryOp::Add, from, by);
    let step = Some(build.set(first, next));
    let condition = Some(build.binary(BinaryOp::Lt, from, all));
    let turns = Loop { kind: LoopKind::Before, condition, step, body: turn };
    body.push(Stmt::new(StmtKind::Loop(Box::new(turns)), span));
    let count = cx.build(span).fresh_number("threads");
    cx.kernel.spaces.push((count, Space::Uniform));
    let parallel = Parallel {
        crew: Crew { number: me, count },
        threads: None,
        condition: None,
        limit: None,
        body,
    };
    if has_sums {
        cx.kernel.launch.summing.push(crew);
    }
    let build = &mut cx.build(span);
    let (all, width) = (build.var(threads), build.number(lanes.cast_signed()));
    let several = build.binary(BinaryOp::Div, all, width);
    let mut decided = Block::new();
    cx.set(wide, several, span, &mut decided);
    let several = vec![Stmt::new(StmtKind::Parallel(Box::new(parallel)), span)];
    let either = StmtKind::If(choice, several, teams.body.clone());
    out.push(Stmt::new(either, span));
    // Variables first, then how many subgroups there are, which all the rest is made of.
    let at = out.iter().position(|it| !matches!(it.kind, StmtKind::Local(_))).unwrap_or(out.len());
    out.splice(at..at, decided);
    Some(out)
}

fn flag(cx: &mut Cx<'_>, name: &str, span: Span) -> VarId {
    let build = &mut cx.build(span);
    let int = build.int_type();
    build.fresh(name, int)
}

fn lane_crew(cx: &mut Cx<'_>, span: Span) -> Crew {
    let build = &mut cx.build(span);
    Crew { number: build.fresh_number("lane"), count: build.fresh_number("lanes") }
}

/// Whether code names one of some variables, or has loops of other crews in it.
fn asks(cx: &Cx<'_>, block: &Block, gone: &FxHashSet<VarId>) -> bool {
    // A parallel region and what is in it name its crew themselves.
    let mut code = block.clone();
    strip(&mut code);
    names_any(cx, &code, gone)
}

/// Takes the crews out of what is shared and combined.
fn strip(block: &mut Block) {
    for stmt in block.iter_mut() {
        match &mut stmt.kind {
            StmtKind::Parallel(it) => {
                let mut body = std::mem::take(&mut it.body);
                strip(&mut body);
                stmt.kind = StmtKind::Block(body);
            }
            StmtKind::Share(it) => {
                let exprs = it.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
                let exprs: Block =
                    exprs.flatten().map(|it| Stmt::new(StmtKind::Eval(it), stmt.span)).collect();
                let mut body = std::mem::take(&mut it.body);
                strip(&mut body);
                body.extend(exprs);
                stmt.kind = StmtKind::Block(body);
            }
            StmtKind::Reduce(it) => {
                let mut body = std::mem::take(&mut it.combine);
                body.extend(it.join.take().into_iter().flat_map(|it| it.code));
                stmt.kind = StmtKind::Block(body);
            }
            kind => kind.blocks_mut().into_iter().for_each(strip),
        }
    }
}

/// The most rounds of the loops for threads, if all know before; as a value that all have alike.
fn longest(
    cx: &mut Cx<'_>,
    loops: &[Vec<Dim>],
    span: Span,
    out: &mut Block,
) -> Option<Option<ExprId>> {
    let mut longest: Option<VarId> = None;
    for dims in loops {
        let bounds = dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
        let is_known = |e: ExprId| is_known(cx.program, cx.kernel, e, &[]);
        if !bounds.flatten().all(is_known) || !dims.iter().all(|it| it.rectangular) {
            return Some(None);
        }
        let all = cx.number("rounds", Space::Uniform, span, out);
        Sharing { cx, span, space: Space::Uniform }.nest(dims, all, out).ok()?;
        if let Some(other) = longest {
            let build = &mut cx.build(span);
            let (a, b) = (build.var(all), build.var(other));
            let is_less = build.binary(BinaryOp::Lt, a, b);
            let most = build.either(is_less, b, a);
            cx.set(all, most, span, out);
        }
        longest = Some(all);
    }
    Some(longest.map(|it| cx.build(span).var(it)))
}

/// Whether subgroups are teams: groups have some, there is enough for all, and they end together or have little to do.
fn choice(
    cx: &mut Cx<'_>,
    (lanes, wide, total, longest): (u64, VarId, VarId, Option<ExprId>),
    crew: Crew,
    span: Span,
    out: &mut Block,
) -> ExprId {
    let threads = cx.kernel.threads.count;
    let busy = i64::from(cx.groups.many / BUSY);
    let choice = {
        let var = flag(cx, "is_many", span);
        cx.kernel.spaces.push((var, Space::Uniform));
        out.push(Stmt::new(StmtKind::Local(var), span));
        var
    };
    let build = &mut cx.build(span);
    let (all, width) = (build.var(threads), build.number(lanes.cast_signed()));
    let rest = build.binary(BinaryOp::Rem, all, width);
    let (zero, one) = (build.number(0), build.number(1));
    let is_whole = build.binary(BinaryOp::Eq, rest, zero);
    let each = build.var(wide);
    let are_some = build.binary(BinaryOp::Gt, each, one);
    let (rows, least) = (build.var(total), build.number(busy));
    let is_busy = build.binary(BinaryOp::Ge, rows, least);
    let teams = build.var(crew.count);
    let at_once = build.binary(BinaryOp::Mul, teams, each);
    let even = build.number(EVEN);
    let many = build.binary(BinaryOp::Mul, at_once, even);
    let is_even = build.binary(BinaryOp::Ge, rows, many);
    let fits = build.binary(BinaryOp::Le, rows, at_once);
    let mut is_worth = build.or(is_even, fits);
    if let Some(longest) = longest {
        let few = build.number(FEW_ROUNDS.saturating_mul(lanes.cast_signed()));
        let is_short = build.binary(BinaryOp::Le, longest, few);
        is_worth = build.or(is_short, is_worth);
    }
    let mut all = build.and(is_whole, are_some);
    all = build.and(all, is_busy);
    all = build.and(all, is_worth);
    cx.set(choice, all, span, out);
    cx.build(span).var(choice)
}

/// The code of teams as that of subgroups.
struct Form<'a, 'p> {
    cx: &'a mut Cx<'p>,
    span: Span,
    lanes: u64,
    /// The threads of a subgroup.
    crew: Crew,
    /// Whether the subgroup has an iteration.
    is_mine: VarId,
    /// What stands for variables of the code.
    vars: FxHashMap<VarId, VarId>,
    /// Those that were the team's.
    own: FxHashSet<VarId>,
    /// Loops for threads.
    loops: Vec<Vec<Dim>>,
    has_sums: bool,
    /// Whether memory was read or written since all waited for each other.
    read: bool,
    written: bool,
}

impl Form<'_, '_> {
    /// A variable of the team, which each of its threads has.
    fn declare(&mut self, var: VarId, out: &mut Block) -> Option<()> {
        let program = &self.cx.program;
        let ty = program.vars[var].ty;
        (program.types.is_scalar(ty) && !ty.quals.is_volatile).then_some(())?;
        self.own.insert(var);
        self.place(var, ty, out);
        Some(())
    }

    fn place(&mut self, var: VarId, ty: Ty, out: &mut Block) -> VarId {
        let span = self.span;
        let name = self.cx.build(span).name_of(var);
        let copy = self.cx.fresh(&name, ty.plain(), Space::Private, span, out);
        self.vars.insert(var, copy);
        copy
    }

    fn expr(&mut self, e: ExprId) -> ExprId {
        Copier { vars: self.vars.clone(), ..Copier::new(self.cx.program) }.expr(e)
    }

    fn code(&mut self, code: StmtId) -> StmtId {
        Copier { vars: self.vars.clone(), ..Copier::new(self.cx.program) }.stmt(code)
    }

    fn var(&self, var: VarId) -> VarId {
        self.vars.get(&var).copied().unwrap_or(var)
    }

    fn dim(&mut self, it: &Dim) -> Dim {
        let (var, begin, bound) = (self.var(it.var), self.expr(it.begin), self.expr(it.bound));
        let step = it.step.map(|it| self.expr(it));
        Dim { var, begin, bound, step, ..it.clone() }
    }

    /// Those of subgroups that have an iteration.
    fn theirs(&mut self, kind: StmtKind, out: &mut Block) {
        let span = self.span;
        let is_mine = self.cx.build(span).var(self.is_mine);
        out.push(Stmt::new(StmtKind::If(is_mine, vec![Stmt::new(kind, span)], Block::new()), span));
    }

    /// All wait before memory is looked at that was written since they did, or written that was looked at.
    fn touch(&mut self, reads: bool, writes: bool, out: &mut Block) {
        if self.written && (reads || writes) || self.read && writes {
            out.push(Stmt::new(StmtKind::Barrier, self.span));
            (self.read, self.written) = (false, false);
        }
        self.read |= reads;
        self.written |= writes;
    }

    /// What the team does.
    fn team(&mut self, block: &Block, out: &mut Block) -> Option<()> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Block(inner) => {
                    let mut made = Block::new();
                    self.team(inner, &mut made)?;
                    out.push(Stmt::new(StmtKind::Block(made), stmt.span));
                }
                StmtKind::Local(var) => self.declare(*var, out)?,
                StmtKind::Eval(e) => {
                    let part = Part::Expr(*e);
                    let made = StmtKind::Eval(self.expr(*e));
                    self.serial(part, made, out)?;
                }
                StmtKind::Code(code) => {
                    let part = Part::Stmt(*code);
                    let made = StmtKind::Code(self.code(*code));
                    self.serial(part, made, out)?;
                }
                StmtKind::Parallel(it) if it.condition.is_none() && it.limit.is_none() => {
                    let mut made = Block::new();
                    self.threads(&it.body, it.crew, &mut made)?;
                    out.push(Stmt::new(StmtKind::Block(made), stmt.span));
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Code of the team: all of a subgroup compute what is theirs, the first writes memory.
    fn serial(&mut self, part: Part, made: StmtKind, out: &mut Block) -> Option<()> {
        let program = &*self.cx.program;
        let (_, declared) = walk::uses(program, part);
        let reads = looks(program, self.cx.kernel, part);
        if let Some(set) = Quiet::new(program).set(part, false) {
            let is_theirs = |it: &VarId| self.own.contains(it) || declared.contains(it);
            set.iter().all(is_theirs).then_some(())?;
            self.touch(reads, false, out);
            self.theirs(made, out);
            return Some(());
        }
        let set = Quiet::new(program).set(part, true)?;
        set.iter().all(|it| declared.contains(it)).then_some(())?;
        self.touch(true, true, out);
        let span = self.span;
        let build = &mut self.cx.build(span);
        let (is_mine, lane, zero) =
            (build.var(self.is_mine), build.var(self.crew.number), build.number(0));
        let is_first = build.binary(BinaryOp::Eq, lane, zero);
        let is_it = build.and(is_mine, is_first);
        out.push(Stmt::new(StmtKind::If(is_it, vec![Stmt::new(made, span)], Block::new()), span));
        Some(())
    }

    /// What its threads do.
    fn threads(&mut self, block: &Block, crew: Crew, out: &mut Block) -> Option<()> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Block(inner) => {
                    let mut made = Block::new();
                    self.threads(inner, crew, &mut made)?;
                    out.push(Stmt::new(StmtKind::Block(made), stmt.span));
                }
                StmtKind::Local(var) => {
                    self.local(*var, out)?;
                }
                StmtKind::Eval(e) => {
                    self.only_reads_own(Part::Expr(*e))?;
                    let (reads, writes) = self.memory(Part::Expr(*e));
                    self.touch(reads, writes, out);
                    let made = StmtKind::Eval(self.expr(*e));
                    self.theirs(made, out);
                }
                StmtKind::Code(code) => {
                    self.only_reads_own(Part::Stmt(*code))?;
                    let (reads, writes) = self.memory(Part::Stmt(*code));
                    self.touch(reads, writes, out);
                    let made = StmtKind::Code(self.code(*code));
                    self.theirs(made, out);
                }
                StmtKind::Share(it) if it.crew == crew && is_plain(it) => {
                    let share = self.share(it, out)?;
                    self.theirs(StmtKind::Share(Box::new(share)), out);
                }
                StmtKind::Reduce(it) if it.crew == crew && !it.is_league => {
                    self.combined(it, out)?;
                }
                StmtKind::Barrier => {
                    out.push(Stmt::new(StmtKind::Barrier, stmt.span));
                    (self.read, self.written) = (false, false);
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// A thread's own variable.
    fn local(&mut self, var: VarId, out: &mut Block) -> Option<()> {
        let ty = self.cx.program.vars[var].ty;
        let is_fixed = !self.cx.program.types.is_variably_modified(ty);
        let is_its = self.cx.kernel.space(var) == Some(Space::Private);
        (is_fixed && is_its && !ty.quals.is_volatile).then_some(())?;
        self.place(var, ty, out);
        Some(())
    }

    /// What is the team's is only looked at by its threads.
    fn only_reads_own(&self, part: Part) -> Option<()> {
        let (uses, _) = walk::uses(self.cx.program, part);
        let is_fit = |it: &walk::Use| it.how == How::Named || !self.own.contains(&it.var);
        uses.iter().all(is_fit).then_some(())
    }

    /// Whether code reads and writes memory that others may see.
    fn memory(&self, part: Part) -> (bool, bool) {
        let writes = Quiet::new(self.cx.program).set(part, false).is_none();
        (writes || looks(self.cx.program, self.cx.kernel, part), writes)
    }

    /// A loop of the threads.
    fn share(&mut self, it: &Share, out: &mut Block) -> Option<Share> {
        let mut parts = it.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
        if !parts.all(|it| it.is_none_or(|e| self.only_reads_own(Part::Expr(e)).is_some())) {
            return None;
        }
        let dims: Vec<Dim> = it.dims.iter().map(|it| self.dim(it)).collect();
        let (mut reads, mut writes) = (true, false);
        let body = self.iteration(&it.body, (&mut reads, &mut writes))?;
        self.touch(reads, writes, out);
        self.loops.push(dims.clone());
        let one = self.cx.build(self.span).number(1);
        let schedule = Schedule::RoundRobin(one);
        let number = self.var(it.number);
        let crew = self.crew;
        Some(Share { crew, dims, schedule, number, body, ..it.clone() })
    }

    /// What an iteration does, in which nobody meets.
    fn iteration(&mut self, block: &Block, memory: (&mut bool, &mut bool)) -> Option<Block> {
        let (reads, writes) = memory;
        let mut out = Block::new();
        for stmt in block {
            let span = stmt.span;
            let mut parts: Vec<Part> = stmt.kind.exprs().into_iter().map(Part::Expr).collect();
            if let StmtKind::Code(code) = &stmt.kind {
                parts.push(Part::Stmt(*code));
            }
            for part in parts {
                self.only_reads_own(part)?;
                let (some, others) = self.memory(part);
                *reads |= some;
                *writes |= others;
            }
            let kind = match &stmt.kind {
                StmtKind::Local(var) => {
                    self.local(*var, &mut out)?;
                    continue;
                }
                StmtKind::Code(code) => StmtKind::Code(self.code(*code)),
                StmtKind::Eval(e) => StmtKind::Eval(self.expr(*e)),
                StmtKind::Block(inner) => {
                    StmtKind::Block(self.iteration(inner, (&mut *reads, &mut *writes))?)
                }
                StmtKind::If(e, then, other) => {
                    let e = self.expr(*e);
                    let then = self.iteration(then, (&mut *reads, &mut *writes))?;
                    StmtKind::If(e, then, self.iteration(other, (&mut *reads, &mut *writes))?)
                }
                StmtKind::Continue => StmtKind::Continue,
                _ => return None,
            };
            out.push(Stmt::new(kind, span));
        }
        Some(out)
    }

    /// What threads combine for their team comes to all of them.
    fn combined(&mut self, it: &Reduce, out: &mut Block) -> Option<()> {
        let join = it.join.as_ref().filter(|_| it.elements.is_none())?;
        let span = self.span;
        // It is combined with what is the team's.
        let mut quiet = Quiet::new(self.cx.program);
        for stmt in &it.combine {
            let StmtKind::Code(code) = stmt.kind else { return None };
            let set = quiet.set(Part::Stmt(code), false)?;
            set.iter().all(|var| self.own.contains(var) || *var == it.copy).then_some(())?;
            (!looks(self.cx.program, self.cx.kernel, Part::Stmt(code))).then_some(())?;
        }
        let copy = self.var(it.copy);
        let mut far = 1;
        while far < self.lanes {
            let mut step = Block::new();
            let ty = self.cx.program.vars[join.other].ty;
            let other = self.place(join.other, ty, &mut step);
            let build = &mut self.cx.build(span);
            let (from, by) = (build.var(copy), build.number(far.cast_signed()));
            let shuffle = Shuffle { to: other, from, far: Some(by), lanes: self.lanes };
            step.push(Stmt::new(StmtKind::Shuffle(Box::new(shuffle)), span));
            let pair = self.iteration(&join.code, (&mut false, &mut false))?;
            let build = &mut self.cx.build(span);
            let (lane, pairs) = (build.var(self.crew.number), build.number(2 * far.cast_signed()));
            let (rest, zero) = (build.binary(BinaryOp::Rem, lane, pairs), build.number(0));
            let is_first = build.binary(BinaryOp::Eq, rest, zero);
            let is_mine = build.var(self.is_mine);
            let joins = build.and(is_mine, is_first);
            step.push(Stmt::new(StmtKind::If(joins, pair, Block::new()), span));
            out.push(Stmt::new(StmtKind::Block(step), span));
            far *= 2;
        }
        let ty = self.cx.program.vars[copy].ty.plain();
        let mut last = Block::new();
        let all = self.cx.fresh("all", ty, Space::Private, span, &mut last);
        let from = self.cx.build(span).var(copy);
        let shuffle = Shuffle { to: all, from, far: None, lanes: self.lanes };
        last.push(Stmt::new(StmtKind::Shuffle(Box::new(shuffle)), span));
        let mut combine = Block::new();
        let build = &mut self.cx.build(span);
        let (to, from) = (build.var(copy), build.var(all));
        let taken = build.copy(to, from);
        combine.push(Stmt::new(StmtKind::Eval(taken), span));
        for stmt in &it.combine {
            let StmtKind::Code(code) = stmt.kind else { return None };
            combine.push(Stmt::new(StmtKind::Code(self.code(code)), stmt.span));
        }
        let is_mine = self.cx.build(span).var(self.is_mine);
        last.push(Stmt::new(StmtKind::If(is_mine, combine, Block::new()), span));
        out.push(Stmt::new(StmtKind::Block(last), span));
        self.has_sums = true;
        Some(())
    }
}

/// Whether threads are given the value of a variable, which nobody else writes then.
fn is_value(it: &RegionVar) -> bool {
    let is_copied = |it: &Attribute<Mapping>| match it.value {
        Mapping::FirstPrivate
        | Mapping::Private
        | Mapping::DevicePointer
        | Mapping::PointerToMapped => true,
        Mapping::Map(..) | Mapping::DeviceAddress | Mapping::Declared => false,
    };
    !it.mappings.is_empty() && it.mappings.iter().all(is_copied)
}

/// Whether a part may look at memory that somebody writes: behind pointers, or by the name of a variable that is not the kernel's own.
fn looks(program: &Program, kernel: &Kernel, part: Part) -> bool {
    let is_far = |kind: &ExprKind| {
        matches!(kind, ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Call(..))
    };
    let given = &program.regions[kernel.region].vars;
    let (uses, declared) = walk::uses(program, part);
    let is_shared = |var: VarId| {
        let is_value = given.iter().any(|it| it.var == var && is_value(it));
        !is_value && kernel.space(var).is_none() && !declared.contains(&var)
    };
    program.any_expr(part, is_far) || uses.iter().any(|it| is_shared(it.var))
}
