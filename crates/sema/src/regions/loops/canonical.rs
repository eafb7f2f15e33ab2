//! The form that directives ask of a loop: one variable, one test, one constant stride.
//!
//! In: a `for` statement. Out: a [`Loop`], or what stands in the way and where. The variable is an
//! integer or a pointer; `!=` is a test like any other, but then the loop must count by one.
//!
//! Conversions that C makes of itself are looked through, casts are not: `(char)i < n` tests
//! something else than `i`. A number of trips is given only if no value of the variable, the one
//! that ends the loop included, is changed by such a conversion.

use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, For, Init, Program, StepOp, StmtId, StmtKind, UnaryOp,
    VarId,
};
use ir::region::{Loop, LoopTest};
use ir::types::{Ty, TypeKind};
use source::Span;

use crate::regions::constant;

/// Why a loop does not have the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The first part is not `var = value`.
    Init,
    /// The variable is of a type that does not count.
    Type(VarId),
    /// There is no test, or none that compares the variable.
    Test(VarId),
    /// The variable is compared with a value that is neither an integer nor a pointer.
    Bound(VarId),
    /// The variable is compared with an expression that it is part of.
    MovingBound(VarId),
    /// The last part does not add to or take from the variable.
    Step(VarId),
    /// The step is zero.
    ZeroStep,
    /// The step leads away from the bound.
    WrongWay,
    /// `!=` with a step other than one.
    Skips,
}

/// The loop in its form, or the fault and its place. Nothing is said where the loop contains
/// something that was reported already.
pub(super) fn form(program: &Program, id: StmtId, it: &For) -> Result<Loop, Option<(Fault, Span)>> {
    let span = program.stmts[id].span;
    let (var, begin) = init(program, it).ok_or_else(|| {
        let places = it.init.iter().map(|&it| program.stmts[it].span);
        let place = places.reduce(Span::to).unwrap_or(span);
        if has_error(program, it) { None } else { Some((Fault::Init, place)) }
    })?;
    let types = &program.types;
    let ty = program.vars[var].ty;
    if types.is_error(ty) || has_error(program, it) {
        return Err(None);
    }
    // The standards want a signed or unsigned integer type, and gcc 12 breaks off on an enumeration.
    let is_enum = matches!(types.shape(ty), TypeKind::Enum(_));
    if is_enum || types.is_bool(ty) || !counts(program, ty) {
        return Err(Some((Fault::Type(var), program.vars[var].span)));
    }
    let Some(cond) = it.cond else { return Err(Some((Fault::Test(var), span))) };
    let cond_span = program.exprs[cond].span;
    let Test { test, compared, bound } =
        test(program, cond, var).ok_or(Some((Fault::Test(var), cond_span)))?;
    if !counts(program, program.exprs[compared].ty) || !counts(program, program.exprs[bound].ty) {
        return Err(Some((Fault::Bound(var), program.exprs[bound].span)));
    }
    if mentions(program, bound, var) {
        return Err(Some((Fault::MovingBound(var), program.exprs[bound].span)));
    }
    let Some(step) = it.step else { return Err(Some((Fault::Step(var), span))) };
    let step_span = program.exprs[step].span;
    let (step, descending) = step_of(program, step, var)
        .filter(|(step, _)| {
            step.is_none_or(|it| {
                types.is_integer(program.exprs[it].ty) && !mentions(program, it, var)
            })
        })
        .ok_or(Some((Fault::Step(var), step_span)))?;
    let stride = step.map_or(Some(1), |it| distance(program, it));
    let mut stride = stride.and_then(|it| if descending { it.checked_neg() } else { Some(it) });
    if let Some(by) = stride {
        let up = matches!(test, LoopTest::Lt | LoopTest::Le);
        let down = matches!(test, LoopTest::Gt | LoopTest::Ge);
        if by == 0 {
            return Err(Some((Fault::ZeroStep, step_span)));
        }
        if (up && by < 0) || (down && by > 0) {
            // A huge unsigned step may be meant as such.
            if step.is_none_or(|it| constant::int(program, it) == distance(program, it)) {
                return Err(Some((Fault::WrongWay, step_span)));
            }
            stride = None;
        }
    }
    if test == LoopTest::Ne && stride.is_none_or(|it| it.abs() != 1) {
        return Err(Some((Fault::Skips, step_span)));
    }
    let trips = stride.and_then(|stride| {
        let (first, last) = (constant::int(program, begin)?, constant::int(program, bound)?);
        let count = trips(first, last, test, stride)?;
        let end = first.checked_add(i128::from(count).checked_mul(stride)?)?;
        let holds = |ty| {
            let (least, greatest) = program.model.int_range(types.integer_kind(ty)?);
            let fits = |it: i128| least <= it && it <= greatest;
            Some(fits(first) && fits(end))
        };
        // All values lie between these two: none is changed by the test or the step.
        let is_exact = holds(ty)? && holds(program.exprs[compared].ty)?;
        is_exact.then_some(count)
    });
    Ok(Loop {
        stmt: id,
        var,
        begin,
        bound,
        test,
        step,
        descending,
        trips,
        body: it.body,
        rectangular: true,
        span,
    })
}

/// What can be compared and counted: integers and pointers.
fn counts(program: &Program, ty: Ty) -> bool {
    program.types.is_integer(ty) || program.types.is_pointer(ty)
}

/// A constant step as a distance: `4294967295u` is one down, in the arithmetic of its type.
fn distance(program: &Program, step: ExprId) -> Option<i128> {
    let value = constant::int(program, step)?;
    Some(match program.types.integer_kind(program.exprs[step].ty) {
        Some(kind) => program.model.int_wrap(kind.signed(), value),
        None => value,
    })
}

/// Whether a part was reported already.
fn has_error(program: &Program, it: &For) -> bool {
    let is_error = |expr: ExprId| matches!(program.exprs[expr].kind, ExprKind::Error);
    it.init.iter().any(|&part| match &program.stmts[part].kind {
        StmtKind::Error => true,
        StmtKind::Expr(expr) => is_error(*expr) || program.types.is_error(program.exprs[*expr].ty),
        _ => false,
    }) || it.cond.is_some_and(is_error)
        || it.step.is_some_and(is_error)
}

/// `var = value` or `T var = value`
fn init(program: &Program, it: &For) -> Option<(VarId, ExprId)> {
    let [only] = &*it.init else { return None };
    match &program.stmts[*only].kind {
        StmtKind::Local(var) => match &program.inits[program.vars[*var].init?] {
            Init::Expr(value) => Some((*var, *value)),
            Init::List(..) => None,
        },
        StmtKind::Expr(expr) => {
            let ExprKind::Assign(object, value) = unconverted(program, *expr) else { return None };
            Some((variable(program, *object)?, *value))
        }
        _ => None,
    }
}

/// An expression without the conversions that C made around it.
fn unconverted(program: &Program, id: ExprId) -> &ExprKind {
    let mut id = id;
    while let ExprKind::Cast(CastKind::Implicit, inner) = &program.exprs[id].kind {
        id = *inner;
    }
    &program.exprs[id].kind
}

fn variable(program: &Program, id: ExprId) -> Option<VarId> {
    match unconverted(program, id) {
        ExprKind::Var(var) => Some(*var),
        _ => None,
    }
}

/// A comparison with the loop variable on its left.
struct Test {
    test: LoopTest,
    /// The variable as it is compared, converted to the type of the comparison.
    compared: ExprId,
    bound: ExprId,
}

/// `var < bound` and relatives, either way round.
fn test(program: &Program, cond: ExprId, var: VarId) -> Option<Test> {
    let ExprKind::Binary(op, left, right) = unconverted(program, cond) else { return None };
    let test = match op {
        BinaryOp::Lt => LoopTest::Lt,
        BinaryOp::Le => LoopTest::Le,
        BinaryOp::Gt => LoopTest::Gt,
        BinaryOp::Ge => LoopTest::Ge,
        BinaryOp::Ne => LoopTest::Ne,
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Eq
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => return None,
    };
    if variable(program, *left) == Some(var) {
        return Some(Test { test, compared: *left, bound: *right });
    }
    if variable(program, *right) != Some(var) {
        return None;
    }
    let turned = match test {
        LoopTest::Lt => LoopTest::Gt,
        LoopTest::Le => LoopTest::Ge,
        LoopTest::Gt => LoopTest::Lt,
        LoopTest::Ge => LoopTest::Le,
        LoopTest::Ne => LoopTest::Ne,
    };
    Some(Test { test: turned, compared: *right, bound: *left })
}

/// What is added (none is one), and whether it is taken away instead.
fn step_of(program: &Program, id: ExprId, var: VarId) -> Option<(Option<ExprId>, bool)> {
    let is_var = |it: ExprId| variable(program, it) == Some(var);
    match unconverted(program, id) {
        ExprKind::Step(op, object) if is_var(*object) => {
            Some((None, matches!(op, StepOp::PreDec | StepOp::PostDec)))
        }
        ExprKind::AssignOp(BinaryOp::Add, object, step, _) if is_var(*object) => {
            Some((Some(*step), false))
        }
        ExprKind::AssignOp(BinaryOp::Sub, object, step, _) if is_var(*object) => {
            Some((Some(*step), true))
        }
        ExprKind::Assign(object, value) if is_var(*object) => match unconverted(program, *value) {
            ExprKind::Binary(BinaryOp::Add, left, right) if is_var(*left) => {
                Some((Some(*right), false))
            }
            ExprKind::Binary(BinaryOp::Add, left, right) if is_var(*right) => {
                Some((Some(*left), false))
            }
            ExprKind::Binary(BinaryOp::Sub, left, right) if is_var(*left) => {
                Some((Some(*right), true))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression speaks of a variable.
pub(super) fn mentions(program: &Program, id: ExprId, var: VarId) -> bool {
    super::variables(program, id).contains(&var)
}

/// How often a loop with constant parts runs.
fn trips(begin: i128, bound: i128, test: LoopTest, stride: i128) -> Option<u64> {
    let distance = bound.checked_sub(begin)?;
    let count = match test {
        LoopTest::Lt if distance <= 0 => 0,
        LoopTest::Le if distance < 0 => 0,
        LoopTest::Gt if distance >= 0 => 0,
        LoopTest::Ge if distance > 0 => 0,
        LoopTest::Lt => (distance - 1) / stride + 1,
        LoopTest::Gt => (distance + 1) / stride + 1,
        LoopTest::Le | LoopTest::Ge => distance / stride + 1,
        LoopTest::Ne => distance.checked_div(stride)?,
    };
    u64::try_from(count).ok()
}

/// How a bound or first value follows the variable of an outer loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// Not at all.
    No,
    /// As `a * outer + b`.
    Linearly,
    /// In some other way.
    Otherwise,
}

/// How an expression follows the variables in `outer`.
pub(super) fn follows(program: &Program, id: ExprId, outer: &[VarId]) -> Follows {
    match &program.exprs[id].kind {
        ExprKind::Cast(_, inner) => follows(program, *inner, outer),
        ExprKind::Var(var) if outer.contains(var) => Follows::Linearly,
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, inner) => follows(program, *inner, outer),
        ExprKind::Binary(op, left, right) => {
            let (a, b) = (follows(program, *left, outer), follows(program, *right, outer));
            match (op, a, b) {
                (_, Follows::No, Follows::No) => Follows::No,
                (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Follows::Linearly, Follows::No)
                | (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Follows::No, Follows::Linearly) => {
                    Follows::Linearly
                }
                _ => Follows::Otherwise,
            }
        }
        _ => {
            let used = super::variables(program, id);
            if outer.iter().any(|it| used.contains(it)) { Follows::Otherwise } else { Follows::No }
        }
    }
}
