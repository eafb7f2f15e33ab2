//! Shapes in the words of teams, threads and lanes.
//!
//! The directive of the outermost loop gets the parts that its shape asks for; directives inside go, or become threads or lanes of
//! their own; loops without a directive get one where they have threads or lanes. Variables that were each thread's own inside
//! are so outside if threads begin there. Sizes that were asked for go with the shape.

use ir::construct::{Clause, ClauseKind, Leaf, Reduction};
use ir::program::{RegionId, Typed, VarId};
use opt::marks::{Check, LoopMark, Parallel};

use super::{NOT_CERTAIN, Nest, OWN_COPY, Pass, Role};
use crate::items::base;

/// What becomes of a clause of the outermost directive.
enum Clausal {
    Stays,
    /// It goes with the shape that it is for.
    Goes,
    /// It means something for the shape that is written.
    Binds,
}

impl Pass<'_> {
    /// Says a shape; why not, if it cannot be said.
    pub(super) fn teams(&mut self, nest: &Nest<'_>) -> Result<(), String> {
        let program = self.written;
        let Some(root) = nest.mark(nest.root) else { return Err("there is no loop".to_owned()) };
        let [id] = *root.said.regions.as_slice() else {
            return Err("no directive of its own deals its outermost loop".to_owned());
        };
        let has_teams = self.is_deal(nest, id)?;
        self.calls_are_quiet(id)?;
        let inner = program.inside(id);
        for it in &inner {
            is_plain_inside(&program.regions[*it].construct)?;
        }
        self.terms(nest, id)?;
        let loops = self.outer_loops(nest)?;
        let lifted = self.lifted(nest, id, &inner)?;
        // From here on nothing fails.
        let leaves = leaves(&program.regions[id].construct.leaves, nest, has_teams);
        self.set_leaves(id, leaves);
        self.made.changed.insert(id, Some(nest.why.clone()));
        self.remove_clauses(id, |it| !matches!(fate(it), Clausal::Stays));
        self.add_collapse(id, loops.len());
        self.made.program.regions[id].loops = loops;
        for it in inner {
            self.inner_directive(nest, it);
        }
        for (at, vars) in lifted {
            self.add_copies(at, &vars);
        }
        self.bare_loops(nest);
        Ok(())
    }

    /// Whether a directive deals a loop to teams, or could: nothing but teams stands between it and what
    /// leaves the host. Answers whether there are teams already.
    fn is_deal(&self, nest: &Nest<'_>, id: RegionId) -> Result<bool, String> {
        let program = self.written;
        let construct = &program.regions[id].construct;
        let is_known = construct.leaves.iter().all(|it| {
            matches!(
                it,
                Leaf::Offload
                    | Leaf::Teams
                    | Leaf::Distribute
                    | Leaf::Parallel
                    | Leaf::For
                    | Leaf::Simd
                    | Leaf::Loop
            )
        });
        let has_teams = program.around(id).any(|it| program.regions[it].construct.has(Leaf::Teams));
        let deals = construct.has(Leaf::Distribute)
            || construct.has(Leaf::Loop) && has_teams
            || construct.has(Leaf::Offload);
        let is_direct = program
            .around(id)
            .skip(1)
            .take_while(|it| *it != nest.start)
            .all(|it| program.regions[it].construct.leaves == [Leaf::Teams]);
        if !is_known || !deals || !is_direct || construct.leaves == [Leaf::Offload, Leaf::Simd] {
            return Err("its outermost loop is not one that teams share".to_owned());
        }
        if nest.root != nest.shape.outer.first().copied().unwrap_or(usize::MAX) {
            return Err("teams would share an inner loop only".to_owned());
        }
        for it in &construct.clauses {
            let is_bound = match &it.kind {
                ClauseKind::If(_) => it.on.is_some_and(|it| it != Leaf::Offload),
                kind => matches!(fate(kind), Clausal::Binds),
            };
            if is_bound || it.switch.is_some() {
                return Err("a clause of it is about the threads that are written".to_owned());
            }
        }
        let changes =
            |var: VarId| program.regions[id].vars.iter().any(|it| it.var == var && it.written);
        for kind in construct.kinds() {
            if let ClauseKind::FirstPrivate { items, .. } = kind
                && items.iter().filter_map(|it| base(program, *it)).any(changes)
            {
                return Err("each team goes on with its own copy of a variable".to_owned());
            }
        }
        Ok(has_teams)
    }

    /// Whether it is known what threads need so that they may share the loops that get them.
    fn terms(&self, nest: &Nest<'_>, id: RegionId) -> Result<(), String> {
        let named = sums(self.written, id);
        for mark in nest.outer() {
            is_settled(mark)?;
            let mut reductions = mark.finding.reductions.iter();
            if !reductions.all(|it| named.contains(&it.0)) {
                return Err("no clause of its directive names what is summed up".to_owned());
            }
        }
        for &at in &nest.shape.split {
            nest.mark(at).map_or(Ok(()), is_settled)?;
        }
        Ok(())
    }

    /// Variables that become the own of whoever runs a directive further out: the outermost, or the one
    /// inside that has the threads.
    fn lifted(
        &self,
        nest: &Nest<'_>,
        id: RegionId,
        inner: &[RegionId],
    ) -> Result<Vec<(RegionId, Vec<VarId>)>, String> {
        let program = self.written;
        let body = |id: RegionId| program.regions[id].body.map(|it| program.stmts[it].span);
        let Some(whole) = body(id) else { return Err("it has no body".to_owned()) };
        let mut found: Vec<(RegionId, Vec<VarId>)> = vec![(id, Vec::new())];
        let is_threads = |at: RegionId| {
            let first = program.regions[at].loops.first();
            first.is_some_and(|it| nest.role(it.stmt) == Role::Threads)
        };
        let taker = |at: RegionId| {
            program.around(at).skip(1).take_while(|it| *it != id).find(|it| is_threads(*it))
        };
        let mut add = |to: RegionId, var: VarId| {
            let is_said = copies(program, to).contains(&var)
                || program.regions[to].loops.iter().any(|it| it.var == var)
                    && nest.outer().any(|it| it.finding.var == Some(var));
            // What is declared inside is one each anyway.
            let is_outside = body(to).is_some_and(|it| {
                let at = program.vars[var].span;
                at.start < it.start || it.end < at.end
            });
            if is_said || !is_outside {
                return;
            }
            match found.iter_mut().find(|it| it.0 == to) {
                Some((_, vars)) if vars.contains(&var) => {}
                Some((_, vars)) => vars.push(var),
                None => found.push((to, vec![var])),
            }
        };
        for &at in inner {
            let region = &program.regions[at];
            let Some(first) = region.loops.first() else { continue };
            let role = nest.role(first.stmt);
            if role == Role::Outer && region.loops.iter().any(|it| nest.role(it.stmt) != role) {
                return Err("a directive inside deals more loops than would be made one".to_owned());
            }
            if matches!(role, Role::Threads | Role::Lanes) {
                continue;
            }
            let to = taker(at).unwrap_or(id);
            for kind in region.construct.kinds() {
                let ClauseKind::Private(items) = kind else { continue };
                for var in items.iter().filter_map(|it| base(program, *it)) {
                    let is_counter = region.loops.iter().any(|it| it.var == var);
                    let span = body(at).unwrap_or(whole);
                    if !is_counter && self.is_used_between(whole, span, var) {
                        return Err(OWN_COPY.to_owned());
                    }
                    add(to, var);
                }
            }
        }
        // Counters of loops that threads run by themselves.
        for mark in nest.loops() {
            let Some(position) = nest.tree.position(mark.stmt()) else { continue };
            let Some(var) = mark.finding.var else { continue };
            match nest.role_at(position) {
                Role::Outer | Role::Threads => continue,
                Role::Lanes | Role::InOrder => {}
            }
            let own = mark.said.regions.last().copied();
            let to = own.and_then(taker).or_else(|| {
                let mut up = mark.parent;
                while let Some(at) = up.and_then(|it| nest.mark(it)) {
                    if let Some(it) = at.said.regions.last().filter(|it| is_threads(**it)) {
                        return Some(*it);
                    }
                    up = at.parent;
                }
                None
            });
            add(to.unwrap_or(id), var);
        }
        // What each iteration sets before it reads it.
        for mark in nest.outer() {
            for var in &mark.finding.private {
                let counts = nest.loops().any(|it| it.finding.var == Some(*var));
                if mark.finding.last_private.contains(var) && !counts {
                    return Err("a value of the last iteration is used afterwards".to_owned());
                }
                if !counts {
                    add(id, *var);
                }
            }
        }
        Ok(found)
    }

    /// A directive inside: it goes, or has the threads or lanes.
    fn inner_directive(&mut self, nest: &Nest<'_>, id: RegionId) {
        let program = self.written;
        let region = &program.regions[id];
        let leaves = &region.construct.leaves;
        let (Some(first), Some(last)) = (region.loops.first(), region.loops.last()) else { return };
        let asked = leaves.contains(&Leaf::Simd);
        let (role, lanes) = (nest.role(first.stmt), asked || nest.has_lanes(last.stmt));
        let made = match role {
            Role::Outer => Vec::new(),
            Role::Threads if lanes => vec![Leaf::Parallel, Leaf::For, Leaf::Simd],
            Role::Threads => vec![Leaf::Parallel, Leaf::For],
            Role::Lanes | Role::InOrder if lanes => vec![Leaf::Simd],
            Role::Lanes | Role::InOrder => Vec::new(),
        };
        if made == *leaves {
            return;
        }
        let stays = |kind: &ClauseKind<Typed>| match kind {
            _ if made.is_empty() => false,
            ClauseKind::Private(_) | ClauseKind::Reduction(_) | ClauseKind::Collapse { .. } => true,
            ClauseKind::Safelen(_) | ClauseKind::Simdlen(_) | ClauseKind::Aligned(..) => asked,
            ClauseKind::Shared(_) | ClauseKind::Default(..) => made.contains(&Leaf::Parallel),
            _ => false,
        };
        self.remove_clauses(id, |it| !stays(it));
        if made.is_empty() {
            self.made.program.regions[id].loops.clear();
        }
        self.set_leaves(id, made);
    }

    /// Loops without a directive that get threads or lanes.
    fn bare_loops(&mut self, nest: &Nest<'_>) {
        for mark in nest.loops() {
            let stmt = mark.stmt();
            let role = nest.role(stmt);
            let is_dealt = mark.said.regions.iter().any(|it| {
                let made = &self.made.program.regions[*it];
                made.loops.iter().any(|it| it.stmt == stmt) && !made.construct.leaves.is_empty()
            });
            let leaves = match role {
                _ if is_dealt => continue,
                Role::Outer | Role::InOrder => continue,
                Role::Threads if nest.has_lanes(stmt) => {
                    vec![Leaf::Parallel, Leaf::For, Leaf::Simd]
                }
                Role::Threads => vec![Leaf::Parallel, Leaf::For],
                Role::Lanes => vec![Leaf::Simd],
            };
            if !mark.finding.last_private.is_empty() && role == Role::Lanes {
                continue;
            }
            let Some(id) = self.add_region(stmt, leaves) else { continue };
            let is_own = |it: &&VarId| Some(**it) != mark.finding.var;
            let vars: Vec<VarId> = mark.finding.private.iter().filter(is_own).copied().collect();
            self.add_copies(id, &vars);
            for (var, op) in mark.finding.reductions.clone() {
                let items = vec![self.name_of(var)];
                let (modifier, original) = (None, None);
                let kind = ClauseKind::Reduction(Reduction { modifier, original, op, items });
                self.add_clause(id, kind);
            }
        }
    }
}

/// The parts of the outermost directive.
fn leaves(written: &[Leaf], nest: &Nest<'_>, has_teams: bool) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> =
        written.iter().filter(|it| matches!(it, Leaf::Offload | Leaf::Teams)).copied().collect();
    if !has_teams {
        leaves.push(Leaf::Teams);
    }
    leaves.push(Leaf::Distribute);
    if nest.shape.split.is_empty() {
        leaves.extend([Leaf::Parallel, Leaf::For]);
        if nest.outer().last().is_some_and(|it| nest.has_lanes(it.stmt())) {
            leaves.push(Leaf::Simd);
        }
    }
    leaves
}

/// Whether nothing but memory could stand in the way of who shares the loop.
fn is_settled(mark: &LoopMark) -> Result<(), String> {
    let is_known = match mark.parallel {
        Parallel::Proved | Parallel::User(Check::Confirmed | Check::Incomplete) => true,
        Parallel::User(Check::Open) => mark.finding.is_settled,
        Parallel::User(Check::Doubtful | Check::Refuted)
        | Parallel::ProvedIf
        | Parallel::Ordered
        | Parallel::No(_) => false,
    };
    match is_known {
        true => Ok(()),
        false => Err(NOT_CERTAIN.to_owned()),
    }
}

/// Variables that a directive's clauses combine.
fn sums(program: &ir::program::Program, id: RegionId) -> Vec<VarId> {
    let mut found = Vec::new();
    for kind in program.regions[id].construct.kinds() {
        if let ClauseKind::Reduction(it) = kind {
            found.extend(it.items.iter().filter_map(|it| base(program, *it)));
        }
    }
    found
}

/// Variables that a directive's clauses copy or combine.
fn copies(program: &ir::program::Program, id: RegionId) -> Vec<VarId> {
    let mut found = sums(program, id);
    for kind in program.regions[id].construct.kinds() {
        if let ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } = kind {
            found.extend(items.iter().filter_map(|it| base(program, *it)));
        }
    }
    found
}

fn fate(kind: &ClauseKind<Typed>) -> Clausal {
    match kind {
        ClauseKind::NumTeams { .. }
        | ClauseKind::ThreadLimit(_)
        | ClauseKind::NumThreads { .. }
        | ClauseKind::DistSchedule(_)
        | ClauseKind::Schedule(_)
        | ClauseKind::Collapse { .. }
        | ClauseKind::Simdlen(_)
        | ClauseKind::Order(_)
        | ClauseKind::ProcBind(_) => Clausal::Goes,
        ClauseKind::Bind(ir::construct::BindLevel::Teams) => Clausal::Goes,
        ClauseKind::Reduction(it) if it.modifier.is_some() => Clausal::Binds,
        ClauseKind::LastPrivate { .. }
        | ClauseKind::Linear(_)
        | ClauseKind::Safelen(_)
        | ClauseKind::Ordered(_)
        | ClauseKind::Allocate(_)
        | ClauseKind::InReduction(_)
        | ClauseKind::Induction(_)
        | ClauseKind::CopyIn(_)
        | ClauseKind::Aligned(..)
        | ClauseKind::Nontemporal(_)
        | ClauseKind::Bind(_) => Clausal::Binds,
        _ => Clausal::Stays,
    }
}

/// Whether a directive inside says nothing that counts on the threads which are written.
fn is_plain_inside(construct: &ir::construct::Construct<Typed>) -> Result<(), String> {
    let is_loop = construct
        .leaves
        .iter()
        .all(|it| matches!(it, Leaf::Parallel | Leaf::For | Leaf::Simd | Leaf::Loop));
    let is_whole = !construct.has(Leaf::For) || construct.has(Leaf::Parallel);
    let is_plain = |it: &Clause<Typed>| {
        let is_plain = matches!(
            it.kind,
            ClauseKind::Private(_)
                | ClauseKind::Reduction(_)
                | ClauseKind::Schedule(_)
                | ClauseKind::Collapse { .. }
                | ClauseKind::NumThreads { .. }
                | ClauseKind::Shared(_)
                | ClauseKind::Default(..)
                | ClauseKind::Bind(_)
                | ClauseKind::Order(_)
                | ClauseKind::Safelen(_)
                | ClauseKind::Simdlen(_)
                | ClauseKind::Aligned(..)
        );
        is_plain && it.switch.is_none()
    };
    let is_fine = construct.leaves == [Leaf::Atomic]
        || is_loop && is_whole && construct.clauses.iter().all(is_plain);
    match is_fine {
        true => Ok(()),
        false => Err(format!(
            "`{}` inside is about the threads that are written",
            directive::directive_name(construct)
        )),
    }
}
