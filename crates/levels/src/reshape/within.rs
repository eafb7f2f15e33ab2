//! Nests whose outer loop every thread runs whole: threads begin there and share the loop inside, without waiting for each
//! other behind it. Its iterations are dealt in equal shares, so that a thread has the same ones each time.
//!
//! In: a program in which threads share the outer loop, in the words of teams, threads and lanes, and nests for which
//! `opt::shape` has chosen this. Not here: whether it may be done (`opt::shape::shared_inside`).

use ir::construct::{ClauseKind, Leaf, Schedule, ScheduleKind};
use ir::program::{Program, RegionId, StmtId, StmtKind, Typed};
use ir::region::{Loop, Region};

use opt::marks::LoopTree;
use opt::shape::Shape;

use super::edit::{add_clause, add_copies, remove_clauses};
use super::form::{add_region, form};

/// The two loops of such a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The loop that every thread runs whole.
    pub outer: StmtId,
    /// The loop that threads share.
    pub inner: StmtId,
}

impl Within {
    /// The loops that a shape is about; none if it is another.
    pub fn of(tree: &LoopTree, shape: &Shape) -> Option<Within> {
        let stmt = |it: &[usize]| Some(tree.loop_at(*it.first()?)?.stmt());
        Some(Within { outer: stmt(&shape.whole)?, inner: stmt(&shape.outer)? })
    }
}

/// Changes who runs a nest; the regions that say something else now, none if threads do not share the outer loop.
pub fn share_inside(program: &mut Program, nest: Within) -> Option<[RegionId; 2]> {
    let deals = |it: &Region| it.construct.has(Leaf::Parallel) && it.construct.has(Leaf::For);
    let outer = regions_of(program, nest.outer)
        .into_iter()
        .find(|it| deals(&program.regions[*it]) && program.regions[*it].loops.len() == 1)?;
    let inner = match regions_of(program, nest.inner).first().copied() {
        Some(id) if is_free(&program.regions[id]) => {
            let known = loop_of(program, nest.inner)?;
            program.regions[id].loops = vec![known];
            id
        }
        Some(_) => return None,
        None => add_region(program, nest.inner, Vec::new())?,
    };
    // From here on nothing fails.
    let schedule =
        Schedule { kind: ScheduleKind::Static, monotonic: None, simd: false, chunk: None };
    let leaves = &mut program.regions[inner].construct.leaves;
    leaves.insert(0, Leaf::For);
    add_clause(program, inner, ClauseKind::Schedule(schedule));
    add_clause(program, inner, ClauseKind::Nowait(None));
    remove_clauses(program, outer, is_for_shared_loops);
    let region = &mut program.regions[outer];
    // One team: of several each would run all of it.
    region.construct.leaves.retain(|it| matches!(it, Leaf::Offload | Leaf::Parallel));
    let counters = std::mem::take(&mut region.loops);
    let comes_from_outside = |it: &Loop| region.vars.iter().any(|var| var.var == it.var);
    if let Some(counter) = counters.first().filter(|it| comes_from_outside(it)).map(|it| it.var)
        && !is_copied(program, outer, counter)
    {
        add_copies(program, outer, &[counter]);
    }
    Some([outer, inner])
}

/// The directives that are about a loop.
fn regions_of(program: &Program, stmt: StmtId) -> Vec<RegionId> {
    let span = program.stmts[stmt].span;
    // A loop that got a directive stands in a statement of its own now, at the same place.
    let is_about = |it: &Region| {
        it.body == Some(stmt) || it.loops.iter().any(|it| it.stmt == stmt || it.span == span)
    };
    program.regions.iter().filter(|it| is_about(it.1)).map(|it| it.0).collect()
}

/// The loop of a directive, in the form that directives ask for.
fn loop_of(program: &Program, stmt: StmtId) -> Option<Loop> {
    let stmt = match program.stmts[stmt].kind {
        StmtKind::Region(id) => program.regions[id].body?,
        _ => stmt,
    };
    let mut known = program.regions.iter().flat_map(|it| it.1.loops.iter());
    known.find(|it| it.stmt == stmt).cloned().or_else(|| form(program, stmt))
}

/// Whether nobody shares the loop of a directive but lanes.
fn is_free(region: &Region) -> bool {
    region.construct.leaves.iter().all(|it| *it == Leaf::Simd)
}

/// Whether a clause is about how threads and teams share a loop.
fn is_for_shared_loops(kind: &ClauseKind<Typed>) -> bool {
    matches!(
        kind,
        ClauseKind::Schedule(_)
            | ClauseKind::DistSchedule(_)
            | ClauseKind::Collapse { .. }
            | ClauseKind::Order(_)
            | ClauseKind::Bind(_)
            | ClauseKind::NumTeams { .. }
            | ClauseKind::ThreadLimit(_)
    )
}

/// Whether a clause of a directive copies a variable.
fn is_copied(program: &Program, id: RegionId, var: ir::program::VarId) -> bool {
    program.regions[id].construct.kinds().any(|it| match it {
        ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => {
            items.iter().any(|it| crate::items::base(program, *it) == Some(var))
        }
        _ => false,
    })
}
