//! Sizes of teams, threads and chunks on a device made of cores: those that nobody can observe are dropped.
//!
//! In: regions that leave the host, whose words were tuned for a GPU (`num_teams(1024) thread_limit(256)`,
//! `schedule(static, 1)`). Taken literally they start a thousand teams of threads one after the other and deal
//! neighbouring elements to different cores. Out: the same regions without these words, where all that teams and
//! threads do is to share loops and no code asks for its number: then every iteration runs once, whoever runs it.
//!
//! Numbers that say that one thread runs a loop stay: its iterations may depend on each other.
//! A chunk size stays where iterations may differ in cost: dealing them in turn balances the load. Those that are dealt one
//! by one while a loop runs (`schedule(dynamic)`) are dealt a thousandth of all at a time.

use directive::HOST_DIALECT;
use ir::construct::{Clause, ClauseKind, Leaf, ReductionModifier, ScheduleKind};
use ir::program::{
    BinaryOp, ExprId, ExprKind, For, FunctionId, Program, RegionId, StmtId, StmtKind, Typed, VarId,
};
use ir::region::{Loop, Region, Sharing};
use ir::walk::Part;
use kernel::build::Builder;
use opt::dependence::Analysis;
use rustc_hash::FxHashSet;
use source::Locator;

use super::in_order;
use super::levels::{Leveled, assigned_vars, is_quiet_around};

/// Drops sizes that nobody can observe; the program as written, and as it is now.
pub(super) fn drop_unobserved(
    written: &Program,
    leveled: Option<Leveled>,
    locator: &Locator<'_>,
) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let is_sized =
        |it: &RegionId| now.regions[*it].construct.clauses.iter().any(|it| is_size(&it.kind));
    let sized: Vec<RegionId> = now.regions.iter().map(|it| it.0).filter(is_sized).collect();
    if sized.is_empty() {
        return leveled;
    }
    let mut dropped: Vec<(RegionId, Drop)> = Vec::new();
    let analysis = Analysis::new(now);
    for id in sized {
        let Some(teams) = teams_of(now, id) else { continue };
        // Numbers of gangs have been followed already, in several dimensions.
        let is_ours = |it: &Region| it.construct.dialect == HOST_DIALECT;
        if !written.regions.find(teams).is_some_and(is_ours) {
            continue;
        }
        if is_unobserved(now, teams, locator) && !needs_one(now, &analysis, teams) {
            let keeps_chunks = !is_even(now, id, locator);
            dropped.push((id, Drop { keeps_chunks }));
        }
    }
    if dropped.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (id, drop) in dropped {
        leveled.program.regions[id].retain_clauses(|it| !drop.applies_to(it));
    }
    Some(leveled)
}

/// Deals iterations in larger chunks where a loop is dealt while it runs.
pub(super) fn deal_in_chunks(
    written: &Program,
    leveled: Option<Leveled>,
    locator: &Locator<'_>,
) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let is_dealt_singly = |it: &RegionId| {
        let region = &now.regions[*it];
        region.construct.has(Leaf::For)
            && region.construct.kinds().any(is_singly)
            && region.loops.iter().all(|it| is_counted(now, it))
            && shared_by(now, *it).is_some_and(|all| is_unobserved(now, all, locator))
    };
    let found: Vec<RegionId> = now.regions.iter().map(|it| it.0).filter(is_dealt_singly).collect();
    if found.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for id in found {
        let region = &leveled.program.regions[id];
        let (function, span, loops) =
            (region.function, region.construct.span, region.loops.clone());
        let program = &mut leveled.program;
        let build = &mut Builder { program, function, span };
        let mut all = build.number(1);
        for one in &loops {
            let trips = trips(build, one);
            all = build.binary(BinaryOp::Mul, all, trips);
        }
        let (parts, one) = (build.number(CHUNKS), build.number(1));
        let part = build.binary(BinaryOp::Div, all, parts);
        let size = build.binary(BinaryOp::Add, part, one);
        for clause in &mut leveled.program.regions[id].construct.clauses {
            if let ClauseKind::Schedule(it) = &mut clause.kind {
                it.chunk = Some(size);
            }
        }
        leveled.changed.insert(id);
    }
    Some(leveled)
}

/// Chunks that a loop is dealt in: enough to balance the load of many cores.
const CHUNKS: i64 = 1024;

/// About how often a loop runs.
fn trips(build: &mut Builder<'_>, one: &Loop) -> ExprId {
    let (low, high) = match one.descending {
        true => (one.bound, one.begin),
        false => (one.begin, one.bound),
    };
    let (low, high) = (build.as_number(low), build.as_number(high));
    let far = build.binary(BinaryOp::Sub, high, low);
    match one.step {
        Some(step) => {
            let step = build.as_number(step);
            build.binary(BinaryOp::Div, far, step)
        }
        None => far,
    }
}

/// Iterations are dealt one at a time while the loop runs.
fn is_singly(kind: &ClauseKind<Typed>) -> bool {
    matches!(
        kind,
        ClauseKind::Schedule(it) if it.kind == ScheduleKind::Dynamic && it.chunk.is_none()
    )
}

/// Whether a loop counts numbers between bounds that are only looked at, by a known step.
fn is_counted(program: &Program, one: &Loop) -> bool {
    let is_known = |e: ExprId| {
        let mut open = vec![Part::Expr(e)];
        while let Some(part) = open.pop() {
            let Part::Expr(e) = part else { return false };
            match program.exprs[e].kind {
                ExprKind::Int(_)
                | ExprKind::EnumConst(..)
                | ExprKind::Sizeof(_)
                | ExprKind::Var(_)
                | ExprKind::Cast(..)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..) => program.parts(part, &mut |it| open.push(it)),
                _ => return false,
            }
        }
        true
    };
    let is_positive = |e: ExprId| super::loops::constant(program, e).is_some_and(|it| it > 0);
    program.types.is_integer(program.vars[one.var].ty)
        && one.rectangular
        && is_known(one.begin)
        && is_known(one.bound)
        && one.step.is_none_or(is_positive)
}

/// The construct whose threads share a loop of a region that leaves the host: all that may tell who runs what.
fn shared_by(program: &Program, id: RegionId) -> Option<RegionId> {
    let leaves = |it: &RegionId| program.regions[*it].construct.has(Leaf::Offload);
    teams_of(program, id).or_else(|| Some(id).filter(leaves))
}

/// Whether the numbers say that one thread runs a loop, or may where its iterations depend on each other.
fn needs_one(program: &Program, analysis: &Analysis<'_>, teams: RegionId) -> bool {
    let inside = program.inside(teams);
    let loops = std::iter::once(&teams).chain(&inside);
    loops.filter(|it| !program.regions[**it].loops.is_empty()).any(|it| {
        in_order::asks_one(program, *it) || in_order::may_need_one(program, analysis, *it)
    })
}

/// Which sizes of a construct go.
struct Drop {
    keeps_chunks: bool,
}

impl Drop {
    fn applies_to(&self, clause: &Clause<Typed>) -> bool {
        is_size(&clause.kind)
            && !(self.keeps_chunks && matches!(clause.kind, ClauseKind::Schedule(_)))
    }
}

/// A clause that says how many teams or threads there are, or how many iterations each gets at a time.
fn is_size(kind: &ClauseKind<Typed>) -> bool {
    match kind {
        ClauseKind::NumTeams { .. } | ClauseKind::ThreadLimit(_) | ClauseKind::DistSchedule(_) => {
            true
        }
        ClauseKind::NumThreads { strict, .. } => strict.is_none(),
        ClauseKind::Schedule(it) => it.kind == ScheduleKind::Static && it.chunk.is_some(),
        _ => false,
    }
}

/// The teams around a construct, or its own, in a region that leaves the host.
fn teams_of(program: &Program, id: RegionId) -> Option<RegionId> {
    let has = |id: &RegionId, leaf| program.regions[*id].construct.has(leaf);
    let teams = program.around(id).find(|it| has(it, Leaf::Teams))?;
    let leaves_host = program.around(teams).any(|it| has(&it, Leaf::Offload));
    leaves_host.then_some(teams)
}

/// Whether nobody can tell how many teams and threads run a construct, and who of them runs what.
fn is_unobserved(program: &Program, teams: RegionId, locator: &Locator<'_>) -> bool {
    let inside = program.inside(teams);
    let all = || std::iter::once(&teams).chain(&inside).map(|it| &program.regions[*it]);
    let region = &program.regions[teams];
    let dealt: FxHashSet<RegionId> = inside
        .iter()
        .filter(|it| {
            let construct = &program.regions[**it].construct;
            construct.has(Leaf::Distribute) || construct.has(Leaf::Loop)
        })
        .copied()
        .collect();
    region.indirect_calls.is_empty()
        && region.reaches.iter().all(|it| is_indifferent(program, *it, locator))
        && all().all(only_shares_loops)
        && !region.vars.iter().any(|it| program.vars[it.var].thread_local)
        && (!region.loops.is_empty() || is_quiet_around(program, teams, &dealt))
}

/// Whether a function neither asks where it runs nor has directives of its own.
fn is_indifferent(program: &Program, id: FunctionId, locator: &Locator<'_>) -> bool {
    let function = &program.functions[id];
    let name = program.names.text(function.name);
    let asks = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
    let is_of_system = || locator.locate(function.span).is_none_or(|it| it.in_system_header);
    let has_regions = || program.regions.iter().any(|it| it.1.function == id);
    !asks && if function.body.is_some() { !has_regions() } else { is_of_system() }
}

/// Whether a construct shares loops and does nothing else that depends on teams and threads.
fn only_shares_loops(region: &Region) -> bool {
    let construct = &region.construct;
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
                | Leaf::Atomic
                | Leaf::Critical
                | Leaf::Unroll
                | Leaf::Tile
                | Leaf::Nothing
        )
    });
    let shares = !construct.has(Leaf::Parallel) || construct.has(Leaf::For);
    let is_in_turn = |it: &ClauseKind<Typed>| match it {
        ClauseKind::Ordered(_) | ClauseKind::Allocate(_) => true,
        ClauseKind::Reduction(it) => it.modifier == Some(ReductionModifier::Inscan),
        _ => false,
    };
    // A copy that is changed tells later iterations of the same thread about earlier ones.
    let carries = region.vars.iter().any(|it| {
        let sharing = it.sharing.as_ref().map(|it| &it.value);
        it.written && matches!(sharing, Some(Sharing::FirstPrivate))
    });
    is_known && shares && !carries && !construct.kinds().any(is_in_turn)
}

/// Whether each iteration of a construct's loops costs the same, as far as can be seen.
fn is_even(program: &Program, id: RegionId, locator: &Locator<'_>) -> bool {
    let region = &program.regions[id];
    let Some(last) = region.loops.last() else { return true };
    let mut varying = assigned_vars(program, last.body);
    varying.extend(region.loops.iter().map(|it| it.var));
    let is_short = |it: &FunctionId| match program.functions[*it].body {
        Some(body) => is_loopless(program, body),
        None => is_indifferent(program, *it, locator),
    };
    region.reaches.iter().all(is_short) && has_fixed_trips(program, last.body, &varying, false)
}

/// Whether loops in a statement run equally often whenever it is met: none depends on what varies,
/// none is left early, none is skipped.
fn has_fixed_trips(
    program: &Program,
    stmt: StmtId,
    varying: &FxHashSet<VarId>,
    is_conditional: bool,
) -> bool {
    let fixed = |it: StmtId| has_fixed_trips(program, it, varying, is_conditional);
    match &program.stmts[stmt].kind {
        StmtKind::Empty
        | StmtKind::Local(_)
        | StmtKind::Expr(_)
        | StmtKind::Continue
        | StmtKind::Declaration(_) => true,
        StmtKind::Block(stmts) => stmts.iter().all(|it| fixed(*it)),
        StmtKind::If(_, then, otherwise) => std::iter::once(then)
            .chain(otherwise)
            .all(|it| has_fixed_trips(program, *it, varying, true)),
        StmtKind::For(it) => {
            !is_conditional && has_fixed_bounds(program, it, varying) && fixed(it.body)
        }
        StmtKind::Region(id) => program.regions[*id].body.is_none_or(fixed),
        StmtKind::Error
        | StmtKind::While(..)
        | StmtKind::DoWhile(..)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default(_)
        | StmtKind::Label(..)
        | StmtKind::Goto(_)
        | StmtKind::GotoExpr(_)
        | StmtKind::Break
        | StmtKind::Return(_)
        | StmtKind::Asm(_) => false,
    }
}

/// Whether code has no loops, nor jumps that make one.
fn is_loopless(program: &Program, body: StmtId) -> bool {
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(id) = part
            && matches!(
                program.stmts[id].kind,
                StmtKind::For(_)
                    | StmtKind::While(..)
                    | StmtKind::DoWhile(..)
                    | StmtKind::Goto(_)
                    | StmtKind::GotoExpr(_)
                    | StmtKind::Asm(_)
            )
        {
            return false;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}

/// Whether the first value, the test and the step of a loop mention constants and what does not vary,
/// beside the variable that counts.
fn has_fixed_bounds(program: &Program, it: &For, varying: &FxHashSet<VarId>) -> bool {
    let counter = it.step.and_then(|it| counter(program, it));
    let mut open: Vec<Part> = it.init.iter().map(|it| Part::Stmt(*it)).collect();
    open.extend(it.cond.into_iter().chain(it.step).map(Part::Expr));
    while let Some(part) = open.pop() {
        if let Part::Expr(id) = part {
            match &program.exprs[id].kind {
                ExprKind::Var(var) if Some(*var) != counter && varying.contains(var) => {
                    return false;
                }
                ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Call(..) => return false,
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    counter.is_some()
}

/// The variable that a step changes.
fn counter(program: &Program, step: ExprId) -> Option<VarId> {
    let changed = match &program.exprs[step].kind {
        ExprKind::Step(_, to) | ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) => *to,
        _ => return None,
    };
    match program.exprs[changed].kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}
