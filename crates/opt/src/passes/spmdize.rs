//! `spmdize`: every thread of every group runs the kernel from its beginning.
//!
//! The team's own code runs on its first thread, between two barriers; a parallel region on as many threads as it
//! has. Where threads meet inside conditions and loops, all threads of the group go the same way: what decides is
//! computed by all where all compute the same, else by the first thread and told to the others. Groups are teams; if
//! there are more teams than groups, a group runs several, one after the other.

use ir::program::{BinaryOp, ExprId, ExprKind, VarId};
use ir::walk::Part;
use kernel::{Block, Loop, LoopKind, Parallel, Space, Stmt, StmtKind, Teams, Who};
use rustc_hash::FxHashSet;
use source::Span;

use super::{Cx, Result, refuse};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if cx.kernel.all.is_some() {
        return Ok(());
    }
    let body = std::mem::take(&mut cx.kernel.body);
    let steady = steady(cx);
    let mut form = Spmd { cx, steady, goes: Vec::new() };
    let made = form.league(body)?;
    form.cx.kernel.body = made;
    Ok(())
}

/// Variables that came with the launch and that nobody changes while the kernel runs.
fn steady(cx: &Cx<'_>) -> FxHashSet<VarId> {
    let region = &cx.program.regions[cx.kernel.region];
    let is_steady = |it: &&ir::region::RegionVar| {
        let ty = cx.program.vars[it.var].ty;
        !it.written && cx.program.types.is_scalar(ty) && !ty.quals.is_volatile
    };
    region.vars.iter().filter(is_steady).map(|it| it.var).collect()
}

struct Spmd<'a, 'p> {
    cx: &'a mut Cx<'p>,
    steady: FxHashSet<VarId>,
    /// Loops and switches around: what says whether they go on, if something does.
    goes: Vec<Option<VarId>>,
}

/// Who runs code.
#[derive(Clone, Copy, Debug)]
enum Crew {
    /// The first thread of the team.
    First,
    /// So many threads of it.
    Threads(VarId),
    /// All threads of the group.
    All,
}

impl Spmd<'_, '_> {
    /// What the league does.
    fn league(&mut self, block: Block) -> Result<Block> {
        let span = self.cx.kernel.span;
        if !block.iter().any(has_teams) {
            // One team: the first group.
            let body = self.block(block, Crew::First)?;
            let group = self.cx.kernel.groups.number;
            let build = &mut self.cx.build(span);
            let (group, zero) = (build.var(group), build.number(0));
            let is_first = build.binary(BinaryOp::Eq, group, zero);
            return Ok(vec![Stmt::new(StmtKind::If(is_first, body, Block::new()), span)]);
        }
        let mut out = Block::new();
        for stmt in block {
            match stmt.kind {
                StmtKind::Block(inner) => out.extend(self.league(inner)?),
                StmtKind::Teams(teams) => self.teams(*teams, stmt.span, &mut out)?,
                StmtKind::Code(_)
                | StmtKind::Local(_)
                | StmtKind::Eval(_)
                | StmtKind::If(..)
                | StmtKind::Loop(_)
                | StmtKind::Switch(..)
                | StmtKind::Case(..)
                | StmtKind::Default
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Parallel(_)
                | StmtKind::Share(_)
                | StmtKind::On(..)
                | StmtKind::Barrier
                | StmtKind::Shuffle(_)
                | StmtKind::Reduce(_)
                | StmtKind::Scan(_) => return refuse("code beside the teams", stmt.span),
            }
        }
        Ok(out)
    }

    fn teams(&mut self, teams: Teams, span: Span, out: &mut Block) -> Result<()> {
        let groups = self.cx.kernel.groups;
        let crew = teams.crew;
        for var in [crew.number, crew.count] {
            out.push(Stmt::new(StmtKind::Local(var), span));
        }
        let count = {
            let build = &mut self.cx.build(span);
            match teams.teams {
                // A constant or an argument.
                Some(asked) => {
                    let asked = build.as_number(asked);
                    let (zero, one) = (build.number(0), build.number(1));
                    let is_some = build.binary(BinaryOp::Ne, asked, zero);
                    build.either(is_some, asked, one)
                }
                None => build.var(groups.count),
            }
        };
        self.cx.set(crew.count, count, span, out);
        let first = self.cx.build(span).var(groups.number);
        self.cx.set(crew.number, first, span, out);
        let mut body = self.block(teams.body, Crew::First)?;
        // The next team uses the same memory.
        barrier(&mut body, span);
        let build = &mut self.cx.build(span);
        let (at, all, by) =
            (build.var(crew.number), build.var(crew.count), build.var(groups.count));
        let condition = build.binary(BinaryOp::Lt, at, all);
        let next = build.binary(BinaryOp::Add, at, by);
        let step = build.set(crew.number, next);
        let each =
            Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        Ok(())
    }

    /// Statements in which threads may meet.
    fn block(&mut self, block: Block, crew: Crew) -> Result<Block> {
        let mut out = Block::new();
        let mut pending = Block::new();
        for stmt in block {
            let span = stmt.span;
            if let StmtKind::Local(var) = stmt.kind {
                // Declared for all; what gives it a value is for those who run the code.
                if self.cx.kernel.space(var) != Some(Space::Group) {
                    self.flush(&mut pending, crew, span, &mut out);
                    out.push(stmt);
                }
                continue;
            }
            if let StmtKind::Eval(e) = stmt.kind
                && self.sets_uniform(e)
            {
                self.flush(&mut pending, crew, span, &mut out);
                self.uniform(e, crew, span, &mut out);
                continue;
            }
            if !meets(&stmt) && !leaves(&stmt) && !self.sets_for_all(&stmt, &mut Vec::new()) {
                pending.push(self.placed(stmt));
                continue;
            }
            self.flush(&mut pending, crew, span, &mut out);
            self.meeting(stmt, crew, &mut out)?;
        }
        self.flush(&mut pending, crew, self.cx.kernel.span, &mut out);
        Ok(out)
    }

    /// What one thread of several runs, in code where nobody meets.
    fn placed(&mut self, mut stmt: Stmt) -> Stmt {
        for inner in stmt.kind.blocks_mut() {
            let list = std::mem::take(inner);
            *inner = list.into_iter().map(|it| self.placed(it)).collect();
        }
        let span = stmt.span;
        match stmt.kind {
            // Those who run the code have it, not all.
            StmtKind::Local(var) => {
                let spaces = self.cx.kernel.spaces.iter_mut();
                let own = spaces.filter(|it| **it == (var, Space::Uniform));
                own.for_each(|it| it.1 = Space::Private);
                Stmt::new(StmtKind::Local(var), span)
            }
            StmtKind::On(who, body) => {
                let me = self.cx.kernel.threads.number;
                let build = &mut self.cx.build(span);
                let number = match who {
                    Who::Primary => build.number(0),
                    Who::Numbered(number) => number,
                };
                let me = build.var(me);
                let is_it = build.binary(BinaryOp::Eq, me, number);
                Stmt::new(StmtKind::If(is_it, body, Block::new()), span)
            }
            kind => Stmt::new(kind, span),
        }
    }

    /// What only some threads run.
    fn flush(&mut self, pending: &mut Block, crew: Crew, span: Span, out: &mut Block) {
        if pending.is_empty() {
            return;
        }
        let body = std::mem::take(pending);
        let span = body.first().map_or(span, |it| it.span);
        if let Crew::First = crew {
            barrier(out, span);
        }
        self.theirs(crew, body, span, out);
        if let Crew::First = crew {
            barrier(out, span);
        }
    }

    /// Code for those threads.
    fn theirs(&mut self, crew: Crew, body: Block, span: Span, out: &mut Block) {
        let me = self.cx.kernel.threads.number;
        let build = &mut self.cx.build(span);
        let me = build.var(me);
        let is_theirs = match crew {
            Crew::First => {
                let zero = build.number(0);
                build.binary(BinaryOp::Eq, me, zero)
            }
            Crew::Threads(count) => {
                let count = build.var(count);
                build.binary(BinaryOp::Lt, me, count)
            }
            Crew::All => return out.extend(body),
        };
        out.push(Stmt::new(StmtKind::If(is_theirs, body, Block::new()), span));
    }

    /// A statement in which threads meet, or that leaves a loop in which they do.
    fn meeting(&mut self, stmt: Stmt, crew: Crew, out: &mut Block) -> Result<()> {
        let span = stmt.span;
        let kind = match stmt.kind {
            StmtKind::Block(block) => StmtKind::Block(self.block(block, crew)?),
            StmtKind::If(condition, then, other) => {
                let condition = self.decided(condition, crew, span, out);
                StmtKind::If(condition, self.block(then, crew)?, self.block(other, crew)?)
            }
            StmtKind::Loop(it) => return self.rounds(*it, crew, span, out),
            StmtKind::Switch(value, body) => {
                let value = self.decided(value, crew, span, out);
                self.goes.push(None);
                let body = self.block(body, crew);
                self.goes.pop();
                StmtKind::Switch(value, body?)
            }
            kind @ (StmtKind::Case(..) | StmtKind::Default | StmtKind::Continue) => kind,
            StmtKind::Break => {
                if let Some(Some(goes)) = self.goes.last().copied() {
                    let zero = self.cx.build(span).number(0);
                    self.cx.set(goes, zero, span, out);
                }
                StmtKind::Break
            }
            StmtKind::Barrier => {
                barrier(out, span);
                return Ok(());
            }
            StmtKind::Parallel(it) => match crew {
                Crew::First => return self.parallel(*it, span, out),
                Crew::Threads(_) | Crew::All => return refuse("a team inside a team", span),
            },
            StmtKind::On(..) => return refuse("one thread in what others take part in", span),
            StmtKind::Teams(_) => return refuse("a league inside a team", span),
            StmtKind::Share(_) | StmtKind::Reduce(_) | StmtKind::Scan(_) => {
                return refuse("a pass that is missing", span);
            }
            kind @ (StmtKind::Code(_)
            | StmtKind::Local(_)
            | StmtKind::Eval(_)
            | StmtKind::Shuffle(_)) => kind,
        };
        out.push(Stmt::new(kind, span));
        Ok(())
    }

    fn parallel(&mut self, it: Parallel, span: Span, out: &mut Block) -> Result<()> {
        let count = it.crew.count;
        let most = it.limit.unwrap_or(self.cx.kernel.threads.count);
        out.push(Stmt::new(StmtKind::Local(count), span));
        match it.threads {
            None => {
                let all = self.cx.build(span).var(most);
                self.cx.set(count, all, span, out);
            }
            Some(asked) => {
                let e = {
                    let build = &mut self.cx.build(span);
                    let asked = build.as_number(asked);
                    build.set(count, asked)
                };
                self.uniform(e, Crew::First, span, out);
                let value = {
                    let build = &mut self.cx.build(span);
                    let (asked, all) = (build.var(count), build.var(most));
                    let least = build.min(asked, all);
                    let (zero, one) = (build.number(0), build.number(1));
                    let is_some = build.binary(BinaryOp::Ne, asked, zero);
                    build.either(is_some, least, one)
                };
                self.cx.set(count, value, span, out);
            }
        }
        if let Some(condition) = it.condition {
            let condition = self.decided(condition, Crew::First, span, out);
            let value = {
                let build = &mut self.cx.build(span);
                let (all, one) = (build.var(count), build.number(1));
                build.either(condition, all, one)
            };
            self.cx.set(count, value, span, out);
        }
        // PoCL 3.1 takes branches in code without the condition for such that all threads take alike.
        let is_exact = self.cx.groups.lanes > 1;
        let is_all = it.threads.is_none() && it.condition.is_none() && it.limit.is_none();
        let crew = if is_all && is_exact { Crew::All } else { Crew::Threads(count) };
        let body = self.block(it.body, crew)?;
        out.push(Stmt::new(StmtKind::Block(body), span));
        barrier(out, span);
        Ok(())
    }

    /// A loop in which threads meet: all of them go round it equally often, and leave it where it begins. A jump out of
    /// its body leaves a loop of one round inside it.
    fn rounds(&mut self, it: Loop, crew: Crew, span: Span, out: &mut Block) -> Result<()> {
        let jumps = it.body.iter().any(leaves);
        let is_once = it.kind == LoopKind::After
            && it
                .condition
                .is_some_and(|it| matches!(self.cx.program.exprs[it].kind, ExprKind::Int(0)));
        let is_plain = it.condition.is_none_or(|it| self.is_uniform(it, crew))
            && it.step.is_none_or(|it| self.sets_uniform(it) && self.is_uniform_effect(it, crew));
        if is_plain && !jumps || is_once {
            self.goes.push(None);
            let body = self.block(it.body, crew);
            self.goes.pop();
            let body = body?;
            out.push(Stmt::new(StmtKind::Loop(Box::new(Loop { body, ..it })), span));
            return Ok(());
        }
        let goes = self.cx.number("goes", Space::Uniform, span, out);
        match (it.kind, it.condition) {
            (LoopKind::Before, Some(condition)) => self.go_while(goes, condition, crew, span, out),
            (LoopKind::Before | LoopKind::After, _) => {
                let one = self.cx.build(span).number(1);
                self.cx.set(goes, one, span, out);
            }
        }
        self.goes.push(Some(goes));
        let inner = self.block(it.body, crew);
        self.goes.pop();
        let inner = inner?;
        let mut between = Block::new();
        if let Some(step) = it.step {
            let mut pending = vec![Stmt::new(StmtKind::Eval(step), span)];
            match self.sets_uniform(step) {
                true => self.uniform(step, crew, span, &mut between),
                false => self.flush(&mut pending, crew, span, &mut between),
            }
        }
        if let Some(condition) = it.condition {
            self.go_while(goes, condition, crew, span, &mut between);
        }
        let mut body = Block::new();
        let build = &mut self.cx.build(span);
        let still = build.var(goes);
        match jumps {
            true => {
                let int = build.int_type();
                let never = build.int(0, int);
                let kind = LoopKind::After;
                let once = Loop { kind, condition: Some(never), step: None, body: inner };
                body.push(Stmt::new(StmtKind::Loop(Box::new(once)), span));
                body.push(Stmt::new(StmtKind::If(still, between, Block::new()), span));
            }
            false => {
                body.extend(inner);
                body.extend(between);
            }
        }
        let made = Loop { kind: LoopKind::Before, condition: Some(still), step: None, body };
        out.push(Stmt::new(StmtKind::Loop(Box::new(made)), span));
        Ok(())
    }

    /// Whether a loop goes on is told to all.
    fn go_while(
        &mut self,
        goes: VarId,
        condition: ExprId,
        crew: Crew,
        span: Span,
        out: &mut Block,
    ) {
        let condition = self.decided(condition, crew, span, out);
        let value = {
            let build = &mut self.cx.build(span);
            let (one, zero) = (build.number(1), build.number(0));
            build.either(condition, one, zero)
        };
        self.cx.set(goes, value, span, out);
    }

    /// The value of an expression by which all threads of the group decide alike.
    fn decided(&mut self, e: ExprId, crew: Crew, span: Span, out: &mut Block) -> ExprId {
        if self.is_uniform(e, crew) {
            return e;
        }
        let ty = self.cx.build(span).type_of(e);
        let var = self.cx.fresh("decided", ty, Space::Uniform, span, out);
        self.told(var, e, crew, span, out);
        self.cx.build(span).var(var)
    }

    /// Gives a variable that all threads have alike the value that the first thread computes.
    fn told(&mut self, var: VarId, value: ExprId, crew: Crew, span: Span, out: &mut Block) {
        let ty = self.cx.build(span).type_of(value);
        let shared = self.cx.fresh("told", ty, Space::Group, span, &mut Block::new());
        barrier(out, span);
        let mut body = Block::new();
        match crew {
            Crew::First => self.cx.set(shared, value, span, &mut body),
            Crew::Threads(_) | Crew::All => {
                // Each evaluates its own; the first tells.
                let own = self.cx.fresh("own", ty, Space::Private, span, &mut body);
                self.cx.set(own, value, span, &mut body);
                let mut tell = Block::new();
                let own = self.cx.build(span).var(own);
                self.cx.set(shared, own, span, &mut tell);
                self.theirs(Crew::First, tell, span, &mut body);
            }
        }
        self.theirs(crew, body, span, out);
        barrier(out, span);
        let value = self.cx.build(span).var(shared);
        self.cx.set(var, value, span, out);
    }

    /// Whether an expression gives a variable a value that all threads have alike.
    fn sets_uniform(&self, e: ExprId) -> bool {
        let place = match self.cx.program.exprs[e].kind {
            ExprKind::Assign(place, _)
            | ExprKind::AssignOp(_, place, ..)
            | ExprKind::Step(_, place) => place,
            _ => return false,
        };
        match self.cx.program.exprs[place].kind {
            ExprKind::Var(var) => self.cx.kernel.space(var) == Some(Space::Uniform),
            _ => false,
        }
    }

    /// Whether a statement does so with a variable that was there before it.
    fn sets_for_all(&self, stmt: &Stmt, own: &mut Vec<VarId>) -> bool {
        let sets = |e: ExprId, own: &[VarId]| {
            self.sets_uniform(e)
                && match self.cx.program.exprs[e].kind {
                    ExprKind::Assign(place, _)
                    | ExprKind::AssignOp(_, place, ..)
                    | ExprKind::Step(_, place) => match self.cx.program.exprs[place].kind {
                        ExprKind::Var(var) => !own.contains(&var),
                        _ => false,
                    },
                    _ => false,
                }
        };
        match &stmt.kind {
            StmtKind::Local(var) => {
                own.push(*var);
                false
            }
            StmtKind::Eval(e) => sets(*e, own),
            kind => {
                // The step of a loop comes after what its body declares.
                let inside =
                    kind.blocks().into_iter().flatten().any(|it| self.sets_for_all(it, own));
                inside
                    || matches!(kind, StmtKind::Loop(it) if it.step.is_some_and(|it| sets(it, own)))
            }
        }
    }

    /// Whether all threads can evaluate such an expression for themselves.
    fn is_uniform_effect(&self, e: ExprId, crew: Crew) -> bool {
        match self.cx.program.exprs[e].kind {
            ExprKind::Assign(_, value) | ExprKind::AssignOp(_, _, value, _) => {
                self.is_uniform(value, crew)
            }
            ExprKind::Step(..) => true,
            _ => false,
        }
    }

    /// All threads get the value.
    fn uniform(&mut self, e: ExprId, crew: Crew, span: Span, out: &mut Block) {
        if self.is_uniform_effect(e, crew) {
            out.push(Stmt::new(StmtKind::Eval(e), span));
            return;
        }
        if let ExprKind::Assign(place, value) = self.cx.program.exprs[e].kind
            && let ExprKind::Var(var) = self.cx.program.exprs[place].kind
        {
            self.told(var, value, crew, span, out);
        }
    }

    /// Whether all threads of a group that evaluate an expression now get the same.
    fn is_uniform(&self, e: ExprId, crew: Crew) -> bool {
        let program = &self.cx.program;
        let mut open = vec![Part::Expr(e)];
        while let Some(part) = open.pop() {
            let Part::Expr(id) = part else { return false };
            match program.exprs[id].kind {
                ExprKind::Int(_)
                | ExprKind::WideInt(_)
                | ExprKind::Float(_)
                | ExprKind::EnumConst(..)
                | ExprKind::Sizeof(_)
                | ExprKind::Alignof(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::And(..)
                | ExprKind::Or(..)
                | ExprKind::Conditional(..)
                | ExprKind::Cast(..) => {}
                ExprKind::Var(var) => {
                    let is_alike = match self.cx.kernel.space(var) {
                        Some(Space::Uniform) => true,
                        // While threads run, one of them may change it.
                        Some(Space::Group) => {
                            matches!(crew, Crew::First)
                                && program.types.is_scalar(program.vars[var].ty)
                        }
                        Some(Space::Private) => false,
                        None => self.steady.contains(&var),
                    };
                    if !is_alike {
                        return false;
                    }
                }
                _ => return false,
            }
            program.parts(part, &mut |it| open.push(it));
        }
        true
    }
}

/// All wait, unless they just did.
fn barrier(out: &mut Block, span: Span) {
    if !ends_in_barrier(out) {
        out.push(Stmt::new(StmtKind::Barrier, span));
    }
}

fn ends_in_barrier(block: &Block) -> bool {
    match block.last().map(|it| &it.kind) {
        Some(StmtKind::Barrier) => true,
        Some(StmtKind::Block(inner)) => ends_in_barrier(inner),
        _ => false,
    }
}

fn has_teams(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Teams(_) => true,
        kind => kind.blocks().into_iter().flatten().any(has_teams),
    }
}

/// Whether threads of the team meet in a statement.
fn meets(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Teams(_)
        | StmtKind::Parallel(_)
        | StmtKind::Barrier
        | StmtKind::Shuffle(_)
        | StmtKind::Share(_)
        | StmtKind::Reduce(_)
        | StmtKind::Scan(_) => true,
        kind => kind.blocks().into_iter().flatten().any(meets),
    }
}

/// Whether a statement leaves the loop or switch around it, or stands for a case of it.
fn leaves(stmt: &Stmt) -> bool {
    fn within(stmt: &Stmt, in_loop: bool, in_switch: bool) -> bool {
        match &stmt.kind {
            StmtKind::Break => !in_loop && !in_switch,
            StmtKind::Continue => !in_loop,
            StmtKind::Case(..) | StmtKind::Default => !in_switch,
            StmtKind::Loop(it) => it.body.iter().any(|it| within(it, true, in_switch)),
            StmtKind::Switch(_, body) => body.iter().any(|it| within(it, in_loop, true)),
            kind => kind.blocks().into_iter().flatten().any(|it| within(it, in_loop, in_switch)),
        }
    }
    within(stmt, false, false)
}
