//! `rectangularize`: a nest whose inner bounds follow outer variables becomes one that runs over a box around it.
//!
//! In: a loop of several dimensions that all threads share, with bounds that are affine in the variables of outer loops:
//! triangles, bands, trapezoids. Out: inner loops that count from zero to as often as they can run at most, which is found
//! where the outer ones begin and end; where only one end of a loop follows, it runs from the least value to the largest.
//! An iteration that the nest does not have does nothing. So each thread finds its iterations by arithmetic, and threads
//! side by side have iterations side by side.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, UnaryOp, VarId};
use ir::region::LoopTest;
use kernel::copy::Copier;
use kernel::{Block, Dim, Schedule, Share, Space, Stmt, StmtKind, count};
use source::Span;

use super::nest::{is_known, mentions, replace_share};
use super::numbering::at_most_one;
use super::{Cx, Result};

/// So many places are looked at for how often a loop runs at most.
const MOST_CORNERS: usize = 16;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, _, span| Ok(changed(cx, share, span)))
}

/// Values that a variable has at the ends of its loop.
struct Ends {
    var: VarId,
    at: Vec<VarId>,
}

fn changed(cx: &mut Cx<'_>, share: &Share, span: Span) -> Option<Block> {
    let goes_round = match share.schedule {
        Schedule::RoundRobin(chunk) => matches!(cx.program.exprs[chunk].kind, ExprKind::Int(1)),
        Schedule::Blocks => false,
    };
    let is_whole = share.last.is_empty() && share.pieces.is_none() && share.within.is_none();
    if share.dims.iter().all(|it| it.rectangular) || !goes_round || !is_whole || share.ordered {
        return None;
    }
    // Of one iteration `workshare` makes no loop.
    if at_most_one(cx.program, &share.dims) {
        return None;
    }
    let Boxed { before: mut made, own: mut before, dims, checks } = boxed(cx, share, span)?;
    let mut body = share.body.clone();
    for check in checks.into_iter().rev() {
        let (dim, index) = match check {
            Check::Counted(dim, index) => (dim, index),
            Check::Within(dim, follows) => {
                body = within(cx, dim, follows, body, span)?;
                continue;
            }
        };
        let mut check = Block::new();
        let counted = counted(cx, dim, &[], Space::Private, span, &mut check)?;
        let mut inside = Block::new();
        let (is_there, value) = {
            let build = &mut cx.build(span);
            let (number, trips) = (build.var(index), build.var(counted.trips));
            let is_there = build.binary(BinaryOp::Lt, number, trips);
            let step = count::step(build, dim);
            (is_there, count::value(build, counted.begin, step, number))
        };
        cx.set(dim.var, value, span, &mut inside);
        inside.append(&mut body);
        check.push(Stmt::new(StmtKind::If(is_there, inside, Block::new()), span));
        body = check;
    }
    let depth = share.dims.len();
    cx.kernel
        .launch
        .notes
        .push(format!("{depth} loops whose bounds follow each other run as a box"));
    made.append(&mut before);
    let share = Share { dims, body, ..share.clone() };
    made.push(Stmt::new(StmtKind::Share(Box::new(share)), span));
    Some(made)
}

/// A box around a nest.
pub(super) struct Boxed<'a> {
    /// What finds its ends.
    pub(super) before: Block,
    /// Variables that threads count in.
    own: Block,
    pub(super) dims: Vec<Dim>,
    pub(super) checks: Vec<Check<'a>>,
}

/// Whether there is a box around loops: their bounds are affine in the variables of outer ones.
pub(super) fn has_box(cx: &Cx<'_>, dims: &[Dim]) -> bool {
    let program = &*cx.program;
    let vars: Vec<VarId> = dims.iter().map(|it| it.var).collect();
    let is_plain = |it: &Dim| {
        let bounds = [Some(it.begin), Some(it.bound), it.step];
        let follow = |e: ExprId| mentions(program, e, |it| vars.contains(&it));
        bounds.into_iter().flatten().all(|e| is_known(program, cx.kernel, e, &vars))
            && [it.begin, it.bound].into_iter().all(|e| is_affine(program, e, &vars))
            && it.step.is_none_or(|it| !follow(it))
            && program.types.is_integer(program.vars[it.var].ty)
            && it.test != LoopTest::Ne
    };
    // How many values are looked at of each variable: at both ends of its loop, wherever that may begin and end.
    let mut looks: Vec<(VarId, usize)> = Vec::new();
    dims.iter().all(|dim| {
        let names =
            |var: VarId| [dim.begin, dim.bound].map(|e| mentions(program, e, |it| it == var));
        let named = looks.iter().filter(|it| names(it.0).contains(&true));
        let corners = named.fold(1usize, |all, it| all.saturating_mul(it.1));
        looks.push((dim.var, corners.saturating_mul(2)));
        is_plain(dim) && corners <= MOST_CORNERS
    })
}

/// The box around a nest whose bounds are affine.
pub(super) fn boxed<'a>(cx: &mut Cx<'_>, share: &'a Share, span: Span) -> Option<Boxed<'a>> {
    if !has_box(cx, &share.dims) {
        return None;
    }
    let vars: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let mut made = Block::new();
    let mut before = Block::new();
    let mut ends: Vec<Ends> = Vec::new();
    let mut dims = Vec::new();
    let mut checks = Vec::new();
    for dim in &share.dims {
        let corners = corners(&ends, dim, cx.program);
        let (mut at, mut most) = (Vec::new(), None);
        let (mut begins, mut bounds) = (Vec::new(), Vec::new());
        for corner in &corners {
            let counted = counted(cx, dim, corner, Space::Uniform, span, &mut made)?;
            let last = last(cx, dim, &counted, span, &mut made);
            at.extend([counted.begin, last]);
            begins.push(counted.begin);
            bounds.push(counted.bound);
            most = Some(match most {
                None => counted.trips,
                Some(most) => larger(cx, most, counted.trips, span, &mut made),
            });
        }
        ends.push(Ends { var: dim.var, at });
        if dim.rectangular {
            dims.push(dim.clone());
            continue;
        }
        let follow = |e: ExprId| mentions(cx.program, e, |it| vars.contains(&it));
        let follows = [follow(dim.begin), follow(dim.bound)];
        let is_up = dim.step.is_none()
            && !dim.descending
            && matches!(dim.test, LoopTest::Lt | LoopTest::Le);
        if is_up && follows != [true, true] {
            let begin = outermost(cx, &begins, BinaryOp::Lt, span, &mut made)?;
            let bound = outermost(cx, &bounds, BinaryOp::Gt, span, &mut made)?;
            checks.push(Check::Within(dim, follows));
            dims.push(Dim { begin, bound, rectangular: true, ..dim.clone() });
            continue;
        }
        let index = cx.number("index", Space::Private, span, &mut before);
        let build = &mut cx.build(span);
        let (begin, bound) = (build.number(0), build.var(most?));
        let (test, rectangular) = (LoopTest::Lt, true);
        let step = None;
        dims.push(Dim { var: index, begin, bound, test, step, descending: false, rectangular });
        checks.push(Check::Counted(dim, index));
    }
    Some(Boxed { before: made, own: before, dims, checks })
}

/// How an iteration of the box finds out whether the nest has it.
pub(super) enum Check<'a> {
    /// The number of the iteration in its loop is one that there is.
    Counted(&'a Dim, VarId),
    /// The value of the variable is between those ends of its loop that follow others.
    Within(&'a Dim, [bool; 2]),
}

/// Code that runs only where a loop has its variable's value.
fn within(
    cx: &mut Cx<'_>,
    dim: &Dim,
    follows: [bool; 2],
    body: Block,
    span: Span,
) -> Option<Block> {
    let common = count::common(cx.program, dim)?;
    let build = &mut cx.build(span);
    let test = if dim.test == LoopTest::Lt { BinaryOp::Lt } else { BinaryOp::Le };
    let ends = [(dim.begin, BinaryOp::Ge), (dim.bound, test)];
    let mut body = body;
    for ((end, op), _) in ends.into_iter().zip(follows).filter(|it| it.1).rev() {
        let at = build.var(dim.var);
        let (at, end) = (build.cast(at, common), build.cast(end, common));
        let is_there = build.binary(op, at, end);
        body = vec![Stmt::new(StmtKind::If(is_there, body, Block::new()), span)];
    }
    Some(body)
}

/// The one of some variables that is the first in an order.
fn outermost(
    cx: &mut Cx<'_>,
    vars: &[VarId],
    order: BinaryOp,
    span: Span,
    out: &mut Block,
) -> Option<ExprId> {
    let (first, rest) = vars.split_first()?;
    let ty = cx.program.vars[*first].ty.plain();
    let found = cx.fresh("end", ty, Space::Uniform, span, out);
    let value = cx.build(span).var(*first);
    cx.set(found, value, span, out);
    for var in rest {
        let build = &mut cx.build(span);
        let (one, other) = (build.var(*var), build.var(found));
        let is_before = build.binary(order, one, other);
        let value = build.either(is_before, one, other);
        cx.set(found, value, span, out);
    }
    Some(cx.build(span).var(found))
}

/// Where a loop begins and ends, and how often it runs.
struct Counted {
    begin: VarId,
    bound: VarId,
    trips: VarId,
}

/// A loop where outer variables have these values.
fn counted(
    cx: &mut Cx<'_>,
    dim: &Dim,
    corner: &[(VarId, VarId)],
    space: Space,
    span: Span,
    out: &mut Block,
) -> Option<Counted> {
    let common = count::common(cx.program, dim)?;
    let mut copier = Copier::new(cx.program);
    copier.vars.extend(corner.iter().copied());
    let (first, bound) = (copier.expr(dim.begin), copier.expr(dim.bound));
    let ty = cx.program.vars[dim.var].ty.plain();
    let begin = cx.fresh("begin", ty, space, span, out);
    cx.set(begin, first, span, out);
    let end = cx.fresh("bound", common, space, span, out);
    let value = cx.build(span).cast(bound, common);
    cx.set(end, value, span, out);
    let trips = cx.number("trips", space, span, out);
    let value = count::trips(&mut cx.build(span), dim, begin, end);
    cx.set(trips, value, span, out);
    Some(Counted { begin, bound: end, trips })
}

/// The value that a variable has in the last round of its loop, or the first if there is none.
fn last(cx: &mut Cx<'_>, dim: &Dim, counted: &Counted, span: Span, out: &mut Block) -> VarId {
    let ty = cx.program.vars[dim.var].ty.plain();
    let last = cx.fresh("last", ty, Space::Uniform, span, out);
    let value = {
        let build = &mut cx.build(span);
        let (trips, zero, one) = (build.var(counted.trips), build.number(0), build.number(1));
        let is_some = build.binary(BinaryOp::Ne, trips, zero);
        let less = build.binary(BinaryOp::Sub, trips, one);
        let number = build.either(is_some, less, zero);
        let step = count::step(build, dim);
        count::value(build, counted.begin, step, number)
    };
    cx.set(last, value, span, out);
    last
}

fn larger(cx: &mut Cx<'_>, a: VarId, b: VarId, span: Span, out: &mut Block) -> VarId {
    let var = cx.number("most", Space::Uniform, span, out);
    let value = {
        let build = &mut cx.build(span);
        let (a, b) = (build.var(a), build.var(b));
        let is_less = build.binary(BinaryOp::Lt, a, b);
        build.either(is_less, b, a)
    };
    cx.set(var, value, span, out);
    var
}

/// All combinations of values that the variables which a loop's bounds name have at the ends of their loops.
fn corners(ends: &[Ends], dim: &Dim, program: &Program) -> Vec<Vec<(VarId, VarId)>> {
    let mut corners = vec![Vec::new()];
    for Ends { var, at } in ends {
        let names = |e: ExprId| mentions(program, e, |it| it == *var);
        if !names(dim.begin) && !names(dim.bound) {
            continue;
        }
        let with = |corner: &Vec<(VarId, VarId)>| -> Vec<Vec<(VarId, VarId)>> {
            at.iter().map(|value| [corner.as_slice(), &[(*var, *value)]].concat()).collect()
        };
        corners = corners.iter().flat_map(with).collect();
    }
    corners
}

/// Whether an expression is a sum of variables times constants.
fn is_affine(program: &Program, e: ExprId, vars: &[VarId]) -> bool {
    let follows = |e: ExprId| mentions(program, e, |it| vars.contains(&it));
    if !follows(e) {
        return true;
    }
    match program.exprs[e].kind {
        ExprKind::Var(_) => true,
        ExprKind::Cast(_, inner) => {
            let types = &program.types;
            let size = |e: ExprId| program.model.size_of(types, program.exprs[e].ty).unwrap_or(0);
            types.is_integer(program.exprs[e].ty)
                && size(e) >= size(inner)
                && is_affine(program, inner, vars)
        }
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, inner) => is_affine(program, inner, vars),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            is_affine(program, a, vars) && is_affine(program, b, vars)
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) => {
            let is_scaled = |of: ExprId, by: ExprId| !follows(by) && is_affine(program, of, vars);
            is_scaled(a, b) || is_scaled(b, a)
        }
        _ => false,
    }
}
