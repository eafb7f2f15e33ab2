//! Shapes in the words of levels: clauses of loops that name who shares them.
//!
//! The outermost loop that is shared names teams and, unless a loop inside has them, their threads; inner loops name threads or
//! lanes, or that they run in order. Loops without a directive get one where that says something. Nothing is promised of
//! independence that was not promised or shown before.

use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{ExprId, RegionId, StmtId, Typed, VarId};
use ir::region::{Attribute, Loop, Origin, Rule, Sharing};
use opt::marks::{Check, LoopMark, Parallel};

use super::{Levels, NOT_CERTAIN, Nest, OWN_COPY, Pass, Role};
use crate::items::base;

impl Pass<'_> {
    /// Says a shape; why not, if it cannot be said.
    pub(super) fn levels(&mut self, nest: &Nest<'_>) -> Result<(), String> {
        let program = self.written;
        let Some(root) = nest.mark(nest.root) else { return Err("there is no loop".to_owned()) };
        let start = &program.regions[nest.start].construct;
        let finds = start.has(Leaf::Kernels);
        if !finds && !start.has(Leaf::Teams) {
            return Err("the construct runs on one thread".to_owned());
        }
        let own = match *root.said.regions.as_slice() {
            [id] => Some(id),
            [] if finds => None,
            [] => return Err("its outermost loop has no directive".to_owned()),
            _ => return Err("several directives are about one loop".to_owned()),
        };
        if !start.groups.is_empty() {
            return Err("levels are named for types of devices".to_owned());
        }
        if finds && !nest.shape.split.is_empty() {
            return Err(
                "threads inside teams are not said of loops that are the compiler's to find"
                    .to_owned(),
            );
        }
        self.calls_are_quiet(nest.start)?;
        let inner: Vec<RegionId> = match own {
            Some(id) => program.inside(id),
            None => self.regions_in(root.finding.span),
        };
        let has_atomics = inner.iter().any(|it| program.regions[*it].construct.has(Leaf::Atomic));
        if let Some(id) = own {
            is_plain(&program.regions[id].construct)?;
            let said = root.said.levels;
            let is_repeated = !finds && !said.teams && !said.is_none();
            if is_repeated && (has_atomics || id != nest.start) {
                return Err("each team runs it as a whole".to_owned());
            }
        }
        for it in &inner {
            is_plain_inside(&program.regions[*it].construct)?;
        }
        self.terms_of_levels(nest, finds)?;
        self.takes_whole(nest, &inner)?;
        self.named_levels_may_go(nest, &inner)?;
        let loops = self.outer_loops(nest)?;
        // From here on nothing fails.
        let id = match own {
            Some(id) => id,
            None => {
                let added = self.add_region(root.stmt(), vec![Leaf::Loop]);
                added.ok_or_else(|| "a loop has not the form that directives ask for".to_owned())?
            }
        };
        self.made.changed.insert(id, Some(nest.why.clone()));
        self.remove_clauses(id, |it| is_level(it) || matches!(it, ClauseKind::Collapse { .. }));
        if self.levels != Levels::Named {
            self.promise(id, root);
        }
        self.add_levels(nest, id, Role::Outer, loops.last().map(|it| it.stmt));
        self.add_collapse(id, loops.len());
        let first = self.made.program.regions[id].loops.first().cloned();
        let rest = loops.into_iter().skip(1);
        self.made.program.regions[id].loops = first.into_iter().chain(rest).collect();
        self.own_counters(id);
        self.copy_lost_counters(id);
        for it in inner {
            self.inner_levels(nest, id, it);
        }
        self.bare_levels(nest);
        Ok(())
    }

    /// The variables that count the loops of a directive are each iteration's own.
    fn own_counters(&mut self, id: RegionId) {
        let region = &mut self.made.program.regions[id];
        let counts = |var: VarId| region.loops.iter().any(|it| it.var == var);
        for it in region.vars.iter_mut().filter(|it| counts(it.var)) {
            let is_said =
                it.sharing.as_ref().is_some_and(|it| matches!(it.origin, Origin::Clause(_)));
            if !is_said {
                let (value, origin) = (Sharing::Private, Origin::Rule(Rule::LoopVariable));
                it.sharing = Some(Attribute { value, origin });
            }
        }
    }

    /// Loops that the directive no longer makes one with the outermost have counters of which each iteration needs
    /// its own all the same.
    fn copy_lost_counters(&mut self, id: RegionId) {
        let Some(written) = self.written.regions.find(id) else { return };
        let said = self.copies_of(id);
        let made = &self.made.program.regions[id];
        let is_kept = |var: VarId| said.contains(&var) || made.loops.iter().any(|it| it.var == var);
        let is_outside = |var: VarId| made.vars.iter().any(|it| it.var == var);
        let lost = written.loops.iter().map(|it| it.var);
        let lost: Vec<VarId> = lost.filter(|it| !is_kept(*it) && is_outside(*it)).collect();
        if !lost.is_empty() {
            self.add_copies(id, &lost);
        }
    }

    /// Regions that stand in a piece of text.
    fn regions_in(&self, span: source::Span) -> Vec<RegionId> {
        let regions = self.written.regions.iter();
        let is_in = |it: source::Span| span.start <= it.start && it.end <= span.end;
        regions.filter(|it| is_in(it.1.span)).map(|it| it.0).collect()
    }

    /// Whether what iterations need is said, or will be found again by who gives them threads.
    fn terms_of_levels(&self, nest: &Nest<'_>, finds: bool) -> Result<(), String> {
        let shared = nest.shape.outer.iter().chain(&nest.shape.split);
        for mark in shared.filter_map(|it| nest.mark(*it)) {
            match mark.parallel {
                Parallel::Proved
                | Parallel::User(Check::Confirmed | Check::Incomplete | Check::Open) => {}
                Parallel::User(Check::Doubtful | Check::Refuted)
                | Parallel::ProvedIf
                | Parallel::Ordered
                | Parallel::No(_) => {
                    return Err("iterations may depend on each other".to_owned());
                }
            }
            let named = |var: VarId| {
                let mut marks = nest.outer().chain([mark]);
                marks.any(|it| it.said.copies.contains(&var))
            };
            let is_marked = !mark.said.regions.is_empty();
            let sums = mark.finding.reductions.iter().all(|it| named(it.0));
            if !finds && !sums && (!is_marked || mark.parallel == Parallel::Proved) {
                return Err("no clause names what is summed up".to_owned());
            }
            let counter = mark.finding.var;
            let survives = |it: &VarId| !named(*it) && Some(*it) != counter;
            if !is_marked && !finds && mark.finding.last_private.iter().any(survives) {
                return Err("a value of the last iteration is used afterwards".to_owned());
            }
        }
        Ok(())
    }

    /// Levels that are named are exchanged only where they would be if they were teams and threads: what was kept
    /// before a translation stays behind it.
    fn named_levels_may_go(&self, nest: &Nest<'_>, inner: &[RegionId]) -> Result<(), String> {
        let program = self.written;
        let is_named = |it: &LoopMark| !it.said.levels.is_none();
        let Some(root) = nest.mark(nest.root).filter(|it| is_named(it)) else { return Ok(()) };
        let shared = nest.shape.outer.iter().chain(&nest.shape.split);
        let is_open =
            |it: &LoopMark| it.parallel == Parallel::User(Check::Open) && !it.finding.is_settled;
        if shared.filter_map(|it| nest.mark(*it)).any(is_open) {
            return Err(NOT_CERTAIN.to_owned());
        }
        for id in inner {
            let region = &program.regions[*id];
            let first = region.loops.first().map(|it| nest.role(it.stmt));
            let loses = matches!(first, Some(Role::Outer | Role::InOrder));
            let Some(body) = region.body.filter(|_| loses) else { continue };
            let counts = |var: VarId| region.loops.iter().any(|it| it.var == var);
            let is_used =
                |var: VarId| self.is_used_between(root.finding.span, program.stmts[body].span, var);
            if self.copies_of(*id).into_iter().any(|it| !counts(it) && is_used(it)) {
                return Err(OWN_COPY.to_owned());
            }
        }
        Ok(())
    }

    /// Whether each directive inside is made one with the outermost as a whole, or not at all.
    fn takes_whole(&self, nest: &Nest<'_>, inner: &[RegionId]) -> Result<(), String> {
        for it in inner {
            let loops = &self.written.regions[*it].loops;
            let is_outer = |it: &Loop| nest.role(it.stmt) == Role::Outer;
            if loops.first().is_some_and(is_outer) && !loops.iter().all(is_outer) {
                return Err("a directive inside deals more loops than would be made one".to_owned());
            }
        }
        Ok(())
    }

    /// A loop that was to be shown to be independent, and is, says so.
    fn promise(&mut self, id: RegionId, mark: &LoopMark) {
        let named = mark.finding.reductions.iter().all(|it| mark.said.copies.contains(&it.0));
        if mark.parallel == Parallel::Proved && named {
            self.remove_clauses(id, |it| matches!(it, ClauseKind::Auto));
            let clauses = &self.made.program.regions[id].construct;
            if !clauses.kinds().any(|it| matches!(it, ClauseKind::Independent)) {
                self.add_clause(id, ClauseKind::Independent);
            }
        }
    }

    /// Names the levels of a loop.
    fn add_levels(&mut self, nest: &Nest<'_>, id: RegionId, role: Role, last: Option<StmtId>) {
        let has_lanes = last.is_some_and(|it| nest.has_lanes(it));
        let is_split = !nest.shape.split.is_empty();
        let steps = self.mapping.profile.kind == opt::profile::Kind::Gpu;
        let (teams, threads, lanes) = match (self.levels, role) {
            (_, Role::InOrder) => (false, false, false),
            (_, Role::Lanes) => (false, false, true),
            (_, Role::Outer) if is_split => (true, false, false),
            (Levels::Named, Role::Outer) => (true, true, has_lanes),
            (Levels::Named, Role::Threads) => (false, true, has_lanes),
            // On a GPU lanes are the threads; on cores teams are.
            (Levels::Two, Role::Outer) => (true, false, steps || has_lanes),
            (Levels::Three, Role::Outer) => (true, steps, steps || has_lanes),
            (Levels::Two, Role::Threads) => (false, false, true),
            (Levels::Three, Role::Threads) => (false, true, steps || has_lanes),
        };
        if teams {
            self.add_clause(id, ClauseKind::Gang(Vec::new()));
        }
        if threads {
            self.add_clause(id, ClauseKind::Worker(None));
        }
        if lanes {
            self.add_clause(id, ClauseKind::Vector(None));
        }
        if role == Role::InOrder {
            self.add_clause(id, ClauseKind::Seq);
        }
    }

    /// A directive inside: it is made one with the outermost, or has threads or lanes, or runs in order.
    fn inner_levels(&mut self, nest: &Nest<'_>, outer: RegionId, id: RegionId) {
        let program = self.written;
        let region = &program.regions[id];
        if !region.construct.has(Leaf::Loop) {
            return;
        }
        let (Some(first), Some(last)) = (region.loops.first(), region.loops.last()) else { return };
        let role = nest.role(first.stmt);
        let asked = region.construct.kinds().any(|it| matches!(it, ClauseKind::Seq));
        if role == Role::Outer {
            let named: Vec<VarId> = self.copies_of(id);
            let there = self.copies_of(outer);
            let more: Vec<VarId> = named.into_iter().filter(|it| !there.contains(it)).collect();
            self.remove_clauses(id, |_| true);
            self.made.program.regions[id].loops.clear();
            self.set_leaves(id, Vec::new());
            self.add_copies(outer, &more);
            return;
        }
        if asked {
            return;
        }
        self.remove_clauses(id, |it| is_level(it) || role == Role::InOrder && is_promise(it));
        self.add_levels(nest, id, role, Some(last.stmt));
    }

    /// Variables of which a directive's clauses make copies that nobody combines.
    fn copies_of(&self, id: RegionId) -> Vec<VarId> {
        let program = &self.made.program;
        let mut found = Vec::new();
        for kind in program.regions[id].construct.kinds() {
            let items: &[ExprId] = match kind {
                ClauseKind::Private(items) => items,
                _ => continue,
            };
            found.extend(items.iter().filter_map(|it| base(program, *it)));
        }
        found
    }

    /// Loops without a directive that get one.
    fn bare_levels(&mut self, nest: &Nest<'_>) {
        for mark in nest.loops() {
            let stmt = mark.stmt();
            let role = nest.role(stmt);
            let is_said = mark.said.regions.iter().any(|it| {
                let made = &self.made.program.regions[*it];
                made.loops.iter().any(|it| it.stmt == stmt) && !made.construct.leaves.is_empty()
            });
            let is_dealt_around = mark.parent.is_some_and(|it| nest.role_at(it) != Role::InOrder);
            let wants = match role {
                Role::Outer => false,
                Role::Threads => true,
                Role::Lanes => mark.finding.last_private.is_empty(),
                Role::InOrder => {
                    self.levels != Levels::Named && is_dealt_around && mark.parent.is_some()
                }
            };
            if is_said || !wants {
                continue;
            }
            let Some(id) = self.add_region(stmt, vec![Leaf::Loop]) else { continue };
            self.add_levels(nest, id, role, Some(stmt));
            let is_own = |it: &&VarId| Some(**it) != mark.finding.var;
            if role != Role::InOrder {
                let vars: Vec<VarId> =
                    mark.finding.private.iter().filter(is_own).copied().collect();
                self.add_copies(id, &vars);
                for (var, op) in mark.finding.reductions.clone() {
                    let items = vec![self.name_of(var)];
                    let (modifier, original) = (None, None);
                    let it = ir::construct::Reduction { modifier, original, op, items };
                    self.add_clause(id, ClauseKind::Reduction(it));
                }
            }
        }
    }
}

/// Whether a clause names a level.
fn is_level(kind: &ClauseKind<Typed>) -> bool {
    matches!(kind, ClauseKind::Gang(_) | ClauseKind::Worker(_) | ClauseKind::Vector(_))
}

/// Whether a clause is about independence.
fn is_promise(kind: &ClauseKind<Typed>) -> bool {
    matches!(kind, ClauseKind::Auto | ClauseKind::Independent)
}

/// Whether the levels of a directive can be exchanged.
fn is_plain(construct: &Construct<Typed>) -> Result<(), String> {
    let is_bound = construct.kinds().any(|it| match it {
        ClauseKind::Gang(args) => !args.is_empty(),
        ClauseKind::Collapse { force, .. } => *force,
        ClauseKind::TileLoop(_) => true,
        _ => false,
    });
    match is_bound || !construct.groups.is_empty() {
        true => Err("a clause of it is about the levels that are written".to_owned()),
        false => Ok(()),
    }
}

fn is_plain_inside(construct: &Construct<Typed>) -> Result<(), String> {
    let is_known = matches!(construct.leaves.as_slice(), [Leaf::Loop | Leaf::Atomic | Leaf::Cache]);
    match is_known {
        true => is_plain(construct),
        false => Err(format!("`{}` stands inside", directive::directive_name(construct))),
    }
}
