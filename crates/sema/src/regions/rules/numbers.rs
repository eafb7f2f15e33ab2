//! Numbers in clauses: integers, positive, constant where they must be.

use ir::construct::{ClauseKind, Construct, DeviceModifier, GangArg, Requirement};
use ir::program::{ExprId, Program, Typed};
use source::Diagnostics;

use crate::regions::{constant, messages};

/// What a number must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Positive,
    PositiveConstant,
    Integer,
    /// True or false.
    Condition,
}

pub(super) fn check(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    for (at, clause) in (0u32..).zip(&construct.clauses) {
        for (value, wanted) in numbers(&clause.kind) {
            number(program, construct, at, value, wanted, faults);
        }
        if let Some(switch) = clause.switch
            && constant::int(program, switch).is_none()
            && !program.types.is_error(program.exprs[switch].ty)
        {
            faults.push(messages::not_constant(construct, at, program.exprs[switch].span));
        }
        if let Some(part) = clause.on
            && !construct.has(part)
        {
            faults.push(messages::part_missing(construct, at, clause.span));
        }
        if matches!(clause.kind, ClauseKind::Device(DeviceModifier::Ancestor, _))
            && !requires_way_back(program)
        {
            faults.push(messages::needs_requirement(construct, at, clause.span));
        }
    }
    pairs(program, construct, faults);
}

/// The numbers of a clause.
fn numbers(kind: &ClauseKind<Typed>) -> Vec<(ExprId, Wanted)> {
    use ClauseKind as K;
    let positive = |it: &ExprId| (*it, Wanted::Positive);
    match kind {
        K::Collapse { count: it, .. } | K::Safelen(it) | K::Simdlen(it) => {
            vec![(*it, Wanted::PositiveConstant)]
        }
        K::Ordered(Some(it)) | K::Partial(Some(it)) => vec![(*it, Wanted::PositiveConstant)],
        K::NumTeams { lower, counts } => lower.iter().chain(counts).map(positive).collect(),
        K::NumThreads { counts, .. } => counts.iter().map(positive).collect(),
        K::ThreadLimit(it)
        | K::NumWorkers(it)
        | K::VectorLength(it)
        | K::Grainsize(_, it)
        | K::NumTasks(_, it)
        | K::DistSchedule(Some(it))
        | K::Aligned(_, Some(it)) => vec![positive(it)],
        K::Schedule(it) => it.chunk.iter().map(positive).collect(),
        K::Sizes(list) => list.iter().map(positive).collect(),
        K::TileLoop(list) => list.iter().flatten().map(positive).collect(),
        K::Gang(args) => args
            .iter()
            .filter_map(|it| match it {
                GangArg::Num(it, _) | GangArg::Dim(it) | GangArg::Static(Some(it)) => {
                    Some(positive(it))
                }
                GangArg::Static(None) => None,
            })
            .collect(),
        K::Worker(Some(it)) | K::Vector(Some(it)) => vec![positive(&it.count)],
        K::Linear(it) => it.step.iter().map(|it| (*it, Wanted::Integer)).collect(),
        K::Device(_, it) | K::DeviceNum(it) | K::Priority(it) | K::Filter(it) => {
            vec![(*it, Wanted::Integer)]
        }
        K::If(it)
        | K::SelfExec(Some(it))
        | K::Final(it)
        | K::Nowait(Some(it))
        | K::Untied(Some(it))
        | K::Mergeable(Some(it))
        | K::Nogroup(Some(it))
        | K::Novariants(it)
        | K::Nocontext(it)
        | K::Holds(it) => vec![(*it, Wanted::Condition)],
        K::Async(Some(it)) | K::DefaultAsync(it) => vec![(*it, Wanted::Integer)],
        _ => Vec::new(),
    }
}

fn number(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    value: ExprId,
    wanted: Wanted,
    faults: &mut Diagnostics,
) {
    let expr = &program.exprs[value];
    if program.types.is_error(expr.ty) {
        return;
    }
    if wanted == Wanted::Condition {
        if !program.types.is_scalar(expr.ty) && !program.types.is_array(expr.ty) {
            let wanted = "a condition";
            faults.push(messages::bad_type(program, construct, at, expr.ty, expr.span, wanted));
        }
        return;
    }
    if !program.types.is_integer(expr.ty) {
        faults.push(messages::not_integer(program, construct, at, expr.ty, expr.span));
        return;
    }
    match (constant::int(program, value), wanted) {
        (_, Wanted::Integer | Wanted::Condition) | (None, Wanted::Positive) => {}
        (None, Wanted::PositiveConstant) => {
            faults.push(messages::not_constant(construct, at, expr.span));
        }
        (Some(found), Wanted::Positive | Wanted::PositiveConstant) => {
            if found <= 0 {
                faults.push(messages::not_positive(construct, at, found, expr.span));
            }
        }
    }
}

/// Numbers that bound each other.
fn pairs(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    let find = |wanted: &dyn Fn(&ClauseKind<Typed>) -> Option<ExprId>| {
        (0u32..).zip(&construct.clauses).find_map(|(at, it)| {
            let value = wanted(&it.kind)?;
            Some((at, constant::int(program, value)?))
        })
    };
    let simdlen = find(&|it| if let ClauseKind::Simdlen(it) = it { Some(*it) } else { None });
    let safelen = find(&|it| if let ClauseKind::Safelen(it) = it { Some(*it) } else { None });
    if let (Some((a, simdlen)), Some((b, safelen))) = (simdlen, safelen)
        && simdlen > safelen
    {
        let why = "vectors longer than is safe are asked for";
        faults.push(messages::clash(construct, a.min(b), a.max(b), why));
    }
    let ordered = find(&|it| if let ClauseKind::Ordered(it) = it { *it } else { None });
    let collapse =
        find(&|it| if let ClauseKind::Collapse { count, .. } = it { Some(*count) } else { None });
    if let (Some((a, ordered)), Some((b, collapse))) = (ordered, collapse)
        && ordered < collapse
    {
        let why = "fewer loops are ordered than are made one";
        faults.push(messages::clash(construct, a.min(b), a.max(b), why));
    }
}

fn requires_way_back(program: &Program) -> bool {
    program.declarations.iter().any(|it| {
        it.construct
            .kinds()
            .any(|it| matches!(it, ClauseKind::Require(Requirement::ReverseOffload, _)))
    })
}
