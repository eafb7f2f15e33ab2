//! `partial`: a reduction in a pipelined loop becomes several that take turns.
//!
//! In: a loop of code that one thread runs, in which a variable is only combined into, by an operator that takes several
//! cycles, where a `reduction` clause lets anyone combine in any order. Out: the loop with a register for as many partial
//! results as the operator takes cycles: each iteration takes the oldest, combines, and puts it back at the other end, so that
//! it waits for the iteration of so many before, not for the last. After the loop the registers are combined. They begin with
//! what changes nothing, so that any number of iterations is right, fewer than registers too.

use ir::construct::ReductionOp;
use ir::program::{BinaryOp, ExprId, ExprKind, For, Program, StmtId, StmtKind as C, Typed, VarId};
use ir::types::{FloatKind, Ty, TypeKind};
use kernel::build::Builder;
use kernel::copy::Copier;
use rustc_hash::FxHashMap;

use super::code::{code_of, for_of, jumps, loops, replace};
use super::{Cx, Fabric, Result};
use crate::scan::Scan;
use crate::{normal, reduction};

/// More registers are not worth it.
const MOST: u64 = 64;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let Some(code) = code_of(cx) else { return Ok(()) };
    let mut replaced = FxHashMap::default();
    let mut notes = Vec::new();
    for stmt in loops(cx.program, code) {
        // Innermost ones: what is written out later is no loop.
        let inner = loops(cx.program, stmt);
        let is_innermost = inner.iter().all(|it| *it == stmt || rounds(cx.program, *it).is_some());
        if !is_innermost || replaced.contains_key(&stmt) || inner_of_replaced(&inner, &replaced) {
            continue;
        }
        let mut made = stmt;
        for (var, op, depth) in plan(cx, stmt) {
            let name = cx.build(cx.kernel.span).name_of(var);
            let name = name.rsplit('_').next().unwrap_or_default().to_owned();
            if let Some(it) = registers(cx, made, var, &op, depth) {
                made = it;
                notes.push(format!("`{name}` is combined in {depth} registers that take turns"));
            }
        }
        if made != stmt {
            replaced.insert(stmt, made);
        }
    }
    if !replaced.is_empty() {
        replace(cx, replaced);
        cx.kernel.launch.notes.extend(notes);
    }
    Ok(())
}

fn inner_of_replaced(inner: &[StmtId], replaced: &FxHashMap<StmtId, StmtId>) -> bool {
    inner.iter().any(|it| replaced.contains_key(it))
}

/// How often a loop with constant bounds runs that is short.
fn rounds(program: &Program, stmt: StmtId) -> Option<u64> {
    let it = for_of(program, stmt)?;
    let dim = super::nest::counted(program, &it)?;
    let begin = kernel::count::constant(program, dim.begin)?;
    let bound = kernel::count::constant(program, dim.bound)?;
    let trips =
        bound.checked_sub(begin)?.checked_add(i64::from(dim.test == ir::region::LoopTest::Le))?;
    u64::try_from(trips).ok().filter(|it| *it <= Fabric::WRITTEN_OUT)
}

/// Variables of a loop that are combined slowly: which, how, and in how many registers.
fn plan(cx: &Cx<'_>, stmt: StmtId) -> Vec<(VarId, ReductionOp<Typed>, u64)> {
    let program = &cx.program;
    let (Some(form), Some(it)) = (normal::loop_form(program, stmt), for_of(program, stmt)) else {
        return Vec::new();
    };
    if jumps(program, it.body) {
        return Vec::new();
    }
    let scan = Scan::new(program, stmt);
    let found = reduction::recognise(program, stmt, &scan, &form);
    let slow = found.into_iter().filter_map(|(var, op)| {
        let is_allowed = in_any_order(cx, stmt, var) && !scan.inner.contains(&var);
        let latency = cx.fabric.latency(program, &op, program.vars[var].ty)?;
        let updates = updates(program, it.body, var)?;
        let depth = latency.checked_mul(updates)?;
        (is_allowed && latency > 1 && depth <= MOST).then_some((var, op, depth))
    });
    slow.collect()
}

/// Whether a directive lets anyone combine values in any order into a variable of a loop.
fn in_any_order(cx: &Cx<'_>, stmt: StmtId, var: VarId) -> bool {
    let program = &*cx.program;
    let launch = &cx.kernel.launch;
    // Copies of loops and variables stand where the originals do.
    let is_it = |it: VarId| it == var || program.vars[it].span == program.vars[var].span;
    let at = program.stmts[stmt].span;
    launch.combined.contains(&var) || launch.joined.iter().any(|it| it.0 == at && is_it(it.1))
}

/// How often an iteration may combine something into a variable.
fn updates(program: &Program, stmt: StmtId, var: VarId) -> Option<u64> {
    let direct =
        |stmt: StmtId| Scan::new(program, stmt).writes.get(&var).map_or(0, Vec::len) as u64;
    match &program.stmts[stmt].kind {
        C::Block(list) => {
            list.iter().try_fold(0u64, |sum, it| sum.checked_add(updates(program, *it, var)?))
        }
        C::For(it) => match direct(stmt) {
            0 => Some(0),
            _ => updates(program, it.body, var)?.checked_mul(rounds(program, stmt)?),
        },
        C::If(_, then, other) => {
            let other = other.map_or(Some(0), |it| updates(program, it, var))?;
            Some(updates(program, *then, var)?.max(other))
        }
        _ => Some(direct(stmt)),
    }
}

/// The loop with registers.
fn registers(
    cx: &mut Cx<'_>,
    stmt: StmtId,
    var: VarId,
    op: &ReductionOp<Typed>,
    depth: u64,
) -> Option<StmtId> {
    // A loop that has registers already stands among their code.
    let (outside, at) = match &cx.program.stmts[stmt].kind {
        C::Block(list) => {
            let is_loop = |it: &StmtId| matches!(cx.program.stmts[*it].kind, C::For(_));
            let at = list.iter().position(|it| is_loop(it) && has_var(cx.program, *it, var))?;
            (Some(list.to_vec()), *list.get(at)?)
        }
        _ => (None, stmt),
    };
    let it = for_of(cx.program, at)?;
    let span = cx.program.stmts[at].span;
    let ty = cx.program.vars[var].ty.plain();
    let name = cx.build(span).name_of(var);
    let name = name.rsplit('_').next().unwrap_or_default().to_owned();
    let build = &mut cx.build(span);
    let array = build.array_of(ty, depth);
    let partial = build.fresh(&format!("{name}_partial"), array);
    let oldest = build.fresh(&format!("{name}_oldest"), ty);
    let mut list = vec![build.stmt(C::Local(partial))];
    // The first register begins with what the variable has, the others with what changes nothing.
    let first = element(build, partial, 0)?;
    let value = build.var(var);
    list.push(set(build, first, value));
    let neutral = neutral(build, op, var, ty)?;
    list.push(each(build, depth, &mut |build, at| {
        let place = at_var(build, partial, at)?;
        Some(build.assign(place, neutral))
    })?);
    let mut copier = Copier::new(build.program);
    copier.vars.insert(var, oldest);
    let body = copier.stmt(it.body);
    let last = element(build, partial, depth - 1)?;
    let take = set_var(build, oldest, last);
    let shift = shifted(build, partial, depth)?;
    let first = element(build, partial, 0)?;
    let value = build.var(oldest);
    let put = set(build, first, value);
    let local = build.stmt(C::Local(oldest));
    let body = build.stmt(C::Block([local, take, body, shift, put].into()));
    let turned = build.stmt(C::For(Box::new(For { body, ..it })));
    list.push(turned);
    let first = element(build, partial, 0)?;
    list.push(set_var(build, var, first));
    list.push(each(build, depth, &mut |build, at| {
        let other = at_var(build, partial, at)?;
        let mine = build.var(var);
        let value = match op {
            ReductionOp::Add | ReductionOp::Sub => build.binary(BinaryOp::Add, mine, other),
            ReductionOp::Mul => build.binary(BinaryOp::Mul, mine, other),
            ReductionOp::Min => {
                let is_less = build.binary(BinaryOp::Lt, other, mine);
                build.either(is_less, other, mine)
            }
            ReductionOp::Max => {
                let is_more = build.binary(BinaryOp::Gt, other, mine);
                build.either(is_more, other, mine)
            }
            _ => return None,
        };
        Some(build.set(var, value))
    })?);
    let whole = match outside {
        None => build.stmt(C::Block(list.into())),
        Some(mut around) => {
            let at = around.iter().position(|it| *it == at)?;
            around.splice(at..=at, list);
            build.stmt(C::Block(around.into()))
        }
    };
    // The loop keeps what directives say of it.
    if cx.kernel.launch.independent.contains(&at) {
        cx.kernel.launch.independent.push(turned);
    }
    Some(whole)
}

fn has_var(program: &Program, stmt: StmtId, var: VarId) -> bool {
    let scan = Scan::new(program, stmt);
    scan.writes.contains_key(&var)
}

fn element(build: &mut Builder<'_>, array: VarId, at: u64) -> Option<ExprId> {
    let (base, at) = (build.var(array), build.number(i64::try_from(at).ok()?));
    build.element(base, at)
}

fn at_var(build: &mut Builder<'_>, array: VarId, at: VarId) -> Option<ExprId> {
    let (base, at) = (build.var(array), build.var(at));
    build.element(base, at)
}

fn set(build: &mut Builder<'_>, place: ExprId, value: ExprId) -> StmtId {
    let e = build.assign(place, value);
    build.stmt(C::Expr(e))
}

fn set_var(build: &mut Builder<'_>, var: VarId, value: ExprId) -> StmtId {
    let e = build.set(var, value);
    build.stmt(C::Expr(e))
}

/// Something for all registers but the first, written out.
fn each(
    build: &mut Builder<'_>,
    depth: u64,
    one: &mut dyn FnMut(&mut Builder<'_>, VarId) -> Option<ExprId>,
) -> Option<StmtId> {
    let at = build.fresh_number("register");
    let local = build.stmt(C::Local(at));
    let begin = build.number(1);
    let first = set_var(build, at, begin);
    let (value, end) = (build.var(at), build.number(i64::try_from(depth).ok()?));
    let cond = Some(build.binary(BinaryOp::Lt, value, end));
    let step = Some(build.increment(at));
    let e = one(build, at)?;
    let body = build.stmt(C::Expr(e));
    let unroll = u32::try_from(depth).ok();
    let it = build.stmt(C::For(Box::new(For {
        init: Box::new([first]),
        cond,
        step,
        body,
        unroll,
        lanes: false,
    })));
    Some(build.stmt(C::Block([local, it].into())))
}

/// All registers move on by one, from the last to the second.
fn shifted(build: &mut Builder<'_>, array: VarId, depth: u64) -> Option<StmtId> {
    let at = build.fresh_number("register");
    let local = build.stmt(C::Local(at));
    let begin = build.number(i64::try_from(depth).ok()? - 1);
    let first = set_var(build, at, begin);
    let (value, zero, one) = (build.var(at), build.number(0), build.number(1));
    let cond = Some(build.binary(BinaryOp::Gt, value, zero));
    let place = build.var(at);
    let number = build.number_type();
    let step = Some(build.expr(ExprKind::AssignOp(BinaryOp::Sub, place, one, number), number));
    let to = at_var(build, array, at)?;
    let (value, one) = (build.var(at), build.number(1));
    let before = build.binary(BinaryOp::Sub, value, one);
    let base = build.var(array);
    let from = build.element(base, before)?;
    let body = set(build, to, from);
    let unroll = u32::try_from(depth).ok();
    let it = build.stmt(C::For(Box::new(For {
        init: Box::new([first]),
        cond,
        step,
        body,
        unroll,
        lanes: false,
    })));
    Some(build.stmt(C::Block([local, it].into())))
}

/// What changes nothing when it is combined: a number, or for the least and the most what the variable has.
fn neutral(build: &mut Builder<'_>, op: &ReductionOp<Typed>, var: VarId, ty: Ty) -> Option<ExprId> {
    let number = match op {
        ReductionOp::Add | ReductionOp::Sub => 0,
        ReductionOp::Mul => 1,
        ReductionOp::Min | ReductionOp::Max => return Some(build.var(var)),
        _ => return None,
    };
    let int = build.int_type();
    let value = build.int(number, int);
    Some(build.cast(value, ty))
}

impl Fabric {
    /// A loop that runs at most so often is written out.
    pub const WRITTEN_OUT: u64 = 32;

    /// Cycles of the operator that combines values of a type; none if it is no single one.
    fn latency(&self, program: &Program, op: &ReductionOp<Typed>, ty: Ty) -> Option<u64> {
        let table = match op {
            ReductionOp::Add | ReductionOp::Sub => &self.add,
            ReductionOp::Mul => &self.multiply,
            ReductionOp::Min | ReductionOp::Max => &self.extreme,
            ReductionOp::BitAnd
            | ReductionOp::BitOr
            | ReductionOp::BitXor
            | ReductionOp::And
            | ReductionOp::Or
            | ReductionOp::User(_) => return None,
        };
        let [int, long, float, double] = *table;
        match program.types.shape(ty) {
            TypeKind::Float(FloatKind::Float | FloatKind::Float32) => Some(float),
            TypeKind::Float(FloatKind::Double | FloatKind::Float64) => Some(double),
            TypeKind::Int(kind) => {
                Some(if program.model.int_bits(*kind) > 32 { long } else { int })
            }
            _ => None,
        }
    }
}
