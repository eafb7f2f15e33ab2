//! Regions with several loops after each other, whose loops become regions of their own for grids of threads.
//!
//! In: a program with constructs that leave it to us how their code is run (`kernels`), or whose teams run again what they do not
//! share (`parallel` of OpenACC). Out: the same program, in which each such construct keeps its data only, and each statement
//! of it is a region that finds them there: groups of a grid do not wait for each other, so loops after each other could else
//! be run by one of them alone.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{
    ExprId, ExprKind, Program, RegionId, Stmt, StmtId, StmtKind, Typed, VarId, VarStorage,
};
use ir::region::{Region, RegionVar, Sharing};
use ir::walk::{Part, regions_in};
use source::Span;

use super::bound;

/// Makes regions of the statements of such constructs; none if there is nothing to be gained.
pub(super) fn split(program: &Program) -> Option<Program> {
    let found: Vec<(RegionId, StmtId)> = program
        .regions
        .iter()
        .filter_map(|(id, region)| Some((id, statements_of(program, id, region)?)))
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut made = program.clone();
    found.into_iter().for_each(|(id, block)| part(&mut made, id, block));
    Some(made)
}

/// The block whose statements may be regions.
fn statements_of(program: &Program, id: RegionId, region: &Region) -> Option<StmtId> {
    let construct = &region.construct;
    let may_split = construct.leaves == [Leaf::Kernels]
        || construct.rules.redundant_teams && construct.leaves == [Leaf::Offload, Leaf::Teams];
    let is_held = |it: &ClauseKind<Typed>| !is_for_each(program, region, it);
    if !may_split || construct.kinds().any(is_held) || !runs_alike(program, id) {
        return None;
    }
    let mut block = region.body?;
    let list = loop {
        match &program.stmts[block].kind {
            StmtKind::Block(list) => match list.as_ref() {
                [one] if matches!(program.stmts[*one].kind, StmtKind::Block(_)) => block = *one,
                list => break list,
            },
            _ => return None,
        }
    };
    let is_loop = |it: &&StmtId| {
        matches!(program.stmts[**it].kind, StmtKind::For(_)) || is_loop_region(program, **it)
    };
    let parts = list.iter().filter(|it| !matches!(program.stmts[**it].kind, StmtKind::Empty));
    let may_stand_alone = |it: &StmtId| {
        matches!(
            program.stmts[*it].kind,
            StmtKind::For(_)
                | StmtKind::Expr(_)
                | StmtKind::If(..)
                | StmtKind::Block(_)
                | StmtKind::Empty
        ) || is_loop_region(program, *it)
    };
    let has_several = parts.clone().count() > 1 && parts.clone().any(|it| is_loop(&it));
    // Values that the region has copies of may go from one statement to the next.
    let is_copy = |it: &&RegionVar| {
        let is_shared = match &it.sharing {
            Some(sharing) => sharing.value == Sharing::Shared,
            None => !it.mappings.is_empty(),
        };
        it.written && !is_shared
    };
    let mut copies = region.vars.iter().filter(is_copy);
    let carries =
        |it: &RegionVar| parts.clone().filter(|at| uses(program, **at, it.var)).count() > 1;
    let calls = !region.reaches.is_empty() || !region.indirect_calls.is_empty();
    let is_fit = has_several && list.iter().all(may_stand_alone);
    (is_fit && !copies.any(|it| calls || carries(it))).then_some(block)
}

/// Whether a statement names a variable, directives in it included.
fn uses(program: &Program, stmt: StmtId, var: VarId) -> bool {
    let named = |it: &RegionId| program.regions[*it].vars.iter().any(|it| it.var == var);
    regions_in(program, stmt).iter().any(named)
        || program.any_expr(Part::Stmt(stmt), |it| *it == ExprKind::Var(var))
}

/// Whether each region may have a clause: it says what data are there, how a loop is run, or in which queue.
fn is_for_each(program: &Program, region: &Region, clause: &ClauseKind<Typed>) -> bool {
    match clause {
        ClauseKind::Async(queue) => queue.is_none_or(|it| is_steady(program, region, it)),
        ClauseKind::Wait(_)
        | ClauseKind::Map(_)
        | ClauseKind::DevicePointer(_)
        | ClauseKind::Default(..)
        | ClauseKind::NumTeams { .. }
        | ClauseKind::NumWorkers(_)
        | ClauseKind::VectorLength(_)
        | ClauseKind::Private(_)
        | ClauseKind::FirstPrivate { .. } => true,
        _ => false,
    }
}

/// Whether the host may compute a value several times, and finds the same: nothing in it is changed, by the region or else.
fn is_steady(program: &Program, region: &Region, value: ExprId) -> bool {
    let changes = |it: &ExprKind| match it {
        ExprKind::Var(var) => {
            let is_written = region.vars.iter().any(|it| it.var == *var && it.written);
            is_written
                || !matches!(
                    program.vars[*var].storage,
                    VarStorage::Local(_) | VarStorage::Param(_)
                )
        }
        ExprKind::Int(_) | ExprKind::EnumConst(..) | ExprKind::Cast(..) => false,
        ExprKind::Unary(..) | ExprKind::Binary(..) => false,
        _ => true,
    };
    !program.any_expr(Part::Expr(value), changes)
}

/// Whether the host runs what devices run, if it must.
fn runs_alike(program: &Program, id: RegionId) -> bool {
    let differing = program.fallback.as_deref().map(|it| it.regions.clone()).unwrap_or_default();
    let bound = bound::regions(program);
    program
        .inside(id)
        .into_iter()
        .chain([id])
        .map(|it| program.regions[it].construct.span)
        .all(|it| !differing.contains(&it) && !bound.contains(&it))
}

fn is_loop_region(program: &Program, stmt: StmtId) -> bool {
    let StmtKind::Region(id) = program.stmts[stmt].kind else { return false };
    program.regions[id].construct.leaves == [Leaf::Loop]
}

/// The construct is one for data from now on, with a region for each statement of its block.
fn part(program: &mut Program, id: RegionId, block: StmtId) {
    let StmtKind::Block(list) = program.stmts[block].kind.clone() else { return };
    let whole = program.regions[id].clone();
    let statements: Vec<StmtId> =
        list.iter().map(|it| region_of(program, &whole, id, *it)).collect();
    program.stmts[block].kind = StmtKind::Block(statements.into());
    let region = &mut program.regions[id];
    region.construct.leaves = vec![Leaf::DataRegion];
    region.vars.retain(|it| !it.mappings.is_empty());
    for var in &mut region.vars {
        var.sharing = None;
    }
    region.retain_clauses(|it| {
        !matches!(it.kind, ClauseKind::FirstPrivate { .. } | ClauseKind::Private(_))
    });
}

/// A statement in a region of its own, like the one that it is part of.
fn region_of(program: &mut Program, whole: &Region, id: RegionId, stmt: StmtId) -> StmtId {
    let span = program.stmts[stmt].span;
    if matches!(program.stmts[stmt].kind, StmtKind::Empty) {
        return stmt;
    }
    let within = regions_in(program, stmt);
    let mut made = whole.clone();
    let start = match program.stmts[stmt].kind {
        StmtKind::Region(inner) => program.regions[inner].construct.span,
        _ => span,
    };
    // Directives are told from each other by where they stand; reports tell of the one that was written.
    made.construct.span = Span::new(start.start, start.start);
    made.body = Some(program.stmts.push(Stmt { kind: StmtKind::Block([stmt].into()), span }));
    made.parent = Some(id);
    let is_used = |item: &ExprId| {
        let is_it = |it: &ExprKind| matches!(it, ExprKind::Var(var) if uses(program, stmt, *var));
        program.any_expr(Part::Expr(*item), is_it)
    };
    for clause in &mut made.construct.clauses {
        if let ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } =
            &mut clause.kind
        {
            items.retain(is_used);
        }
    }
    let calls = !whole.reaches.is_empty() || !whole.indirect_calls.is_empty();
    made.vars.retain(|it| calls || uses(program, stmt, it.var));
    made.retain_clauses(|it| match &it.kind {
        ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => !items.is_empty(),
        // The data were waited for, in the same queue.
        ClauseKind::Wait(_) => false,
        _ => true,
    });
    let made = put_around(program, id, stmt, &within, made);
    program.stmts.push(Stmt { kind: StmtKind::Region(made), span })
}

/// Adds a region around those in a statement. Regions come before those inside: it gets the number of the first of them.
fn put_around(
    program: &mut Program,
    id: RegionId,
    stmt: StmtId,
    within: &[RegionId],
    made: Region,
) -> RegionId {
    let Some(first) = within.iter().copied().min() else { return program.regions.push(made) };
    let moved = std::mem::replace(&mut program.regions[first], made);
    let moved = program.regions.push(moved);
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(it) = part
            && program.stmts[it].kind == StmtKind::Region(first)
        {
            program.stmts[it].kind = StmtKind::Region(moved);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    for inner in within.iter().copied().filter(|it| *it != first).chain([moved]) {
        let parent = &mut program.regions[inner].parent;
        if *parent == Some(first) {
            *parent = Some(moved);
        } else if *parent == Some(id) {
            *parent = Some(first);
        }
    }
    first
}
