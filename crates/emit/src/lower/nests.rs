//! Threads inside teams, on a device made of cores: which loop of such a nest has the threads.
//!
//! In: a program in which a loop dealt to teams holds loops dealt to threads. A core has no threads of its own, so
//! threads would be started and stopped in each iteration of the outer loop. Out: the same program with all cores on
//! the outer loop (or on both, made one) and the inner loops in lanes or in order, where crate `opt` finds that this
//! costs less and nobody can tell the difference ([`is_plain`], [`Remap::is_safe`]).
//!
//! Only what stands in a region that leaves the host is looked at. Sizes that were asked for go with the shape.

use directive::HOST_DIALECT;
use ir::construct::{Clause, ClauseKind, Leaf, ReductionOp};
use ir::program::{Expr, ExprId, ExprKind, Program, RegionId, StmtId, Typed, VarId};
use ir::region::{Region, Sharing};
use ir::types::{IntKind, TypeKind};
use opt::dependence::Analysis;
use opt::marks::{Check, Levels, LoopTree, Parallel};
use opt::shape::{self, Because, Choice, Respect, Shape, Terms};

use super::in_order;
use super::levels::{About, Leveled, Note, base, is_straight, plain};
use super::mapping::{Mapping, Pinned, refused};
use levels::reshape::{Within, share_inside};

/// Chooses for nests of teams and threads; the program as written, and as it is now.
pub(super) fn remap(
    written: &Program,
    leveled: Option<Leveled>,
    mapping: &Mapping<'_>,
) -> Option<Leveled> {
    let outer: Vec<RegionId> =
        written.regions.iter().map(|it| it.0).filter(|it| is_outer(written, *it)).collect();
    if outer.is_empty() {
        return leveled;
    }
    let leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    let analysis = Analysis::new(written);
    let mut pass = Remap { written, analysis, leveled };
    outer.iter().for_each(|it| pass.nest(*it, mapping));
    Some(pass.leveled)
}

struct Remap<'a> {
    written: &'a Program,
    analysis: Analysis<'a>,
    leveled: Leveled,
}

/// A loop that teams share, in a region that leaves the host, with loops inside that threads share.
fn is_outer(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let construct = &region.construct;
    let deals = construct.has(Leaf::Distribute) || construct.has(Leaf::Loop);
    construct.dialect == HOST_DIALECT
        && deals
        && !construct.has(Leaf::Parallel)
        && !construct.has(Leaf::For)
        && !region.loops.is_empty()
        // A loop inside of another that teams share is none of theirs.
        && program.around(id).skip(1).all(|it| program.regions[it].loops.is_empty())
        && program.around(id).any(|it| program.regions[it].construct.has(Leaf::Teams))
        && program.around(id).any(|it| program.regions[it].construct.has(Leaf::Offload))
        && program.inside(id).iter().any(|it| is_threads(program, *it))
}

/// A loop that threads share.
fn is_threads(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let leaves = &region.construct.leaves;
    !region.loops.is_empty()
        && leaves
            .iter()
            .all(|it| matches!(it, Leaf::Parallel | Leaf::For | Leaf::Simd | Leaf::Loop))
        && leaves.iter().any(|it| matches!(it, Leaf::Parallel | Leaf::Loop))
}

impl Remap<'_> {
    fn nest(&mut self, id: RegionId, mapping: &Mapping<'_>) {
        let program = self.written;
        let Some(body) = program.regions[id].body else { return };
        let is_for_one =
            in_order::asks_one(program, id) || in_order::may_need_one(program, &self.analysis, id);
        if is_for_one || !self.is_safe(id) {
            return;
        }
        let tree = self.analysis.marks_in(body, &mapping.marks);
        let plain = mapping.without_lanes(program, &tree);
        let may_share_inside = mapping.may_share_inside(program, id);
        let terms = Terms { may_share_inside, ..Terms::all(Respect::Nothing, &plain) };
        let choices = shape::choose_with(program, &tree, mapping.profile, terms);
        let Some(mut choice) = choices.into_iter().next() else { return };
        let function = program.regions[id].function;
        let faults = &mut self.leveled.faults;
        if let Some(pinned) = mapping.pinned(program, function, &tree, choice.root, faults)
            && !self.pin(id, &tree, &pinned, &mut choice)
        {
            return;
        }
        let within = Within::of(&tree, &choice.shape);
        choice.shape = choice.shape.outside();
        let Some(count) = self.outer_count(id, &tree, &choice) else { return };
        self.note(id, &tree, &choice);
        let lanes: Vec<StmtId> = choice
            .shape
            .lanes
            .iter()
            .filter_map(|it| tree.loop_at(*it))
            .map(opt::marks::LoopMark::stmt)
            .collect();
        for inner in program.inside(id).into_iter().filter(|it| is_threads(program, *it)) {
            self.in_thread(inner, &lanes);
        }
        self.take_threads(id, count);
        let made = within.and_then(|it| share_inside(&mut self.leveled.program, it));
        self.leveled.shares_inside |= made.is_some();
        self.leveled.changed.extend(made.into_iter().flatten());
    }

    /// Puts what is pinned in place of what was chosen; answers whether anything is to be done.
    fn pin(&mut self, id: RegionId, tree: &LoopTree, pinned: &Pinned, choice: &mut Choice) -> bool {
        let program = self.written;
        let with = |is: fn(Levels) -> bool| {
            pinned.iter().filter(|it| is(it.1)).map(|it| it.0).collect::<Vec<usize>>()
        };
        let mut shape = Shape {
            whole: with(|it| it.whole),
            outer: with(|it| it.teams),
            split: with(|it| it.threads && !it.teams),
            lanes: with(|it| it.lanes),
        };
        if !shape.whole.is_empty() && shape.outer.is_empty() {
            shape.outer = std::mem::take(&mut shape.split);
        }
        let is_written = !shape.split.is_empty();
        if !is_written && shape.outer.len() < program.regions[id].loops.len() {
            let span =
                tree.loop_at(choice.root).map_or(program.regions[id].span, |it| it.finding.span);
            let name = tree.loop_at(choice.root).map_or("loop", |it| it.name(program));
            let why = "teams share it by its directive, and so must all loops of that";
            self.leveled.faults.push(refused("this nest", name, span, why));
            return false;
        }
        choice.why = format!("{}: pinned", shape.text(program, tree));
        choice.because = Because::Cheapest;
        choice.shape = shape;
        !is_written
    }

    /// How many loops have all cores by this choice; none if the nest stays as it is.
    fn outer_count(&self, id: RegionId, tree: &LoopTree, choice: &Choice) -> Option<usize> {
        let own = self.written.regions[id].loops.len();
        let is_changed = match choice.because {
            Because::Cheapest => true,
            Because::Kept | Because::Uncertain | Because::NothingParallel => false,
        };
        let count = choice.shape.outer.len();
        if !is_changed || !choice.shape.split.is_empty() || count < own {
            return None;
        }
        // The variables of each loop are its own, by a clause or because it counts with them.
        let is_complete = |at: &usize| {
            tree.loop_at(*at).is_some_and(|mark| match mark.parallel {
                Parallel::User(Check::Confirmed) => true,
                Parallel::User(Check::Incomplete) => self.are_inner(id, &mark.finding.private),
                Parallel::User(Check::Open) => {
                    mark.finding.is_settled && self.are_inner(id, &mark.finding.private)
                }
                Parallel::User(Check::Doubtful | Check::Refuted)
                | Parallel::Proved
                | Parallel::ProvedIf
                | Parallel::Ordered
                | Parallel::No(_) => false,
            })
        };
        let sums_are_named = choice.shape.outer.iter().take(own).all(|at| {
            tree.loop_at(*at).is_some_and(|mark| {
                mark.finding.reductions.iter().all(|it| mark.said.copies.contains(&it.0))
            })
        });
        let fits = choice.shape.outer.iter().take(own).all(is_complete) && sums_are_named;
        if !fits {
            return None;
        }
        // Making more loops one takes an inner directive whole, without variables of its own.
        match count == own {
            true => Some(own),
            false => self.is_mergeable(id, count).then_some(count).or(Some(own)),
        }
    }

    /// Whether the nest of the outer directive goes on in one inner directive that says nothing else.
    fn is_mergeable(&self, id: RegionId, count: usize) -> bool {
        let program = self.written;
        let threads: Vec<RegionId> =
            program.inside(id).into_iter().filter(|it| is_threads(program, *it)).collect();
        let [only] = threads.as_slice() else { return false };
        let inner = &program.regions[*only];
        let own = program.regions[id].loops.len();
        let has_lists = inner
            .construct
            .kinds()
            .any(|it| matches!(it, ClauseKind::Private(_) | ClauseKind::Reduction(_)));
        let declared = inner.loops.iter().all(|it| {
            let own = inner.vars.iter().any(|var| var.var == it.var);
            !own
        });
        !has_lists
            && declared
            && inner.loops.len() == count - own
            && inner.loops.iter().all(|it| it.rectangular)
    }

    /// Whether variables are all private to loops or directives inside a region, or to itself.
    fn are_inner(&self, id: RegionId, vars: &[VarId]) -> bool {
        let program = self.written;
        let own = std::iter::once(id).chain(program.inside(id));
        let regions: Vec<&Region> = own.map(|it| &program.regions[it]).collect();
        vars.iter().all(|var| {
            regions.iter().any(|region| {
                region.loops.iter().any(|it| it.var == *var)
                    || region.vars.iter().any(|it| {
                        let sharing = it.sharing.as_ref().map(|it| &it.value);
                        it.var == *var && sharing == Some(&Sharing::Private)
                    })
            })
        })
    }

    /// Whether nobody can tell which thread or team runs what: nothing but loops, lanes and indivisible
    /// accesses inside, no clause that counts on one thread after another, no call that asks.
    fn is_safe(&self, id: RegionId) -> bool {
        let program = self.written;
        let region = &program.regions[id];
        let asks = |name: &str| directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
        let is_quiet = |it: &ir::program::FunctionId| {
            let function = &program.functions[*it];
            let has_regions = program.regions.iter().any(|region| region.1.function == *it);
            function.body.is_some() && !has_regions && !asks(program.names.text(function.name))
                || function.body.is_none() && self.analysis.is_pure(*it)
        };
        let is_known = |it: &RegionId| {
            let construct = &program.regions[*it].construct;
            let is_small = |it: &Leaf| matches!(it, Leaf::Simd | Leaf::Atomic);
            is_threads(program, *it) || construct.leaves.iter().all(is_small)
        };
        let inner = program.inside(id);
        let owns = |it: &RegionId| program.regions[*it].construct.clauses.iter().all(is_plain);
        region.indirect_calls.is_empty()
            && region.reaches.iter().all(is_quiet)
            && inner.iter().all(is_known)
            && inner.iter().filter(|it| is_threads(program, **it)).all(owns)
            && inner.iter().all(|it| self.sums_go_on(id, *it))
            && region.construct.clauses.iter().all(|it| {
                !matches!(it.kind, ClauseKind::LastPrivate { .. } | ClauseKind::Allocate(_))
            })
    }

    /// What an inner loop combines, the outer one combines likewise, or each of its iterations has it.
    fn sums_go_on(&self, id: RegionId, inner: RegionId) -> bool {
        let program = self.written;
        let sums = |id: RegionId| {
            let mut found: Vec<(VarId, ReductionOp<Typed>)> = Vec::new();
            for kind in program.regions[id].construct.kinds() {
                let ClauseKind::Reduction(it) = kind else { continue };
                let vars = it.items.iter().filter_map(|item| base(program, *item));
                found.extend(vars.map(|var| (var, it.op.clone())));
            }
            found
        };
        let outer = sums(id);
        let comes_from_outside =
            |var: VarId| program.regions[id].vars.iter().any(|it| it.var == var);
        sums(inner).iter().all(|it| !comes_from_outside(it.0) || outer.contains(it))
    }

    /// An inner loop is run by the thread that meets it.
    fn in_thread(&mut self, id: RegionId, lanes: &[StmtId]) {
        let program = self.written;
        let region = &program.regions[id];
        let rounds = |kind: &ClauseKind<Typed>| match kind {
            ClauseKind::Reduction(it) => {
                let is_whole = |it: &ExprId| program.types.is_integer(program.exprs[*it].ty);
                !matches!(it.op, ReductionOp::Max | ReductionOp::Min)
                    && !it.items.iter().all(is_whole)
            }
            _ => false,
        };
        let is_plain_var = |item: &ExprId| match program.exprs[*item].kind {
            ExprKind::Var(var) => program.types.is_scalar(program.vars[var].ty),
            _ => false,
        };
        let has_plain_lists = region.construct.kinds().all(|it| match it {
            ClauseKind::Private(items) => items.iter().all(is_plain_var),
            ClauseKind::Reduction(it) => it.items.iter().all(is_plain_var),
            _ => true,
        });
        let asked = region.construct.has(Leaf::Simd);
        let chosen = region.loops.last().is_some_and(|it| lanes.contains(&it.stmt));
        let straight = region.loops.last().is_some_and(|it| is_straight(program, it.body));
        // Lanes add in another order; not without being asked to.
        let has_lanes = asked
            || chosen
                && straight
                && region.loops.len() == 1
                && has_plain_lists
                && !region.construct.kinds().any(rounds);
        let keeps = |it: &Clause<Typed>| match &it.kind {
            ClauseKind::Private(_) => true,
            ClauseKind::Reduction(_) | ClauseKind::Collapse { .. } => has_lanes,
            ClauseKind::Safelen(_) | ClauseKind::Simdlen(_) | ClauseKind::Aligned(..) => asked,
            _ => false,
        };
        let region = &mut self.leveled.program.regions[id];
        region.construct.leaves = if has_lanes { vec![Leaf::Simd] } else { Vec::new() };
        region.retain_clauses(keeps);
        region.construct.clauses.iter_mut().for_each(|it| it.on = None);
        self.leveled.changed.insert(id);
    }

    /// The loops of the outer directive, and perhaps more of the nest, have all cores.
    fn take_threads(&mut self, id: RegionId, count: usize) {
        let own = self.written.regions[id].loops.len();
        let region = &mut self.leveled.program.regions[id];
        let leaves = &mut region.construct.leaves;
        leaves.retain(|it| !matches!(it, Leaf::Loop | Leaf::Distribute | Leaf::Simd));
        leaves.extend([Leaf::Distribute, Leaf::Parallel, Leaf::For]);
        region.retain_clauses(|it| {
            !matches!(
                it.kind,
                ClauseKind::NumTeams { .. }
                    | ClauseKind::ThreadLimit(_)
                    | ClauseKind::DistSchedule(_)
                    | ClauseKind::Bind(_)
                    | ClauseKind::Order(_)
            )
        });
        self.leveled.changed.insert(id);
        if count == own {
            return;
        }
        let more: Vec<ir::region::Loop> = self
            .written
            .inside(id)
            .into_iter()
            .filter(|it| is_threads(self.written, *it))
            .flat_map(|it| self.written.regions[it].loops.clone())
            .collect();
        let program = &mut self.leveled.program;
        let span = program.regions[id].construct.span;
        let ty = program.types.get(TypeKind::Int(IntKind::Int));
        let value = i64::try_from(count).unwrap_or(1);
        let count = program.exprs.push(Expr { kind: ExprKind::Int(value), ty, span });
        let region = &mut program.regions[id];
        region.loops.extend(more);
        region.retain_clauses(|it| !matches!(it.kind, ClauseKind::Collapse { .. }));
        region.construct.clauses.push(plain(ClauseKind::Collapse { force: false, count }, span));
    }

    fn note(&mut self, id: RegionId, tree: &LoopTree, choice: &Choice) {
        let program = self.written;
        let is_start = |it: &RegionId| program.regions[*it].construct.has(Leaf::Offload);
        let Some(start) = program.around(id).find(is_start) else { return };
        let Some(mark) = tree.loop_at(choice.root) else { return };
        self.leveled.notes.push(Note {
            about: About::Loop,
            region: program.regions[start].construct.span,
            span: mark.finding.span,
            text: format!("{}: {}", mark.name(program), choice.why),
            at: None,
        });
    }
}

/// Whether a clause of a loop for threads means nothing, or the same, where one thread runs it.
fn is_plain(clause: &Clause<Typed>) -> bool {
    matches!(
        clause.kind,
        ClauseKind::Private(_)
            | ClauseKind::Reduction(_)
            | ClauseKind::Schedule(_)
            | ClauseKind::Collapse { .. }
            | ClauseKind::NumThreads { .. }
            | ClauseKind::Shared(_)
            | ClauseKind::Default(..)
            | ClauseKind::Bind(_)
            | ClauseKind::Order(_)
            | ClauseKind::Nowait(_)
            | ClauseKind::Safelen(_)
            | ClauseKind::Simdlen(_)
            | ClauseKind::Aligned(..)
    )
}
