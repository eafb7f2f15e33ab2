//! Kernels in which a group of threads is a team.
//!
//! All threads of a group run the team's own code, each with its own copies of the team's variables,
//! which are alike in all of them at every step. What can be seen outside is done by the first of
//! them, between two meetings, so that all see the same before and after it. Loops for threads are
//! dealt to them; a sum that such a loop makes is told to all.
//!
//! Not for code that could tell, or that would differ from thread to thread: [`Lowering::team`] says
//! when.

use ir::construct::Leaf;
use ir::program::{CastKind, ExprId, ExprKind, RegionId, StmtId, StmtKind, VarId, VarStorage};
use ir::region::Sharing;
use ir::walk::Part;
use rustc_hash::FxHashSet;

use super::block::{Near, is_of_others};
use super::cached::Cached;
use super::flat::Sum;
use super::forms::goes_there;
use super::uses::Who;
use crate::c::{Out, Printer};
use crate::lower::kernel::regions_in;
use crate::lower::loops::{self, To};
use crate::lower::{Lowering, in_order};

/// How a team runs a construct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::lower) struct Team {
    /// Expressions that its first thread evaluates.
    guarded: FxHashSet<ExprId>,
    /// Loops that its threads share.
    threads: FxHashSet<RegionId>,
    /// Variables that each thread has a copy of.
    own: FxHashSet<VarId>,
    /// Variables that lie in the memory of the group.
    block: Vec<Near>,
    /// Parts of arrays that are brought there.
    cached: Vec<Cached>,
    /// Directives that ask for that and stay advice, and why.
    advice: Vec<(RegionId, &'static str)>,
    /// Where teams do more than share one nest: how many there are, if that is known.
    league: Option<Option<ExprId>>,
    /// Loops in that whose iterations teams share.
    dealt: FxHashSet<RegionId>,
    /// The team's own code reads what others may write: nobody begins a loop before all have read.
    looks: bool,
    /// Memory for what threads sum up in a loop, where it has a name.
    memory: Vec<((RegionId, VarId), String)>,
}

impl Team {
    /// Whether the threads of a team share the loops of a construct.
    pub(super) fn has_threads(&self, id: RegionId) -> bool {
        self.threads.contains(&id)
    }

    /// Variables that lie in the memory of the group.
    pub(super) fn block(&self) -> &[Near] {
        &self.block
    }

    /// Parts of arrays that are brought there.
    pub(super) fn cached(&self) -> &[Cached] {
        &self.cached
    }

    /// Why a directive that asks for that stays advice.
    pub(super) fn advice(&self, id: RegionId) -> Option<&'static str> {
        self.advice.iter().find(|it| it.0 == id).map(|it| it.1)
    }

    /// Whether a variable does; `of`: the loop that makes it its own, if it is not the team's.
    pub(super) fn is_in_block(&self, var: VarId, of: Option<RegionId>) -> bool {
        self.block.iter().any(|it| it.var == var && it.of == of)
    }

    /// Whether teams share the iterations of a loop in the construct.
    pub(super) fn deals(&self, id: RegionId) -> bool {
        self.dealt.contains(&id)
    }

    /// How a thread names its team and counts teams, if the team does more than share one nest.
    pub(in crate::lower) fn is_league(&self) -> bool {
        self.league.is_some()
    }
}

/// What a construct's teams do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There is only one.
    One,
    /// They share the iterations of the construct's loops.
    Loop,
    /// Each runs the body.
    League,
}

impl Lowering<'_> {
    /// How a construct's teams run it, if they can; or why not, if that can be told.
    pub(super) fn team(&self, id: RegionId) -> Result<Team, Option<&'static str>> {
        let program = self.program;
        let region = &program.regions[id];
        let leaves: Vec<Leaf> =
            region.construct.leaves.iter().copied().filter(|it| !goes_there(*it)).collect();
        let kind = match leaves.as_slice() {
            [] => Kind::One,
            [Leaf::Teams, Leaf::Distribute] if !region.loops.is_empty() => Kind::Loop,
            [Leaf::Teams] => Kind::League,
            _ => return Err(None),
        };
        let body = region.body.ok_or(None)?;
        let is_fit = region.loops.iter().all(|it| it.rectangular)
            && !loops::needs_loops_made(program, id)
            && !(kind == Kind::Loop && in_order::asks_one(program, id))
            && self.is_quiet(id)
            && self.part_items(id).is_empty()
            && self.group_vars(id).is_empty()
            && self.has_plain_clauses(id);
        if !is_fit {
            return Err(None);
        }
        let needed = self.needed_by_all(id);
        let who = match kind {
            Kind::One => Who::One,
            Kind::Loop => Who::Sharers(id),
            Kind::League => Who::Each,
        };
        let mut plan =
            Plan { lowering: self, kernel: id, needed, who, rounds: 0, team: Team::default() };
        if kind == Kind::League {
            plan.team.league = Some(self.count_of_teams(id)?);
        }
        let block = self.in_block(id, kind == Kind::League, &plan.needed);
        plan.team.block = block.clone().unwrap_or_default();
        for var in &region.vars {
            if plan.team.is_in_block(var.var, None) {
                continue;
            }
            let is_own = match var.sharing.as_ref().map(|it| &it.value) {
                // Teams that a group runs one after the other would each need another copy.
                Some(Sharing::FirstPrivate) if kind == Kind::League && var.written => {
                    return Err(None);
                }
                Some(Sharing::Private | Sharing::FirstPrivate) => true,
                Some(Sharing::Reduction(op)) if kind == Kind::Loop => {
                    if self.cannot_combine(var.var, op).is_some() {
                        return Err(None);
                    }
                    true
                }
                Some(Sharing::Shared) | None => {
                    let is_value = super::forms::is_value(var);
                    if kind != Kind::One && is_value && var.written {
                        return Err(None);
                    }
                    is_value
                }
                Some(_) => return Err(None),
            };
            if is_own {
                plan.team.own.insert(var.var);
            }
        }
        plan.team.own.extend(region.loops.iter().map(|it| it.var));
        let inside = plan.body(body, region.loops.len()).ok_or(None)?;
        let can_run = plan.statement(inside) && !plan.team.threads.is_empty();
        block.map_err(Some)?;
        if can_run { Ok(plan.team) } else { Err(None) }
    }

    /// The body of such a kernel.
    pub(in crate::lower) fn team_kernel(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        mut team: Team,
        out: &mut Out<'_>,
    ) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        // Memory that threads share is declared where the kernel begins.
        let mut printer = printer.clone();
        self.put_block(&mut printer, &mut team.block, out);
        self.put_rooms(&mut printer, &mut team.cached, out);
        let printer = &printer;
        let mut threads: Vec<RegionId> = team.threads.iter().copied().collect();
        threads.sort_by_key(|it| self.program.regions[*it].span.start);
        for inner in threads {
            for var in &self.program.regions[inner].vars {
                if let Some(Sharing::Reduction(_)) = var.sharing.as_ref().map(|it| &it.value) {
                    let ty = printer.type_name(self.program.vars[var.var].ty.plain());
                    let memory = self.group_memory(&ty, out).map(|it| ((inner, var.var), it));
                    team.memory.extend(memory);
                }
            }
        }
        let league = team.league;
        self.state.borrow_mut().team = Some(team);
        if let Some(count) = league {
            self.each_team(printer, id, count, out);
        } else if region.loops.is_empty() {
            out.line("if (__ferry_team() == 0)");
            out.line("{");
            printer.stmt(body, out);
            out.leave();
            out.line(";");
            out.line("}");
        } else {
            let mut inside = printer.clone();
            let dealt = self.copies_of_threads(printer, &mut inside, id, out);
            self.deal(&inside, id, To::Teams, &[], out);
            // All threads of a team have the same.
            for (place, sum) in dealt.sums.iter().enumerate() {
                self.join(sum, place, None, out);
            }
        }
        self.put_back(printer, out);
        self.state.borrow_mut().team = None;
    }

    /// A loop that the threads of a team share; answers whether it is one.
    pub(super) fn threads_of_team(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> bool {
        let (memories, looks) = match &self.state.borrow().team {
            Some(team) if team.threads.contains(&id) => (team.memory.clone(), team.looks),
            _ => return false,
        };
        out.beside(self.program.regions[id].span);
        out.line("{");
        out.indented(|out| {
            if looks && self.may_store(id) {
                out.line("__ferry_meet();");
            }
            let mut inside = printer.clone();
            let dealt = self.copies_of_threads(printer, &mut inside, id, out);
            let is_for_all = self.program.regions[id].construct.has(Leaf::Distribute);
            self.deal(&inside, id, if is_for_all { To::All } else { To::Threads }, &[], out);
            for sum in &dealt.sums {
                let memory = memories.iter().find(|it| it.0 == (id, sum.var)).map(|it| &it.1);
                self.combine_threads(sum, memory, out);
                let Sum { original, own, op, .. } = sum;
                let joined = crate::lower::parts::combined(op, original, own);
                out.line(&format!("{original} = {joined};"));
            }
            out.line("__ferry_meet();");
        });
        out.line("}");
        true
    }

    /// An expression that one thread of a team evaluates; answers whether it is one.
    pub(in crate::lower) fn guarded(
        &self,
        printer: &Printer<'_>,
        e: ExprId,
        out: &mut Out<'_>,
    ) -> bool {
        let is_guarded =
            self.state.borrow().team.as_ref().is_some_and(|it| it.guarded.contains(&e));
        if is_guarded {
            out.line("{");
            out.line("__ferry_meet();");
            out.line(&format!("if (__ferry_place() == 0) {{ {}; }}", printer.expr(e)));
            out.line("__ferry_meet();");
            out.line("}");
        }
        is_guarded
    }
}

/// Looks through the code of a team.
struct Plan<'a, 'p> {
    lowering: &'a Lowering<'p>,
    kernel: RegionId,
    /// Variables that all threads must reach.
    needed: FxHashSet<VarId>,
    /// The teams that run what is looked at.
    who: Who,
    /// So many loops of the team's own are around it.
    rounds: usize,
    team: Team,
}

impl Plan<'_, '_> {
    /// The body of so many loops, one in the other.
    fn body(&self, stmt: StmtId, depth: usize) -> Option<StmtId> {
        let mut stmt = stmt;
        for _ in 0..depth {
            loop {
                match &self.lowering.program.stmts[stmt].kind {
                    StmtKind::For(it) => {
                        stmt = it.body;
                        break;
                    }
                    StmtKind::Block(list) => match list.as_ref() {
                        [only] => stmt = *only,
                        _ => return None,
                    },
                    _ => return None,
                }
            }
        }
        Some(stmt)
    }

    /// Whether all threads can run a statement of the team together.
    fn statement(&mut self, id: StmtId) -> bool {
        let program = self.lowering.program;
        match &program.stmts[id].kind {
            StmtKind::Block(list) => list.iter().all(|it| self.statement(*it)),
            StmtKind::Local(var) => {
                let is_plain = matches!(program.vars[*var].storage, VarStorage::Local(_));
                let mut parts = Vec::new();
                program.parts(Part::Local(*var), &mut |it| parts.push(it));
                if self.team.is_in_block(*var, None) {
                    return parts.iter().all(|it| self.is_for_one(*it));
                }
                self.team.own.insert(*var);
                is_plain && parts.iter().all(|it| self.runs_alike(*it))
            }
            StmtKind::Expr(e) => {
                if self.runs_alike(Part::Expr(*e)) {
                    return true;
                }
                self.team.guarded.insert(*e);
                self.is_for_one(Part::Expr(*e))
            }
            StmtKind::If(c, then, other) => {
                self.runs_alike(Part::Expr(*c))
                    && self.statement(*then)
                    && other.is_none_or(|it| self.statement(it))
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.runs_alike(Part::Expr(*c)) && self.round(*body)
            }
            StmtKind::For(it) => {
                it.init.iter().all(|it| self.statement(*it))
                    && it.cond.iter().chain(&it.step).all(|it| self.runs_alike(Part::Expr(*it)))
                    && self.round(it.body)
            }
            StmtKind::Region(id) => match program.regions[*id].construct.leaves.as_slice() {
                [Leaf::Cache | Leaf::Nothing] => {
                    self.bring_near(*id);
                    true
                }
                [Leaf::Distribute] if self.team.is_league() => self.shared_loop(*id),
                _ => self.threads(*id),
            },
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Declaration(_) => {
                true
            }
            _ => false,
        }
    }

    /// The body of a loop of the team's own.
    fn round(&mut self, body: StmtId) -> bool {
        self.rounds += 1;
        let can_run = self.statement(body);
        self.rounds -= 1;
        can_run
    }

    /// Notes what of an array a directive brings near, or why it does not.
    fn bring_near(&mut self, id: RegionId) {
        let lowering = self.lowering;
        if !lowering.is_cache(id) {
            return;
        }
        let is_alike = |it: ExprId| {
            let part = Part::Expr(it);
            self.is_alike(part) && !self.reads_shared(part)
        };
        let is_fixed = |var: VarId| {
            let vars = &lowering.program.regions[self.kernel].vars;
            self.team.own.contains(&var) && vars.iter().any(|it| it.var == var && !it.written)
        };
        let found = lowering.cached(self.kernel, id, self.who, is_alike, is_fixed);
        let taken = lowering.bytes_of(&self.team.block);
        let found = found.and_then(|it| lowering.with_room(&self.team.cached, it, taken));
        match found {
            Ok(all) => self.team.cached = all,
            Err(why) => self.team.advice.push((id, why)),
        }
    }

    /// Whether teams can share a loop, each with all its threads.
    fn shared_loop(&mut self, id: RegionId) -> bool {
        let lowering = self.lowering;
        let program = lowering.program;
        let region = &program.regions[id];
        let is_fit = !region.loops.is_empty()
            && region.loops.iter().all(|it| it.rectangular)
            && !loops::needs_loops_made(program, id)
            && lowering.has_plain_clauses(id)
            && lowering.part_items(id).is_empty();
        let Some(inside) = region.body.and_then(|it| self.body(it, region.loops.len())) else {
            return false;
        };
        let mut own: FxHashSet<VarId> = region.loops.iter().map(|it| it.var).collect();
        for var in &region.vars {
            match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::Private | Sharing::FirstPrivate) => {
                    if !self.team.is_in_block(var.var, Some(id)) {
                        own.insert(var.var);
                    }
                }
                Some(Sharing::Shared) | None => {}
                Some(_) => return false,
            }
        }
        self.team.dealt.insert(id);
        // Outside they may be somebody else's.
        own.retain(|it| !self.team.own.contains(it));
        self.team.own.extend(&own);
        let around = self.who;
        // A team that has an iteration once may not have it again.
        self.who = if self.rounds == 0 { Who::Sharers(id) } else { Who::Each };
        let can_run = is_fit && self.statement(inside);
        self.who = around;
        self.team.own.retain(|it| !own.contains(it));
        can_run
    }

    /// Whether a loop can be dealt to the threads of a team, or of all teams.
    fn threads(&mut self, id: RegionId) -> bool {
        let lowering = self.lowering;
        let program = lowering.program;
        let region = &program.regions[id];
        let leaves = region.construct.leaves.as_slice();
        let leaves = match leaves {
            [Leaf::Distribute, rest @ ..] if self.team.is_league() => rest,
            all => all,
        };
        let deals = leaves
            .iter()
            .all(|it| matches!(it, Leaf::Parallel | Leaf::For | Leaf::Simd | Leaf::Loop))
            && leaves.first() == Some(&Leaf::Parallel)
            && leaves.len() > 1;
        let is_fit = deals
            && !region.loops.is_empty()
            && region.loops.iter().all(|it| it.rectangular)
            && !loops::needs_loops_made(program, id)
            && !in_order::asks_one(program, id)
            && lowering.has_only_thread_regions(id)
            && lowering.has_plain_clauses(id)
            && lowering.part_items(id).is_empty()
            && region.vars.iter().all(|it| self.shares(id, it));
        self.team.threads.insert(id);
        is_fit
    }

    fn shares(&self, id: RegionId, var: &ir::region::RegionVar) -> bool {
        let is_own = self.team.own.contains(&var.var);
        let is_counter = self.lowering.program.regions[id].loops.iter().any(|it| it.var == var.var);
        let has_copy = || self.lowering.own_alone(id).iter().any(|it| it.0 == var.var);
        let is_for_all = self.lowering.program.regions[id].construct.has(Leaf::Distribute);
        match var.sharing.as_ref().map(|it| &it.value) {
            Some(Sharing::Reduction(op)) => {
                is_own && !is_for_all && self.lowering.cannot_combine(var.var, op).is_none()
            }
            Some(Sharing::Private | Sharing::FirstPrivate) if is_counter || has_copy() => true,
            // Each thread would change its own.
            Some(Sharing::Private | Sharing::FirstPrivate | Sharing::Shared) | None => {
                !(is_own && (var.written || self.needed.contains(&var.var)))
            }
            Some(_) => false,
        }
    }

    /// Whether every thread can evaluate an expression and all get the same; notes what it reads.
    fn runs_alike(&mut self, part: Part) -> bool {
        let is_alike = self.is_alike(part);
        self.team.looks |= is_alike && self.reads_shared(part);
        is_alike
    }

    /// Whether an expression reads what is not each thread's own.
    fn reads_shared(&self, part: Part) -> bool {
        let program = self.lowering.program;
        if let Part::Expr(id) = part {
            let reads = match &program.exprs[id].kind {
                ExprKind::Var(var) => !self.team.own.contains(var),
                ExprKind::Deref(_) => true,
                ExprKind::Index(of, _) => !program.types.is_array(program.exprs[*of].ty),
                _ => false,
            };
            if reads {
                return true;
            }
        }
        let mut parts = Vec::new();
        program.parts(part, &mut |it| parts.push(it));
        parts.iter().any(|it| self.reads_shared(*it))
    }

    /// Whether every thread can evaluate an expression and all get the same: only the team's own
    /// variables change.
    fn is_alike(&self, part: Part) -> bool {
        let program = self.lowering.program;
        if let Part::Expr(id) = part {
            let is_fit = match &program.exprs[id].kind {
                ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) => {
                    self.is_own(*to)
                }
                ExprKind::AddrOf(of) => !self.is_own(*of),
                ExprKind::Cast(CastKind::ArrayToPointer, of) => !self.is_lent(*of),
                ExprKind::Call(callee, _) => self.lowering.is_mathematical(*callee),
                ExprKind::StmtExpr(_) | ExprKind::VaArg(_) | ExprKind::CompoundLiteral(_) => false,
                _ => true,
            };
            if !is_fit {
                return false;
            }
        }
        let mut parts = Vec::new();
        program.parts(part, &mut |it| parts.push(it));
        parts.iter().all(|it| self.is_alike(*it))
    }

    /// Whether one thread can evaluate it for all: nothing of its own changes, or is lent.
    fn is_for_one(&self, part: Part) -> bool {
        let program = self.lowering.program;
        if let Part::Expr(id) = part {
            let is_fit = match &program.exprs[id].kind {
                ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) => {
                    !self.is_own(*to)
                }
                ExprKind::AddrOf(of) => !self.is_own(*of),
                ExprKind::Cast(CastKind::ArrayToPointer, of) => !self.is_lent(*of),
                ExprKind::StmtExpr(_) | ExprKind::VaArg(_) => false,
                _ => true,
            };
            if !is_fit {
                return false;
            }
        }
        let mut parts = Vec::new();
        program.parts(part, &mut |it| parts.push(it));
        parts.iter().all(|it| self.is_for_one(*it))
    }

    /// Whether an object is one that each thread has a copy of, or a part of one.
    fn is_own(&self, object: ExprId) -> bool {
        let program = self.lowering.program;
        match &program.exprs[object].kind {
            ExprKind::Var(var) => self.team.own.contains(var),
            ExprKind::Member(of, ..) => self.is_own(*of),
            ExprKind::Index(of, _) => self.is_own_array(*of),
            ExprKind::Cast(_, of) => self.is_own(*of),
            _ => false,
        }
    }

    /// Whether a pointer to a thread's own array could be used to write to it.
    fn is_lent(&self, array: ExprId) -> bool {
        let program = self.lowering.program;
        let element = program.types.innermost_element(program.exprs[array].ty);
        self.is_own(array) && !element.quals.is_const
    }

    /// The same for an array that stands for its address.
    fn is_own_array(&self, expr: ExprId) -> bool {
        let program = self.lowering.program;
        let mut expr = expr;
        while let ExprKind::Cast(_, inner) = program.exprs[expr].kind {
            expr = inner;
        }
        program.types.is_array(program.exprs[expr].ty) && self.is_own(expr)
    }
}

impl Lowering<'_> {
    /// Whether a function only computes.
    pub(in crate::lower) fn is_mathematical(&self, callee: ExprId) -> bool {
        let mut callee = callee;
        while let ExprKind::Cast(_, inner) = self.program.exprs[callee].kind {
            callee = inner;
        }
        let ExprKind::Function(id) = self.program.exprs[callee].kind else { return false };
        let function = &self.program.functions[id];
        let name = self.program.names.text(function.name);
        let takes_values = self.program.types.callee(function.ty).is_some_and(|it| {
            it.params.iter().chain([&it.ret]).all(|it| self.program.types.is_arithmetic(*it))
        });
        function.body.is_none() && takes_values && super::known(name)
    }

    /// Whether iterations of a construct may store something that is not their own.
    fn may_store(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let stores = |it: &ir::region::RegionVar| {
            it.written && is_of_others(it) || it.pointee.written || it.pointee.escapes
        };
        !region.reaches.is_empty() || region.vars.iter().any(stores)
    }

    /// Whether regions inside and functions that are called can be met by one thread alone.
    fn is_quiet(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let inner = region.body.map(|it| regions_in(self.program, it)).unwrap_or_default();
        self.asks_nobody(id) && inner.iter().all(|it| self.asks_nobody(*it))
    }
}
