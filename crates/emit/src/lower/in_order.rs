//! Loops that run in order although a directive has their iterations shared: those whose directive is not believed.
//!
//! In: a program, and how far its user is believed. Out: the same program, in which what starts those who share such a
//! loop starts one thread, one team and one lane. All devices follow such numbers ([`asks_one`]), and nothing else of the
//! construct changes: its copies and sums are what they were. That a loop is held so is told (F0733).
//!
//! Loops whose levels are ours to choose are decided on in [`super::levels`].

use directive::HOST_DIALECT;
use ir::construct::{BindLevel, ClauseKind, Leaf};
use ir::program::{Expr, ExprId, ExprKind, Program, RegionId, StmtId, VarId};
use ir::types::{IntKind, TypeKind};
use opt::dependence::{Analysis, DependenceKind, Verdict};
use opt::marks::{Options, Trust};
use opt::races::{Race, What};
use source::Diagnostic;

use super::levels::{Leveled, plain};

const DISTRUSTED: &str =
    "the directive is not believed against that (`--trust strict`): the loop is run in order";

/// Holds the loops whose directives are not believed; none if there are none.
pub(super) fn hold(program: &Program, marks: &Options) -> Option<Leveled> {
    if marks.trust != Trust::Strict {
        return None;
    }
    let is_ours = |it: &RegionId| {
        let region = &program.regions[*it];
        region.construct.dialect == HOST_DIALECT && !region.loops.is_empty()
    };
    let regions: Vec<RegionId> = program.regions.iter().map(|it| it.0).filter(is_ours).collect();
    if regions.is_empty() {
        return None;
    }
    let analysis = Analysis::new(program);
    let races = analysis.races();
    let mut held = None;
    for id in regions {
        let loops = program.regions[id].loops.iter().map(|it| it.stmt);
        let refuted = loops.into_iter().find(|it| analysis.is_distrusted(*it, marks));
        let told = refuted.map(|stmt| warning(program, &analysis, id, stmt));
        let unsaid =
            || races.iter().filter(|it| it.region == id).find_map(|it| unsaid(program, it));
        let Some(told) = told.or_else(unsaid) else { continue };
        let held = held.get_or_insert_with(|| Leveled::unchanged(program));
        one_runs(program, id, held);
        held.faults.push(told);
    }
    held
}

/// Who is around a construct, or itself, and starts those who share a loop.
fn starter(program: &Program, id: RegionId, leaf: Leaf) -> Option<RegionId> {
    program.around(id).find(|it| program.regions[*it].construct.has(leaf))
}

/// Has one thread of one team run the loops of a construct, without lanes.
fn one_runs(program: &Program, id: RegionId, held: &mut Leveled) {
    let construct = &program.regions[id].construct;
    let is_loop = construct.has(Leaf::Loop);
    let one = one(&mut held.program, id);
    let threads = starter(program, id, Leaf::Parallel)
        .filter(|_| construct.has(Leaf::For) || is_loop)
        .map(|it| (it, ClauseKind::NumThreads { strict: None, counts: vec![one] }));
    let teams = starter(program, id, Leaf::Teams)
        .filter(|_| construct.has(Leaf::Distribute) || is_loop)
        .map(|it| (it, ClauseKind::NumTeams { lower: None, counts: vec![one] }));
    let lanes = construct.has(Leaf::Simd).then_some((id, ClauseKind::Safelen(one)));
    let tasks = construct.has(Leaf::Taskloop).then_some((id, ClauseKind::NumTasks(None, one)));
    for (at, kind) in [threads, teams, lanes, tasks].into_iter().flatten() {
        let region = &mut held.program.regions[at];
        region.retain_clauses(|it| !gives_way(&it.kind, &kind));
        let span = region.construct.span;
        region.construct.clauses.push(plain(kind, span));
        held.changed.insert(at);
    }
    if is_loop {
        name_loop(program, id, one, held);
    }
    // That any order will do is what is not believed.
    held.program.regions[id].retain_clauses(|it| !matches!(it.kind, ClauseKind::Order(_)));
    held.changed.insert(id);
}

/// A construct that may run in any order becomes one that says who shares it.
fn name_loop(program: &Program, id: RegionId, one: ExprId, held: &mut Leveled) {
    let shares = |it: &RegionId| !program.regions[*it].loops.is_empty();
    let region = &program.regions[id];
    let is_thread = |it: &ClauseKind<_>| matches!(it, ClauseKind::Bind(BindLevel::Thread));
    let is_inside = program.around(id).skip(1).any(|it| shares(&it));
    let leaf = if is_inside || region.construct.kinds().any(is_thread) {
        Leaf::Simd
    } else if starter(program, id, Leaf::Parallel).is_some() {
        Leaf::For
    } else {
        Leaf::Distribute
    };
    let region = &mut held.program.regions[id];
    region.retain_clauses(|it| !matches!(it.kind, ClauseKind::Bind(_)));
    let construct = &mut region.construct;
    construct.leaves.iter_mut().filter(|it| **it == Leaf::Loop).for_each(|it| *it = leaf);
    if leaf == Leaf::Simd {
        let span = construct.span;
        construct.clauses.push(plain(ClauseKind::Safelen(one), span));
    }
}

/// Whether a clause says what another says now, or what does not go with that.
fn gives_way(old: &ClauseKind<ir::program::Typed>, new: &ClauseKind<ir::program::Typed>) -> bool {
    match new {
        ClauseKind::NumThreads { .. } => matches!(old, ClauseKind::NumThreads { .. }),
        ClauseKind::NumTeams { .. } => matches!(old, ClauseKind::NumTeams { .. }),
        ClauseKind::Safelen(_) => matches!(old, ClauseKind::Safelen(_) | ClauseKind::Simdlen(_)),
        _ => matches!(old, ClauseKind::NumTasks(..) | ClauseKind::Grainsize(..)),
    }
}

/// The number.
fn one(program: &mut Program, id: RegionId) -> ExprId {
    let span = program.regions[id].construct.span;
    let ty = program.types.get(TypeKind::Int(IntKind::Int));
    program.exprs.push(Expr { kind: ExprKind::Int(1), ty, span })
}

/// What is said of a loop that runs in order.
fn held(span: source::Span, message: String) -> Diagnostic {
    Diagnostic::warning("F0733", message).at(span, "has them run at once")
}

fn warning(program: &Program, analysis: &Analysis<'_>, id: RegionId, stmt: StmtId) -> Diagnostic {
    let span = program.regions[id].construct.span;
    let found = analysis.examine(stmt);
    let Verdict::Carried(it) = &found.verdict else {
        return held(span, "this loop is run in order".to_owned());
    };
    let var = it.second.var.or(it.first.var).and_then(|it| program.vars[it].name);
    let name = var.map_or("memory".to_owned(), |it| format!("`{}`", program.names.text(it)));
    let what = match it.kind {
        DependenceKind::Flow => "written in one iteration and read in a later one",
        DependenceKind::Anti => "read in one iteration and written in a later one",
        DependenceKind::Output => "written in two iterations",
    };
    let how = if it.certain { "depend" } else { "seem to depend" };
    let message = format!("iterations of this loop {how} on each other: {name} is {what}");
    held(span, message)
        .label(it.first.span, "in one iteration")
        .label(it.second.span, "in a later one")
        .note(DISTRUSTED)
        .help("take the directive away, or mark loops whose iterations are independent")
}

/// What is said of a variable that all iterations share, and that a clause would have made each one's own.
fn unsaid(program: &Program, race: &Race) -> Option<Diagnostic> {
    let name = |var: VarId| program.vars[var].name.map_or("memory", |it| program.names.text(it));
    let (message, at, help) = match &race.what {
        What::Memory { .. } => return None,
        What::Sum { var, at, .. } => {
            let var = name(*var);
            let message =
                format!("all iterations combine something into `{var}`, and no clause says so");
            (message, *at, format!("name `{var}` in a `reduction`"))
        }
        What::Scalar { var, written, .. } => {
            let var = name(*var);
            let message = format!("all iterations write to the one `{var}` that they share");
            (
                message,
                *written,
                format!("name `{var}` in `private`, or declare it inside of the loop"),
            )
        }
    };
    let span = program.regions[race.region].construct.span;
    Some(held(span, message).label(at, "here").note(DISTRUSTED).help(help))
}

/// Whether those who share the loops of a construct are one thread, by the numbers that are asked for.
pub(super) fn asks_one(program: &Program, id: RegionId) -> bool {
    let construct = &program.regions[id].construct;
    let is_loop = construct.has(Leaf::Loop);
    let shares_threads = construct.has(Leaf::For) || is_loop;
    let shares_teams = construct.has(Leaf::Distribute) || is_loop;
    let threads = starter(program, id, Leaf::Parallel).filter(|_| shares_threads);
    let teams = starter(program, id, Leaf::Teams).filter(|_| shares_teams);
    // Who is not started here is started where nobody sees it.
    let is_known = !(shares_threads && !is_loop && threads.is_none()
        || shares_teams && !is_loop && teams.is_none());
    let one_thread = threads.is_none_or(|it| {
        says_one(program, it, |kind| matches!(kind, ClauseKind::NumThreads { .. }))
            || program
                .around(it)
                .any(|it| says_one(program, it, |kind| matches!(kind, ClauseKind::ThreadLimit(_))))
    });
    let one_team = teams
        .is_none_or(|it| says_one(program, it, |kind| matches!(kind, ClauseKind::NumTeams { .. })));
    is_known && (threads.is_some() || teams.is_some()) && one_thread && one_team
}

/// Whether a clause of a construct says 1.
fn says_one(
    program: &Program,
    id: RegionId,
    is_it: impl Fn(&ClauseKind<ir::program::Typed>) -> bool,
) -> bool {
    program.regions[id].construct.kinds().filter(|it| is_it(it)).any(|it| {
        let counts = counts(it);
        !counts.is_empty() && counts.iter().all(|it| number(program, *it) == Some(1))
    })
}

/// The numbers of a clause about how many there are.
fn counts(kind: &ClauseKind<ir::program::Typed>) -> &[ExprId] {
    match kind {
        ClauseKind::NumThreads { counts, .. } | ClauseKind::NumTeams { counts, .. } => counts,
        ClauseKind::ThreadLimit(it) => std::slice::from_ref(it),
        _ => &[],
    }
}

fn number(program: &Program, expr: ExprId) -> Option<i64> {
    super::loops::constant(program, expr)
}

/// Whether iterations of a construct depend on each other, and numbers that nobody knows may say that one thread runs them.
pub(super) fn may_need_one(program: &Program, analysis: &Analysis<'_>, id: RegionId) -> bool {
    let starters = [Leaf::Parallel, Leaf::Teams, Leaf::Offload];
    let starters = starters.into_iter().filter_map(|it| starter(program, id, it));
    let mut kinds = starters.flat_map(|it| program.regions[it].construct.kinds());
    let is_open =
        kinds.any(|it| counts(it).iter().any(|it| number(program, *it).is_none_or(|it| it <= 1)));
    is_open
        && program.regions[id]
            .loops
            .iter()
            .any(|it| matches!(analysis.examine(it.stmt).verdict, Verdict::Carried(_)))
}
