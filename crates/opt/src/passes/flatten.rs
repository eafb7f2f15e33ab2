//! `flatten`: a loop that teams share and then their threads becomes one that all threads share, and so does a loop for
//! threads in a loop for teams.
//!
//! Only if nobody can tell who runs an iteration: no number of a team or thread is looked at, and nothing else is done
//! by teams or threads but to combine what the iterations have given: what threads combine for their team, and teams for
//! all, all threads combine at once. Inner loops may follow outer ones, as in triangles, if there is a box around them. The
//! kernel is in SPMD form then, but for that loop and those reductions.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, VarId};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::{self, uses};
use kernel::{Block, Crew, Dim, Reduce, Schedule, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashSet;

use super::rectangularize::has_box;
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if !asks_for_several(cx.program, cx.kernel.region) {
        return Ok(());
    }
    let Some((around, threads)) = threads_code(&cx.kernel.body, cx) else { return Ok(()) };
    let Some(share) = only_share(threads, around.pieces) else { return Ok(()) };
    if share.ordered || share.pieces.is_some() {
        return Ok(());
    }
    let dims: Vec<Dim> = around.dims.iter().chain(&share.dims).cloned().collect();
    let Some(dims) = one_nest(cx, around.dims.len(), dims) else { return Ok(()) };
    let loops = dims.len();
    let span = cx.kernel.span;
    let mut body = threads.clone();
    if combine_at_once(cx.program, &mut body, &around.sums).is_none() {
        return Ok(());
    }
    let (number, count) = {
        let build = &mut cx.build(span);
        (build.fresh_number("one"), build.fresh_number("all"))
    };
    let all = Crew { number, count };
    // A thread that has a processor to itself takes iterations that follow each other.
    let schedule = match cx.groups.most_threads {
        1 => Schedule::Blocks,
        _ => Schedule::RoundRobin(cx.build(span).number(1)),
    };
    give(&mut body, all, schedule, &dims);
    let outer: Vec<VarId> = around.dims.iter().map(|it| it.var).collect();
    let taken = cx.kernel.threads.vars().into_iter().chain(cx.kernel.groups.vars());
    let gone: FxHashSet<VarId> =
        around.declared.into_iter().filter(|it| !outer.contains(it)).chain(taken).collect();
    if names_any(cx, &body, &gone) {
        return Ok(());
    }
    cx.kernel.spaces.retain(|it| it.1 != Space::Group || !gone.contains(&it.0));
    // Each thread has its own of what was the team's.
    for (var, space) in cx.kernel.spaces.iter_mut().filter(|it| outer.contains(&it.0)) {
        *space = Space::Private;
        body.insert(0, Stmt::new(StmtKind::Local(*var), span));
    }
    cx.kernel.spaces.push((number, Space::Private));
    cx.kernel.spaces.push((count, Space::Uniform));
    cx.kernel.all = Some(all);
    (cx.kernel.launch.spread, cx.kernel.launch.loops) = (Some([1, 1, 0]), loops);
    cx.kernel.body = body;
    Ok(())
}

/// Whether no construct may ask for one team or one thread: those run iterations in order, and the next may need the last.
pub(super) fn asks_for_several(program: &Program, region: RegionId) -> bool {
    let several = |it: &ExprId| matches!(program.exprs[*it].kind, ExprKind::Int(it) if it > 1);
    program.inside(region).into_iter().chain([region]).all(|it| {
        program.regions[it].construct.clauses.iter().all(|clause| match &clause.kind {
            ClauseKind::NumTeams { counts, .. } | ClauseKind::NumThreads { counts, .. } => {
                counts.iter().all(several)
            }
            ClauseKind::ThreadLimit(size) | ClauseKind::VectorLength(size) => several(size),
            ClauseKind::If(_) => clause.on != Some(Leaf::Parallel),
            _ => true,
        })
    })
}

/// What stands around the code of threads.
#[derive(Default)]
struct Around {
    /// Variables that are declared there.
    declared: Vec<VarId>,
    /// The iterations that a team has.
    pieces: Option<kernel::Range>,
    /// Loops for teams around the loop for threads.
    dims: Vec<Dim>,
    /// What teams combine, and what gives a team's copy its first value.
    sums: Vec<(Reduce, StmtId)>,
}

/// The code of the threads, if it is all that teams have.
fn threads_code<'b>(block: &'b Block, cx: &Cx<'_>) -> Option<(Around, &'b Block)> {
    let mut around = Around::default();
    let mut block = block;
    let mut has_teams = false;
    // Cores are one team.
    let is_lone = cx.vector > 0;
    loop {
        let mut inner = None;
        let sums = block.iter().filter_map(|it| match &it.kind {
            StmtKind::Reduce(it) if it.is_league => Some(it.as_ref()),
            _ => None,
        });
        let sums: Vec<Reduce> = sums.cloned().collect();
        // A copy of what teams combine that has got its place, and now gets its first value.
        let mut begins = None;
        for stmt in block {
            match &stmt.kind {
                StmtKind::Reduce(it) if inner.is_some() && it.is_league => {}
                _ if inner.is_some() => return None,
                StmtKind::Local(var)
                    if begins.is_some() || sums.iter().any(|it| it.copy == *var) =>
                {
                    begins = begins.or_else(|| sums.iter().find(|it| it.copy == *var));
                    around.declared.push(*var);
                }
                // A team's own copy of what is private may be one that nobody looks at, as threads have theirs.
                StmtKind::Local(var)
                    if is_lone
                        || matches!(cx.kernel.space(*var), Some(Space::Uniform | Space::Group)) =>
                {
                    around.declared.push(*var);
                }
                StmtKind::Code(code) if begins.is_some() => {
                    around.sums.extend(begins.take().map(|it| (it.clone(), *code)));
                }
                // Of a variable that nobody looks at later.
                StmtKind::Eval(e) => match cx.program.exprs[*e].kind {
                    ExprKind::Assign(to, _) => match cx.program.exprs[to].kind {
                        ExprKind::Var(var) if around.declared.contains(&var) => {}
                        _ => return None,
                    },
                    _ => return None,
                },
                StmtKind::Block(_)
                | StmtKind::Teams(_)
                | StmtKind::Share(_)
                | StmtKind::Parallel(_) => inner = Some(&stmt.kind),
                _ => return None,
            }
        }
        if sums.iter().any(|it| !around.sums.iter().any(|one| one.0.copy == it.copy)) {
            return None;
        }
        match inner? {
            StmtKind::Block(inside) => block = inside,
            StmtKind::Teams(it) => {
                has_teams = true;
                around.declared.extend(it.crew.vars());
                block = &it.body;
            }
            StmtKind::Share(it) if has_teams && !it.ordered && it.last.is_empty() => {
                match it.pieces {
                    Some(pieces) => {
                        around.pieces = Some(pieces);
                        around.declared.extend(pieces.vars());
                    }
                    None => around.dims.extend(it.dims.iter().cloned()),
                }
                around.declared.push(it.number);
                block = &it.body;
            }
            StmtKind::Parallel(it)
                if it.condition.is_none()
                    && (around.pieces.is_some() || !around.dims.is_empty() || is_lone) =>
            {
                around.declared.push(it.crew.count);
                return Some((around, &it.body));
            }
            _ => return None,
        }
    }
}

/// The one loop in the code of threads, which they share; nothing is done behind it, and nobody waits.
fn only_share(block: &Block, within: Option<kernel::Range>) -> Option<&Share> {
    let mut found = None;
    for stmt in block {
        match &stmt.kind {
            StmtKind::Reduce(it) if found.is_some() && !it.is_league => {}
            _ if found.is_some() => return None,
            StmtKind::Share(it) if it.within == within => found = Some(it.as_ref()),
            StmtKind::Block(inner) if inner.iter().any(|it| it.kind.any(&is_share)) => {
                found = Some(only_share(inner, within)?);
            }
            StmtKind::Local(_) | StmtKind::Eval(_) | StmtKind::Code(_) => {}
            _ => return None,
        }
    }
    let share = found?;
    let is_plain = |it: &Stmt| {
        !it.kind.any(&|it| {
            is_share(it)
                || matches!(
                    it,
                    StmtKind::Teams(_)
                        | StmtKind::Parallel(_)
                        | StmtKind::On(..)
                        | StmtKind::Barrier
                        | StmtKind::Shuffle(_)
                        | StmtKind::Reduce(_)
                )
        })
    };
    share.body.iter().chain(&share.last).all(is_plain).then_some(share)
}

fn is_share(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Share(_))
}

/// Threads begin and combine as teams would, which `sums` says; answers whether that is all that is combined.
fn combine_at_once(
    program: &mut Program,
    body: &mut Block,
    sums: &[(Reduce, StmtId)],
) -> Option<()> {
    let mut left: Vec<&(Reduce, StmtId)> = sums.iter().collect();
    let mut begins = Vec::new();
    for stmt in body.iter_mut() {
        match &mut stmt.kind {
            StmtKind::Block(inner) if inner.iter().any(|it| it.kind.any(&is_reduce)) => {
                return None;
            }
            StmtKind::Reduce(it) => {
                let is_named = |sum: &Reduce| {
                    let named = |code| uses(program, Part::Stmt(code)).0;
                    it.combine.iter().any(|stmt| match stmt.kind {
                        StmtKind::Code(code) => named(code).iter().any(|it| it.var == sum.copy),
                        _ => false,
                    })
                };
                let at = left.iter().position(|it| is_named(&it.0))?;
                let (sum, begin) = left.remove(at);
                let mut copier = Copier::new(program);
                copier.vars.insert(sum.copy, it.copy);
                let indices = sum.elements.zip(it.elements);
                copier.vars.extend(indices.map(|(from, to)| (from.index, to.index)));
                begins.push((it.copy, copier.stmt(*begin)));
                it.combine.clone_from(&sum.combine);
                for stmt in &mut it.combine {
                    let StmtKind::Code(code) = &mut stmt.kind else { return None };
                    *code = copier.stmt(*code);
                }
            }
            _ => {}
        }
    }
    let mut list = body.iter_mut();
    while let Some(stmt) = list.next() {
        let StmtKind::Local(var) = stmt.kind else { continue };
        let Some((_, begin)) = begins.iter().find(|it| it.0 == var) else { continue };
        let code = list.find_map(|it| match &mut it.kind {
            StmtKind::Code(code) => Some(code),
            _ => None,
        });
        *code? = *begin;
    }
    left.is_empty().then_some(())
}

fn is_reduce(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Reduce(_))
}

/// Loops as those of one nest, of which so many are around the others; nothing if bounds follow each other in a way that
/// no box is known for.
fn one_nest(cx: &Cx<'_>, around: usize, mut dims: Vec<Dim>) -> Option<Vec<Dim>> {
    if around == 0 {
        return Some(dims);
    }
    let (outer, inner) = dims.split_at_mut(around);
    for dim in inner.iter_mut() {
        let bounds = [Some(dim.begin), Some(dim.bound), dim.step].into_iter().flatten();
        let named = bounds.flat_map(|it| uses(cx.program, Part::Expr(it)).0);
        if named.into_iter().any(|it| outer.iter().any(|dim| dim.var == it.var)) {
            dim.rectangular = false;
        }
    }
    let is_even = dims.iter().all(|it| it.rectangular);
    // No pass makes boxes of nests for cores and for groups of one thread.
    let has_boxes = cx.vector == 0 && cx.groups.most_threads > 1;
    (is_even || has_boxes && has_box(cx, &dims)).then_some(dims)
}

/// Gives the loop to another crew, as the nest of these loops.
fn give(block: &mut Block, crew: Crew, schedule: Schedule, dims: &[Dim]) {
    for stmt in block {
        match &mut stmt.kind {
            StmtKind::Share(it) => {
                (it.crew, it.schedule, it.within) = (crew, schedule, None);
                it.dims = dims.to_vec();
            }
            StmtKind::Reduce(it) => it.crew = crew,
            StmtKind::Block(inner) => give(inner, crew, schedule, dims),
            _ => {}
        }
    }
}

/// Whether code names one of some variables.
pub(super) fn names_any(cx: &Cx<'_>, block: &Block, vars: &FxHashSet<VarId>) -> bool {
    let named = |part: Part| uses(cx.program, part).0.iter().any(|it| vars.contains(&it.var));
    walk::all(block).into_iter().any(|stmt| {
        let own = stmt.kind.reads().into_iter().chain(stmt.kind.sets());
        own.into_iter().any(|it| vars.contains(&it))
            || stmt.kind.exprs().into_iter().any(|it| named(Part::Expr(it)))
            || matches!(&stmt.kind, StmtKind::Code(it) if named(Part::Stmt(*it)))
    })
}
