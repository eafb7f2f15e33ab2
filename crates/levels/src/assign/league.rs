//! The same levels for machines with teams of threads: a team runs what the construct says, its threads
//! share what is for them.
//!
//! In: loops that have been decided on as for cores. Out: constructs that name teams where the cores'
//! say threads; a loop for teams alone leaves its threads to the loop inside that asks for them.
//! Nothing is said of sizes that only cores need.

use ir::construct::{Clause, ClauseKind, Leaf, Reduction};
use ir::program::{ExprId, ExprKind, RegionId, Typed, VarId, VarStorage};

use super::Pass;
use super::asked::Asked;
use super::choose::{How, Why};
use super::compute::{Crew, Region};
use crate::combined::needs_copy;
use crate::items::{base, plain};

impl Pass<'_> {
    /// Gives the threads of a team to loops inside a loop that is for teams alone.
    pub(super) fn share_inside(&mut self, region: &mut Region) {
        for outer in region.loops.clone() {
            if !self.leaves_threads(region, outer) {
                continue;
            }
            let inside = self.inside(outer);
            let mut taken: Vec<RegionId> = Vec::new();
            for id in region.loops.clone().into_iter().filter(|it| inside.contains(it)) {
                let is_below = taken.iter().any(|it| self.inside(*it).contains(&id));
                if is_below || !self.wants_threads(region, id) {
                    continue;
                }
                let lanes = matches!(region.chosen.get(&id), Some(How::Lanes));
                region.chosen.insert(id, How::NewThreads { lanes });
                self.keep_terms(id);
                taken.push(id);
            }
        }
    }

    /// Whether a loop takes teams and leaves their threads to a loop inside.
    fn leaves_threads(&self, region: &Region, id: RegionId) -> bool {
        let asked = Asked::of(&self.program().regions[id].construct);
        let is_for_teams = matches!(region.chosen.get(&id), Some(How::Threads { .. } | How::Teams))
            || region.chosen.get(&id).is_some_and(|it| it.is_dealt()) && id == region.id;
        let inside = self.inside(id);
        is_for_teams
            && asked.teams
            && !asked.threads
            && !asked.lanes
            && region.loops.iter().any(|it| inside.contains(it) && self.wants_threads(region, *it))
    }

    /// Whether a loop asks for threads or lanes and may have them.
    fn wants_threads(&self, region: &Region, id: RegionId) -> bool {
        let it = &self.program().regions[id];
        let asked = Asked::of(&it.construct);
        let is_free = matches!(
            region.chosen.get(&id),
            Some(How::Lanes | How::NewThreads { .. } | How::InOrder(Why::Inside))
        );
        (asked.threads || asked.lanes)
            && is_free
            && !it.loops.is_empty()
            && !self.assigns_shared(id)
    }

    /// The parts that deal a loop to teams, and to their threads unless a loop inside has them.
    fn dealt(&self, region: Option<&Region>, id: RegionId, lanes: bool) -> Vec<Leaf> {
        let mut leaves = vec![Leaf::Distribute];
        if region.is_some_and(|it| self.has_inner_threads(it, id)) {
            return leaves;
        }
        leaves.extend([Leaf::Parallel, Leaf::For]);
        if lanes {
            leaves.push(Leaf::Simd);
        }
        leaves
    }

    /// Whether a loop inside has got the threads of its own.
    fn has_inner_threads(&self, region: &Region, id: RegionId) -> bool {
        let inside = self.inside(id);
        inside.iter().any(|it| matches!(region.chosen.get(it), Some(How::NewThreads { .. })))
    }

    /// A construct that leaves the host.
    pub(super) fn restate_league(&mut self, region: &Region) {
        let id = region.id;
        let own = region.chosen.get(&id).copied();
        let mut leaves = vec![Leaf::Offload];
        match own {
            Some(How::Threads { lanes } | How::NewThreads { lanes }) => {
                leaves.push(Leaf::Teams);
                leaves.extend(self.dealt(Some(region), id, lanes));
            }
            Some(How::Teams) => {
                leaves.push(Leaf::Teams);
                leaves.extend(self.dealt(Some(region), id, false));
            }
            Some(How::Lanes | How::InOrder(_)) | None => match region.crew {
                // What one thread reduces is the sum of a team, in the words of others.
                Crew::Serial | Crew::One if !self.is_ours && self.needs_copies(id) => {
                    leaves.push(Leaf::Teams);
                }
                Crew::Serial | Crew::One => {}
                Crew::Threads | Crew::Counted => leaves.push(Leaf::Teams),
            },
        }
        let is_one = matches!(region.crew, Crew::Serial | Crew::One)
            && leaves == [Leaf::Offload, Leaf::Teams]
            && super::counts(self.program(), id).is_none();
        let one = is_one.then(|| self.count(1));
        let copies = match leaves.contains(&Leaf::Teams) {
            true => self.own_scalars(id),
            false => Vec::new(),
        };
        self.bring_parts(id);
        let is_dealt = leaves.contains(&Leaf::Distribute);
        let tiles = if is_dealt { self.tiles(id) } else { None };
        let span = self.program().regions[id].construct.span;
        let chunk = Asked::of(&self.program().regions[id].construct).chunk;
        let count = tiles.map(|it| self.count(it.len()));
        let is_ours = self.is_ours;
        let is_shared = is_ours && region.is_one_loop;
        let construct = self.construct(id);
        construct.leaves = leaves;
        construct.groups.clear();
        construct.rules.redundant_teams &= !is_shared;
        // Where loops are all that teams do, it is all the same how many they are.
        if is_ours && region.crew == Crew::Threads {
            for clause in &mut construct.clauses {
                if let ClauseKind::NumTeams { counts, .. } = &mut clause.kind {
                    counts.clear();
                }
            }
        }
        for clause in &mut construct.clauses {
            if let ClauseKind::Collapse { force, .. } = &mut clause.kind {
                *force = false;
                clause.on = (!is_dealt).then_some(Leaf::Offload);
            }
        }
        if !copies.is_empty() {
            let kind = ClauseKind::FirstPrivate { saved: false, items: copies };
            construct.clauses.push(plain(kind, span));
        }
        if let Some(one) = one {
            let kind = ClauseKind::NumTeams { lower: None, counts: vec![one] };
            construct.clauses.push(plain(kind, span));
        }
        if let Some(count) = count {
            construct.clauses.push(plain(ClauseKind::Collapse { force: false, count }, span));
        }
        if let (true, Some(chunk)) = (is_dealt, chunk) {
            construct.clauses.push(plain(ClauseKind::DistSchedule(Some(chunk)), span));
        }
        self.plain_sums(id);
    }

    /// Whether one thread that runs a construct needs copies of what that reduces.
    fn needs_copies(&self, id: RegionId) -> bool {
        let program = self.program();
        program.regions[id].construct.kinds().any(|it| match it {
            ClauseKind::Reduction(sum) => {
                sum.items.iter().any(|it| needs_copy(program, id, *it, &sum.op))
            }
            _ => false,
        })
    }

    fn count(&mut self, count: usize) -> ExprId {
        let span = source::Span::NONE;
        self.number(i64::try_from(count).unwrap_or(1), span)
    }

    /// A loop inside such a construct, or in a function that is called there.
    pub(super) fn restate_league_loop(&mut self, region: Option<&Region>, id: RegionId, how: How) {
        let leaves = match how {
            How::Threads { lanes } => self.dealt(region, id, lanes),
            How::Teams => self.dealt(region, id, false),
            How::NewThreads { lanes } => {
                let mut leaves = vec![Leaf::Parallel, Leaf::For];
                if lanes {
                    leaves.push(Leaf::Simd);
                }
                leaves
            }
            How::Lanes => vec![Leaf::Simd],
            How::InOrder(_) => Vec::new(),
        };
        let construct = &self.program().regions[id].construct;
        let (span, asked) = (construct.span, Asked::of(construct));
        let tiles = if how.is_dealt() { self.tiles(id) } else { None };
        let mut clauses: Vec<Clause<Typed>> = Vec::new();
        let construct = &self.program().regions[id].construct;
        for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
            let kind = match &clause.kind {
                ClauseKind::Private(items) => Some(ClauseKind::Private(items.clone())),
                ClauseKind::LastPrivate { .. } if how.is_dealt() => Some(clause.kind.clone()),
                ClauseKind::Reduction(it) => self.reduction(region, id, how, it),
                // It says which of the dimensions of teams share the loop.
                ClauseKind::Gang(_) if self.is_ours && leaves.contains(&Leaf::Distribute) => {
                    Some(clause.kind.clone())
                }
                ClauseKind::Collapse { count, .. } if !leaves.is_empty() && tiles.is_none() => {
                    Some(ClauseKind::Collapse { force: false, count: *count })
                }
                _ => None,
            };
            clauses.extend(kind.map(|kind| plain(kind, clause.span)));
        }
        if let Some(tiles) = tiles {
            let count = self.count(tiles.len());
            clauses.push(plain(ClauseKind::Collapse { force: false, count }, span));
        }
        if let (true, Some(chunk)) = (leaves.contains(&Leaf::Distribute), asked.chunk) {
            clauses.push(plain(ClauseKind::DistSchedule(Some(chunk)), span));
        }
        if leaves.contains(&Leaf::For) {
            let sums = region.map(|it| self.sums_around(it.id, id, &clauses)).unwrap_or_default();
            clauses.extend(sums.into_iter().map(|it| plain(it, span)));
            let own = match region {
                Some(it) => self.own_scalars(it.id),
                None => self.locals_outside(id),
            };
            let copies = self.copies_inside(own, id, &clauses);
            // Who needs no value from before must not ask for it: teams have copies already.
            let (fresh, others): (Vec<ExprId>, Vec<ExprId>) =
                copies.into_iter().partition(|it| self.begins_anew(id, *it));
            if !fresh.is_empty() {
                clauses.push(plain(ClauseKind::Private(fresh), span));
            }
            if !others.is_empty() {
                let kind = ClauseKind::FirstPrivate { saved: false, items: others };
                clauses.push(plain(kind, span));
            }
        }
        let construct = self.construct(id);
        construct.leaves = leaves;
        construct.clauses = clauses;
        construct.groups.clear();
        construct.rules.plain_nests = false;
        self.plain_sums(id);
    }

    /// Whether each iteration of a loop assigns to a variable before it reads it.
    fn begins_anew(&self, id: RegionId, item: ExprId) -> bool {
        let ExprKind::Var(var) = self.program().exprs[item].kind else { return false };
        let mut stmts = self.program().regions[id].loops.iter().map(|it| it.stmt);
        stmts.all(|stmt| self.analysis().examine(stmt).private.contains(&var))
    }

    /// Scalars of a function outside of a loop in it: each team that calls the function has its own.
    fn locals_outside(&mut self, id: RegionId) -> Vec<ExprId> {
        let program = self.program();
        let region = &program.regions[id];
        let body = region.body.map_or(region.span, |it| program.stmts[it].span);
        let found: Vec<(VarId, source::Span)> = region
            .vars
            .iter()
            .map(|it| (it.var, &program.vars[it.var]))
            .filter(|(_, it)| {
                matches!(it.storage, VarStorage::Local(_) | VarStorage::Param(_))
                    && program.types.is_scalar(it.ty)
                    && it.span.start < body.start
            })
            .map(|(var, it)| (var, it.span))
            .collect();
        found.into_iter().map(|(var, span)| self.name_of(var, span)).collect()
    }

    /// What the construct around sums up and the iterations of a loop add to, though the loop says
    /// nothing of it: a team has one sum, to which its threads must not add at once.
    fn sums_around(
        &self,
        around: RegionId,
        id: RegionId,
        clauses: &[Clause<Typed>],
    ) -> Vec<ClauseKind<Typed>> {
        let program = self.program();
        let is_named = |var: VarId| {
            clauses.iter().any(|it| match &it.kind {
                ClauseKind::Private(items) => {
                    items.iter().any(|it| base(program, *it) == Some(var))
                }
                ClauseKind::Reduction(it) => {
                    it.items.iter().any(|it| base(program, *it) == Some(var))
                }
                _ => false,
            })
        };
        let adds = |var: VarId| {
            let mut vars = program.regions[id].vars.iter();
            vars.any(|it| it.var == var && it.written) && !is_named(var)
        };
        let mut sums = Vec::new();
        for kind in program.regions[around].construct.kinds().filter(|_| around != id) {
            let ClauseKind::Reduction(sum) = kind else { continue };
            let items: Vec<ExprId> = sum
                .items
                .iter()
                .copied()
                .filter(|it| base(program, *it).is_some_and(adds))
                .collect();
            if !items.is_empty() {
                sums.push(ClauseKind::Reduction(Reduction { items, ..sum.clone() }));
            }
        }
        sums
    }

    /// Variables of which a team has one that the iterations of a loop assign to: each thread gets its
    /// own, as each team has.
    fn copies_inside(
        &mut self,
        own: Vec<ExprId>,
        id: RegionId,
        clauses: &[Clause<Typed>],
    ) -> Vec<ExprId> {
        let program = self.program();
        let is_named = |var: VarId| {
            clauses.iter().any(|it| match &it.kind {
                ClauseKind::Private(items) | ClauseKind::LastPrivate { items, .. } => {
                    items.iter().any(|it| base(program, *it) == Some(var))
                }
                ClauseKind::Reduction(it) => {
                    it.items.iter().any(|it| base(program, *it) == Some(var))
                }
                _ => false,
            })
        };
        let counts = |var: VarId| program.regions[id].loops.iter().any(|it| it.var == var);
        let is_written =
            |var: VarId| program.regions[id].vars.iter().any(|it| it.var == var && it.written);
        own.into_iter()
            .filter(|it| match program.exprs[*it].kind {
                ExprKind::Var(var) => is_written(var) && !is_named(var) && !counts(var),
                _ => false,
            })
            .collect()
    }
}
