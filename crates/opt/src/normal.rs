//! The normal form of a loop: `for (i = begin; i < bound; i += step)` with a constant step.
//!
//! Nothing is asked of the bounds here; whether they stay the same while the loop runs is found
//! when its body is walked. Forms are those that directives allow, so that a loop found here can
//! be marked as it stands.

use ir::program::{
    BinaryOp, CastKind, Expr, ExprId, ExprKind, For, Init, Program, StepOp, StmtId, StmtKind,
    UnaryOp, VarId,
};
use ir::types::IntKind;

/// A loop that counts.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// What counts.
    pub(crate) var: VarId,
    /// The loop declares it.
    pub(crate) declares: bool,
    /// Its first value.
    pub(crate) begin: ExprId,
    /// The comparison is `!=`.
    pub(crate) until_equal: bool,
    /// The side of the comparison that is not the variable.
    pub(crate) bound: ExprId,
    /// What is added each time; not zero, and of the direction that the comparison asks for.
    pub(crate) step: i128,
}

/// The parts of a `for` statement.
pub(crate) fn parts(program: &Program, stmt: StmtId) -> Option<&For> {
    if let StmtKind::For(it) = &program.stmts[stmt].kind { Some(it) } else { None }
}

/// The normal form, if the statement has it.
pub(crate) fn loop_form(program: &Program, stmt: StmtId) -> Option<Form> {
    let it = parts(program, stmt)?;
    let (var, begin, declares) = counter(program, it)?;
    if !is_counter_type(program, var) {
        return None;
    }
    let (test, bound) = test(program, it.cond?, var)?;
    let step = step(program, it.step?, var)?;
    let ascends = match test {
        BinaryOp::Lt | BinaryOp::Le => step > 0,
        BinaryOp::Gt | BinaryOp::Ge => step < 0,
        // With other steps it need not meet the bound.
        BinaryOp::Ne => step == 1 || step == -1,
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
        | BinaryOp::BitOr => false,
    };
    let until_equal = test == BinaryOp::Ne;
    ascends.then_some(Form { var, declares, begin, until_equal, bound, step })
}

/// The variable that the first part sets, to what, and whether it is declared there.
fn counter(program: &Program, it: &For) -> Option<(VarId, ExprId, bool)> {
    let [first] = *it.init else { return None };
    match program.stmts[first].kind {
        StmtKind::Local(var) => {
            let init = program.vars[var].init?;
            let Init::Expr(begin) = program.inits[init] else { return None };
            Some((var, begin, true))
        }
        StmtKind::Expr(expr) => {
            let ExprKind::Assign(to, begin) = program.exprs[expr].kind else { return None };
            Some((variable(program, to)?, begin, false))
        }
        StmtKind::Error
        | StmtKind::Empty
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::While(..)
        | StmtKind::DoWhile(..)
        | StmtKind::For(_)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default(_)
        | StmtKind::Label(..)
        | StmtKind::Goto(_)
        | StmtKind::GotoExpr(_)
        | StmtKind::Continue
        | StmtKind::Break
        | StmtKind::Return(_)
        | StmtKind::Asm(_)
        | StmtKind::Region(_)
        | StmtKind::Declaration(_) => None,
    }
}

/// Integers as wide as `int`: narrower ones may go round before they meet the bound.
fn is_counter_type(program: &Program, var: VarId) -> bool {
    let ty = program.vars[var].ty;
    let is_plain = !program.types.resolve(ty).quals.is_volatile && !program.types.is_atomic(ty);
    let kind = program.types.integer_kind(ty);
    is_plain
        && kind.is_some_and(|it| {
            it.rank() >= IntKind::Int.rank() && it.rank() <= IntKind::LongLong.rank()
        })
}

fn variable(program: &Program, expr: ExprId) -> Option<VarId> {
    if let ExprKind::Var(var) = program.exprs[expr].kind { Some(var) } else { None }
}

/// The variable behind conversions that C's rules ask for.
fn converted_variable(program: &Program, expr: ExprId) -> Option<VarId> {
    let mut at = expr;
    while let ExprKind::Cast(CastKind::Implicit, inner) = program.exprs[at].kind {
        at = inner;
    }
    variable(program, at)
}

/// The comparison as `var op bound`.
fn test(program: &Program, cond: ExprId, var: VarId) -> Option<(BinaryOp, ExprId)> {
    let ExprKind::Binary(op, left, right) = program.exprs[cond].kind else { return None };
    if converted_variable(program, left) == Some(var) {
        return Some((op, right));
    }
    if converted_variable(program, right) != Some(var) {
        return None;
    }
    let turned = match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => op,
    };
    Some((turned, left))
}

/// What a step adds to the variable.
pub(crate) fn step(program: &Program, expr: ExprId, var: VarId) -> Option<i128> {
    let kind = &program.exprs[expr].kind;
    let is_var = |expr: ExprId| variable(program, expr) == Some(var);
    if let ExprKind::Step(op, to) = *kind {
        let by = match op {
            StepOp::PreInc | StepOp::PostInc => 1,
            StepOp::PreDec | StepOp::PostDec => -1,
        };
        return is_var(to).then_some(by);
    }
    if let ExprKind::AssignOp(op, to, by, _) = *kind {
        return if is_var(to) { signed(op, constant(program, by)?) } else { None };
    }
    let ExprKind::Assign(to, mut value) = *kind else { return None };
    if !is_var(to) {
        return None;
    }
    while let ExprKind::Cast(CastKind::Implicit, inner) = program.exprs[value].kind {
        value = inner;
    }
    let ExprKind::Binary(op, left, right) = program.exprs[value].kind else { return None };
    if converted_variable(program, left) == Some(var) {
        return signed(op, constant(program, right)?);
    }
    let is_turned = op == BinaryOp::Add && converted_variable(program, right) == Some(var);
    if is_turned { constant(program, left) } else { None }
}

fn signed(op: BinaryOp, by: i128) -> Option<i128> {
    if op == BinaryOp::Add {
        Some(by)
    } else if op == BinaryOp::Sub {
        by.checked_neg()
    } else {
        None
    }
}

/// A number, through conversions that keep it.
pub(crate) fn constant(program: &Program, expr: ExprId) -> Option<i128> {
    let Expr { kind, ty, .. } = &program.exprs[expr];
    let int = program.types.integer_kind(*ty)?;
    if let ExprKind::Int(value) = kind {
        return Some(program.model.int_wrap(int, i128::from(*value)));
    }
    if let ExprKind::EnumConst(id, at) = kind {
        let constants = program.types.enums[*id].constants.as_ref()?;
        return constants.get(*at as usize).map(|it| it.1);
    }
    let value = if let ExprKind::Unary(UnaryOp::Minus, inner) = kind {
        constant(program, *inner)?.checked_neg()?
    } else if let ExprKind::Cast(CastKind::Implicit | CastKind::Explicit, inner) = kind {
        constant(program, *inner)?
    } else {
        return None;
    };
    let (low, high) = program.model.int_range(int);
    (low <= value && value <= high).then_some(value)
}
