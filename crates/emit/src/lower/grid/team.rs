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
use ir::program::{ExprId, ExprKind, RegionId, StmtId, StmtKind, VarId, VarStorage};
use ir::region::Sharing;
use ir::walk::Part;
use rustc_hash::FxHashSet;

use super::flat::Sum;
use super::forms::goes_there;
use crate::c::{Out, Printer};
use crate::lower::Lowering;
use crate::lower::kernel::regions_in;
use crate::lower::loops::{self, To};

/// How a team runs a construct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::lower) struct Team {
    /// Expressions that its first thread evaluates.
    guarded: FxHashSet<ExprId>,
    /// Loops that its threads share.
    threads: FxHashSet<RegionId>,
    /// Variables that each thread has a copy of.
    own: FxHashSet<VarId>,
    /// Memory for what threads sum up in a loop, where it has a name.
    memory: Vec<((RegionId, VarId), String)>,
}

impl Team {
    /// Whether the threads of a team share the loops of a construct.
    pub(super) fn has_threads(&self, id: RegionId) -> bool {
        self.threads.contains(&id)
    }
}

impl Lowering<'_> {
    /// How a construct's teams run it, if they can.
    pub(super) fn team(&self, id: RegionId) -> Option<Team> {
        let program = self.program;
        let region = &program.regions[id];
        let leaves: Vec<Leaf> =
            region.construct.leaves.iter().copied().filter(|it| !goes_there(*it)).collect();
        let is_league = leaves == [Leaf::Teams, Leaf::Distribute];
        let body = region.body?;
        let is_fit = (is_league && !region.loops.is_empty() || leaves.is_empty())
            && region.loops.iter().all(|it| it.rectangular)
            && !loops::needs_loops_made(program, id)
            && self.is_quiet(id)
            && self.part_items(id).is_empty()
            && self.group_vars(id).is_empty()
            && self.has_plain_clauses(id);
        if !is_fit {
            return None;
        }
        let mut plan = Plan { lowering: self, team: Team::default() };
        for var in &region.vars {
            let is_own = match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::Private | Sharing::FirstPrivate) => true,
                Some(Sharing::Reduction(op)) if is_league => {
                    if self.cannot_combine(var.var, op).is_some() {
                        return None;
                    }
                    true
                }
                Some(Sharing::Shared) | None => {
                    let is_value = super::forms::is_value(var);
                    if is_league && is_value && var.written {
                        return None;
                    }
                    is_value
                }
                Some(_) => return None,
            };
            if is_own {
                plan.team.own.insert(var.var);
            }
        }
        plan.team.own.extend(region.loops.iter().map(|it| it.var));
        (plan.statement(plan.body(body, region.loops.len())?) && !plan.team.threads.is_empty())
            .then_some(plan.team)
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
        self.state.borrow_mut().team = Some(team);
        if region.loops.is_empty() {
            out.line("if (__ferry_team() != 0)");
            out.line("  return;");
            printer.stmt(body, out);
            out.leave();
            out.line(";");
        } else {
            let mut inside = printer.clone();
            let dealt = self.copies_of_threads(printer, &mut inside, id, out);
            self.deal(&inside, id, To::Teams, &[], out);
            // All threads of a team have the same.
            for (place, sum) in dealt.sums.iter().enumerate() {
                self.join(sum, place, None, out);
            }
        }
        self.state.borrow_mut().team = None;
    }

    /// A loop that the threads of a team share; answers whether it is one.
    pub(super) fn threads_of_team(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> bool {
        let memories = match &self.state.borrow().team {
            Some(team) if team.threads.contains(&id) => team.memory.clone(),
            _ => return false,
        };
        out.beside(self.program.regions[id].span);
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            let dealt = self.copies_of_threads(printer, &mut inside, id, out);
            self.deal(&inside, id, To::Threads, &[], out);
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
                self.team.own.insert(*var);
                let mut parts = Vec::new();
                program.parts(Part::Local(*var), &mut |it| parts.push(it));
                is_plain && parts.iter().all(|it| self.is_alike(*it))
            }
            StmtKind::Expr(e) => {
                if self.is_alike(Part::Expr(*e)) {
                    return true;
                }
                self.team.guarded.insert(*e);
                self.is_for_one(Part::Expr(*e))
            }
            StmtKind::If(c, then, other) => {
                self.is_alike(Part::Expr(*c))
                    && self.statement(*then)
                    && other.is_none_or(|it| self.statement(it))
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.is_alike(Part::Expr(*c)) && self.statement(*body)
            }
            StmtKind::For(it) => {
                it.init.iter().all(|it| self.statement(*it))
                    && it.cond.iter().chain(&it.step).all(|it| self.is_alike(Part::Expr(*it)))
                    && self.statement(it.body)
            }
            StmtKind::Region(id) => self.threads(*id),
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Declaration(_) => {
                true
            }
            _ => false,
        }
    }

    /// Whether a loop can be dealt to the threads of a team.
    fn threads(&mut self, id: RegionId) -> bool {
        let lowering = self.lowering;
        let program = lowering.program;
        let region = &program.regions[id];
        let leaves = region.construct.leaves.as_slice();
        let deals = leaves
            .iter()
            .all(|it| matches!(it, Leaf::Parallel | Leaf::For | Leaf::Simd | Leaf::Loop))
            && leaves.first() == Some(&Leaf::Parallel)
            && leaves.len() > 1;
        let is_fit = deals
            && !region.loops.is_empty()
            && region.loops.iter().all(|it| it.rectangular)
            && !loops::needs_loops_made(program, id)
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
        match var.sharing.as_ref().map(|it| &it.value) {
            Some(Sharing::Reduction(op)) => {
                is_own && self.lowering.cannot_combine(var.var, op).is_none()
            }
            Some(Sharing::Private | Sharing::FirstPrivate) if is_counter || has_copy() => true,
            // Each thread would change its own.
            Some(Sharing::Private | Sharing::FirstPrivate | Sharing::Shared) | None => {
                !(is_own && var.written)
            }
            Some(_) => false,
        }
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
                ExprKind::Call(_, args) => {
                    let lends = |it: &ExprId| self.is_own_array(*it);
                    !args.iter().any(lends)
                }
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

    /// Whether regions inside and functions that are called can be met by one thread alone.
    fn is_quiet(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let inner = region.body.map(|it| regions_in(self.program, it)).unwrap_or_default();
        self.asks_nobody(id) && inner.iter().all(|it| self.asks_nobody(*it))
    }
}
