//! The loop in which each element of an array passes all places from which a nest looks at it.
//!
//! In: a nest with its groups of elements. Out: one loop of all iterations and those before, with registers between places of
//! a row and memories on the chip from one row to the next.

use ir::program::{BinaryOp, ExprId, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use kernel::Dim;
use kernel::build::Builder;
use kernel::copy::Copier;
use rustc_hash::FxHashMap;

use super::super::Cx;
use super::super::counters::flat;
use super::look::{Load, Point};
use super::{Gap, Group, Nest, plain_name};

/// A place in memories on the chip that all of one length have in common.
struct Ring {
    far: Point,
    /// The next place.
    at: VarId,
    /// All places have been stored to.
    is_full: VarId,
    length: ExprId,
}

/// What is put together.
#[derive(Default)]
struct Made {
    /// Before the loop.
    outside: Vec<StmtId>,
    /// At the beginning of an iteration.
    starts: Vec<StmtId>,
    /// At its end, the last first.
    ends: Vec<StmtId>,
    rings: Vec<Ring>,
    /// What stands for loads.
    values: FxHashMap<ExprId, ExprId>,
}

/// All that stands for a nest, and the loop in it.
pub(super) fn made(cx: &mut Cx<'_>, stmt: StmtId, nest: &Nest) -> Option<(StmtId, StmtId)> {
    let span = cx.program.stmts[stmt].span;
    let mut made = Made::default();
    let mut dims = nest.dims.clone();
    for (dim, before) in dims.iter_mut().zip(&nest.before) {
        dim.begin = further(&mut cx.build(span), dim.begin, -before);
    }
    for group in &nest.groups {
        let name = plain_name(cx.program, group.key.root);
        let values = places(&mut cx.build(span), nest, group, &name, &mut made)?;
        for load in &group.loads {
            let value = value(&mut cx.build(span), load, group, &values)?;
            if let Some(other) = made.values.insert(load.expr, value)
                && !is_same(cx, other, value)
            {
                return None;
            }
        }
    }
    let Made { mut outside, starts, mut ends, rings, values } = made;
    let mut copier = Copier::new(cx.program);
    copier.places = values;
    let body = copier.stmt(nest.body);
    let build = &mut cx.build(span);
    let mut list = starts;
    let mut runs: Option<ExprId> = None;
    for (dim, before) in nest.dims.iter().zip(&nest.before).filter(|it| *it.1 > 0) {
        let _ = before;
        let counter = build.var(dim.var);
        let is_there = build.binary(BinaryOp::Ge, counter, dim.begin);
        runs = Some(both(build, runs, is_there));
    }
    list.push(match runs {
        Some(runs) => build.stmt(C::If(runs, body, None)),
        None => body,
    });
    ends.reverse();
    list.extend(ends);
    for ring in &rings {
        let on = build.increment(ring.at);
        list.push(build.stmt(C::Expr(on)));
        let at = build.var(ring.at);
        let is_over = build.binary(BinaryOp::Ge, at, ring.length);
        let int = build.int_type();
        let again = [(ring.at, 0), (ring.is_full, 1)].map(|(var, value)| {
            let value = build.int(value, int);
            let e = build.set(var, value);
            build.stmt(C::Expr(e))
        });
        let again = build.stmt(C::Block(again.into()));
        list.push(build.stmt(C::If(is_over, again, None)));
    }
    let body = build.stmt(C::Block(list.into()));
    let (whole, one) = flat(cx, &dims, body, span)?;
    let build = &mut cx.build(span);
    // Iterations before the first are for those that there are.
    let mut is_some: Option<ExprId> = None;
    for dim in &nest.dims {
        let runs = build.binary(test(dim), dim.begin, dim.bound);
        is_some = Some(both(build, is_some, runs));
    }
    outside.push(build.stmt(C::If(is_some?, whole, None)));
    Some((build.stmt(C::Block(outside.into())), one))
}

/// Whether two expressions are the same variable.
fn is_same(cx: &Cx<'_>, a: ExprId, b: ExprId) -> bool {
    a == b || super::super::tile::is_same(cx.program, a, b)
}

/// The test of a loop between one of its values and its bound.
fn test(dim: &Dim) -> BinaryOp {
    match dim.test {
        LoopTest::Le => BinaryOp::Le,
        LoopTest::Lt | LoopTest::Gt | LoopTest::Ge | LoopTest::Ne => BinaryOp::Lt,
    }
}

fn both(build: &mut Builder<'_>, a: Option<ExprId>, b: ExprId) -> ExprId {
    match a {
        Some(a) => build.and(a, b),
        None => b,
    }
}

fn further(build: &mut Builder<'_>, e: ExprId, by: i64) -> ExprId {
    if by == 0 {
        return e;
    }
    let ty = build.type_of(e).plain();
    let (op, by) = if by < 0 { (BinaryOp::Sub, -by) } else { (BinaryOp::Add, by) };
    let by = build.int(by, ty);
    build.binary(op, e, by)
}

/// A variable that is zero before the loop.
fn zeroed(build: &mut Builder<'_>, name: &str, ty: Ty, made: &mut Made) -> VarId {
    let var = build.fresh(name, ty);
    made.outside.push(build.stmt(C::Local(var)));
    let zero = zero(build, ty);
    let e = build.set(var, zero);
    made.outside.push(build.stmt(C::Expr(e)));
    var
}

fn zero(build: &mut Builder<'_>, ty: Ty) -> ExprId {
    let int = build.int_type();
    let zero = build.int(0, int);
    build.cast(zero, ty)
}

/// A variable of an iteration.
fn own(build: &mut Builder<'_>, name: &str, ty: Ty, value: ExprId, made: &mut Made) -> VarId {
    let var = build.fresh(name, ty);
    made.starts.push(build.stmt(C::Local(var)));
    let e = build.set(var, value);
    made.starts.push(build.stmt(C::Expr(e)));
    var
}

/// The variables that the places of a group have.
fn places(
    build: &mut Builder<'_>,
    nest: &Nest,
    group: &Group,
    name: &str,
    made: &mut Made,
) -> Option<Vec<(Point, VarId)>> {
    let like = group.loads.iter().find(|it| it.ways.len() == 1)?;
    let ty = build.type_of(like.expr).plain();
    let mut value = newest(build, nest, group, like)?;
    if let Some(is_there) = is_loaded(build, nest, group) {
        let zero = zero(build, ty);
        value = build.either(is_there, value, zero);
    }
    let mut current = own(build, &format!("{name}_new"), ty, value, made);
    let mut found = Vec::new();
    for (number, (gap, place)) in group.gaps.iter().zip(&group.places).enumerate() {
        current = match gap.is_row() {
            true => {
                let name = format!("{name}_row_{number}");
                line(build, nest, gap, (&name, ty), current, made)?
            }
            false => {
                let mut shifts = Vec::new();
                let mut last = current;
                for step in 0..gap.room {
                    let var = zeroed(build, &format!("{name}_{number}_{step}"), ty, made);
                    let from = build.var(last);
                    let e = build.set(var, from);
                    shifts.push(build.stmt(C::Expr(e)));
                    last = var;
                }
                made.ends.extend(shifts);
                last
            }
        };
        found.push((place.clone(), current));
    }
    Some(found)
}

/// The element that an iteration loads.
fn newest(build: &mut Builder<'_>, nest: &Nest, group: &Group, like: &Load) -> Option<ExprId> {
    let point = &like.ways.first()?.point;
    let mut exprs = FxHashMap::default();
    for ((dim, (_, high)), at) in nest.dims.iter().zip(&group.all).zip(point) {
        let counter = build.var(dim.var);
        exprs.insert(dim.var, further(build, counter, high - at));
    }
    let mut copier = Copier::new(build.program);
    copier.exprs = exprs;
    Some(copier.expr(like.expr))
}

/// Whether it is one that the nest may look at; nothing if all are.
fn is_loaded(build: &mut Builder<'_>, nest: &Nest, group: &Group) -> Option<ExprId> {
    let loops = || nest.dims.iter().zip(&nest.before).zip(group.all.iter().zip(&group.sure));
    if !group.key.is_linear {
        let mut found = None;
        for ((dim, before), ((_, high), (sure_low, sure_high))) in loops() {
            found = within(build, dim, *before, (high - sure_high, high - sure_low), found);
        }
        return found;
    }
    let mut any: Option<ExprId> = None;
    for point in &group.certain {
        let mut one = None;
        for (((dim, before), ((_, high), _)), at) in loops().zip(point) {
            one = within(build, dim, *before, (high - at, high - at), one);
        }
        any = Some(match (any, one?) {
            (Some(others), one) => build.or(others, one),
            (None, one) => one,
        });
    }
    any
}

/// Whether a counter plus the second is no less than its first value, and plus the first no more than its last.
fn within(
    build: &mut Builder<'_>,
    dim: &Dim,
    before: i64,
    (up, down): (i64, i64),
    others: Option<ExprId>,
) -> Option<ExprId> {
    let mut found = others;
    let counter = build.var(dim.var);
    if down < before {
        let value = further(build, counter, down);
        let is_it = build.binary(BinaryOp::Ge, value, dim.begin);
        found = Some(both(build, found, is_it));
    }
    if up > 0 {
        let value = further(build, counter, up);
        let is_it = build.binary(test(dim), value, dim.bound);
        found = Some(both(build, found, is_it));
    }
    found
}

/// What was put into a memory on the chip so many iterations before.
fn line(
    build: &mut Builder<'_>,
    nest: &Nest,
    gap: &Gap,
    (name, ty): (&str, Ty),
    from: VarId,
    made: &mut Made,
) -> Option<VarId> {
    let int = build.int_type();
    let known = made.rings.iter().position(|it| it.far == gap.far);
    let number = match known {
        Some(known) => known,
        None => {
            let at = zeroed(build, "place", int, made);
            let is_full = zeroed(build, "is_full", int, made);
            let length = match gap.length {
                Some(length) => build.int(length, int),
                None => {
                    let length = length(build, nest, gap);
                    let length = build.cast(length, int);
                    let var = zeroed(build, "length", int, made);
                    let e = build.set(var, length);
                    made.outside.push(build.stmt(C::Expr(e)));
                    build.var(var)
                }
            };
            made.rings.push(Ring { far: gap.far.clone(), at, is_full, length });
            made.rings.len() - 1
        }
    };
    let (at, is_full) = made.rings.get(number).map(|it| (it.at, it.is_full))?;
    let array = build.array_of(ty, gap.room.unsigned_abs());
    let array = build.fresh(name, array);
    made.outside.push(build.stmt(C::Local(array)));
    let mut element = || {
        let (base, at) = (build.var(array), build.var(at));
        build.element(base, at)
    };
    let (old, place) = (element()?, element()?);
    let (is_full, zero) = (build.var(is_full), zero(build, ty));
    let old = build.either(is_full, old, zero);
    let out = own(build, &format!("{name}_out"), ty, old, made);
    let value = build.var(from);
    let e = build.assign(place, value);
    made.starts.push(build.stmt(C::Expr(e)));
    Some(out)
}

/// Iterations between two places, as an expression.
fn length(build: &mut Builder<'_>, nest: &Nest, gap: &Gap) -> ExprId {
    let long = build.program.types.get(TypeKind::Int(IntKind::Long));
    let mut sum: Option<ExprId> = None;
    for ((dim, before), far) in nest.dims.iter().zip(&nest.before).zip(&gap.far) {
        let (end, begin) = (build.cast(dim.bound, long), build.cast(dim.begin, long));
        let count = build.binary(BinaryOp::Sub, end, begin);
        let count = further(build, count, before + i64::from(dim.test == LoopTest::Le));
        sum = match sum {
            Some(sum) => {
                let all = build.binary(BinaryOp::Mul, sum, count);
                Some(further(build, all, *far))
            }
            None if *far == 0 => None,
            None => Some(build.int(*far, long)),
        };
    }
    sum.unwrap_or_else(|| build.int(1, long))
}

/// What stands for a load: the variable of its place, by the conditions of its subscripts.
fn value(
    build: &mut Builder<'_>,
    load: &Load,
    group: &Group,
    values: &[(Point, VarId)],
) -> Option<ExprId> {
    let of = |build: &mut Builder<'_>, point: &Point| {
        let found = values.iter().find(|it| it.0 == *point)?;
        Some(build.var(found.1))
    };
    debug_assert!(load.root == group.key.root, "a load belongs to its array");
    let (last, others) = load.ways.split_last()?;
    let mut value = of(build, &last.point)?;
    for way in others.iter().rev() {
        let mut all: Option<ExprId> = None;
        for (condition, holds) in &way.conditions {
            let condition = if *holds { *condition } else { build.not(*condition) };
            all = Some(both(build, all, condition));
        }
        let this = of(build, &way.point)?;
        value = build.either(all?, this, value);
    }
    Some(value)
}
